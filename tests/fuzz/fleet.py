"""Run cases in worker processes, detect crashes and hangs, and restart workers."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
START = 120  # seconds for a worker to import all modules


@dataclass
class Settings:
    """Settings of a run: time limit per case and the properties to check."""

    seconds: float = 60.0
    everything: bool = False
    only: list[str] | None = None


def command(settings):
    """Return the command that starts a worker."""
    return [sys.executable, "-m", "fuzz.worker", json.dumps(vars(settings))]


@dataclass
class Worker:
    """A worker process, started when it is first needed."""

    settings: Settings
    process: Any = None
    errors: Any = field(default=None)
    buffer: bytes = b""

    def run(self, seed):
        """Run one case; a crash or hang of the worker is reported in the result."""
        fresh = self.process is None
        if fresh:
            self._start()
        began = time.monotonic()
        try:
            self.process.stdin.write(f"{seed}\n".encode())
            self.process.stdin.flush()
            line = self._answer(self.settings.seconds + (START if fresh else 0))
        except BrokenPipeError:
            line = b""
        took = time.monotonic() - began
        if line:
            return {**json.loads(line), "seconds": took}
        return {**self._lost(seed, hung=line is None), "seconds": took}

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self._forget()

    def _start(self):
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the worker)
        path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            command(self.settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONPATH": path},
            cwd=TESTS.parent,
        )
        self.buffer = b""

    def _answer(self, seconds):
        """Return one line of output, None after the time limit, or b"" if the worker ended."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(end - time.monotonic(), 0))
            if not ready:
                return None
            read = os.read(self.process.stdout.fileno(), 2**16)
            if not read:
                return b""
            self.buffer += read
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _lost(self, seed, *, hung):
        if hung:
            self.process.kill()
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace")
        self._forget()
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        failed = ("no_hang", f"took more than {self.settings.seconds} s") if hung else ("no_crash", f"died: {name}")
        return {"seed": seed, "kind": "lost", "checked": [], "failed": [failed], "note": said[-6000:]}

    def _forget(self):
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self.process = None


def run_all(seeds, n_workers, settings, on_result):
    """Run cases on several workers and call `on_result` with each result."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in seeds:
        waiting.put(seed)
    lock = threading.Lock()

    def serve():
        worker = Worker(settings)
        while True:
            try:
                seed = waiting.get_nowait()
            except queue.Empty:
                break
            result = worker.run(seed)
            with lock:
                on_result(result)
        worker.stop()

    threads = [threading.Thread(target=serve) for _ in range(n_workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
