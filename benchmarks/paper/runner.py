"""Run the cells of a figure in a worker process, one at a time, and store their results, including crashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import pandas as pd

from benchmarks.data import REPOSITORY
from benchmarks.paper.cells import Cell
from benchmarks.paper.methods import why_unavailable
from benchmarks.paper.tables import why_missing

PAPER = REPOSITORY / "benchmarks" / "results" / "paper"
# In a row of results, `loss` is a number.
SETTINGS = {"loss": "loss_name"}
# fastsparsegams 0.2.0 sometimes ends in a segmentation fault.
TRIES = 2
# Seconds between lines of output if there is no progress bar.
SECONDS_BETWEEN_LINES = 15.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Worker:
    """A worker process that is started again after a crash."""

    def __init__(self, data: str | None) -> None:
        self.data = data
        self._process: subprocess.Popen[str] | None = None

    def run(self, cell: Cell) -> dict[str, Any]:
        """Run one cell and return its rows, or why it failed. After a crash, a new process tries once more."""
        crashes = []
        for _ in range(TRIES):
            reply = self._send(cell)
            if "exit_status" not in reply:
                return {**reply, **({"crashes": crashes} if crashes else {})}
            crashes.append(reply["exit_status"])
        return {"failed": f"the process crashed {TRIES} times, with exit status {crashes}"}

    def _send(self, cell: Cell) -> dict[str, Any]:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"cell": asdict(cell), "data": self.data}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if line:
            return json.loads(line)
        self._process = None
        return {"exit_status": process.wait()}

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
            command = [sys.executable, "-m", "benchmarks.paper.worker"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, env=environment
            )
        return self._process


class Store:
    """The results of a figure: a JSON-lines file that is appended to after each cell, and a table made from it."""

    def __init__(self, figure: str, *, resume: bool, again: tuple[str, ...] = ()) -> None:
        PAPER.mkdir(parents=True, exist_ok=True)
        self._lines = PAPER / f"{figure}.jsonl"
        self._table = PAPER / f"{figure}.csv"
        if not resume:
            self._lines.unlink(missing_ok=True)
        self._drop(again)
        self.done = {entry["key"] for entry in self._entries() if "failed" not in entry}

    def append(self, cell: Cell, reply: dict[str, Any]) -> None:
        """Append the outcome of a cell."""
        with self._lines.open("a") as stream:
            stream.write(json.dumps({"key": cell.key, "cell": asdict(cell), **reply}) + "\n")

    def table(self, keys: set[str]) -> pd.DataFrame:
        """Return the rows of these cells with the settings of each cell, and write them as CSV."""
        rows = []
        for entry in (entry for entry in self._entries() if entry["key"] in keys):
            setting = {SETTINGS.get(name, name): value for name, value in entry["cell"].items() if name != "lambda0"}
            failure = [{"lambda0": entry["cell"]["lambda0"], "failed": entry["failed"]}] if "failed" in entry else []
            rows += [{**setting, **row} for row in entry.get("rows", failure)]
        table = pd.DataFrame(rows)
        table.to_csv(self._table, index=False)
        return table

    def _drop(self, again: tuple[str, ...]) -> None:
        """Remove the cells to be run again, and the incomplete last line of a run that was killed."""
        if not self._lines.exists():
            return
        lines = [line for line in self._lines.read_text().splitlines(keepends=True) if line.endswith("\n")]
        kept = [line for line in lines if not json.loads(line)["cell"]["method"].startswith(again)]
        tidy = self._lines.with_suffix(".tidy")
        tidy.write_text("".join(kept))
        tidy.replace(self._lines)

    def _entries(self) -> list[dict[str, Any]]:
        if not self._lines.exists():
            return []
        entries = [json.loads(line) for line in self._lines.read_text().splitlines()]
        # A failed cell may have been run again; the last outcome is used.
        return list({entry["key"]: entry for entry in entries}.values())


def run(
    figure: str, cells: Iterable[Cell], worker: Worker, *, resume: bool, again: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Run the missing cells with a progress bar. Methods that cannot run are reported once and left out.

    `again` names prefixes of methods whose cells are run even if results exist, because the method has changed.
    """
    store = Store(figure, resume=resume, again=again)
    cells = list(cells)
    possible = list(_possible(cells, worker.data))
    todo = [cell for cell in possible if cell.key not in store.done]
    if len(todo) < len(possible):
        print(f"  {len(possible) - len(todo)} of {len(possible)} cells have results already", flush=True)
    for cell in _with_progress(todo, figure):
        reply = worker.run(cell)
        if "failed" in reply:
            print(f"  {cell.key}: {reply['failed']}", flush=True)
        if "crashes" in reply:
            print(f"  {cell.key}: crashed with exit status {reply['crashes']}, then succeeded", flush=True)
        store.append(cell, reply)
    return store.table({cell.key for cell in cells})


def _possible(cells: Iterable[Cell], data: str | None) -> Iterable[Cell]:
    reported: set[str] = set()
    for cell in cells:
        reason = why_missing(cell.table, data) or why_unavailable(cell.method)
        if reason is None:
            yield cell
        elif reason not in reported:
            reported.add(reason)
            print(f"  skipped: {reason}", flush=True)


def _with_progress(cells: list[Cell], figure: str) -> Iterable[Cell]:
    """Show a progress bar on a terminal if tqdm is installed, otherwise print a line from time to time."""
    if sys.stderr.isatty() and find_spec("tqdm"):
        from tqdm import tqdm

        return tqdm(cells, desc=figure, unit="cell")
    return _with_lines(cells, figure)


def _with_lines(cells: list[Cell], figure: str) -> Iterable[Cell]:
    start = printed = time.monotonic()
    for n, cell in enumerate(cells):
        if n == 0 or time.monotonic() - printed > SECONDS_BETWEEN_LINES:
            printed = time.monotonic()
            print(f"  {figure}: {n} of {len(cells)} cells in {printed - start:.0f} s", flush=True)
        yield cell
