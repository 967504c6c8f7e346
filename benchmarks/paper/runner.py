"""Runs the cells of a figure, one at a time in a worker process, and keeps what they gave: crashes are results too."""

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
from benchmarks.paper.methods import unavailable
from benchmarks.paper.tables import missing

PAPER = REPOSITORY / "benchmarks" / "results" / "paper"
SETTINGS = {"loss": "loss_name"}  # a row's `loss` is a number
TRIES = 2  # fastsparsegams 0.2.0 ends in a segmentation fault now and then
BETWEEN_LINES = 15.0  # seconds, where there is no bar
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Worker:
    """A worker process that is started anew when it has died."""

    def __init__(self, data: str | None) -> None:
        self.data = data
        self._process: subprocess.Popen[str] | None = None

    def ask(self, cell: Cell) -> dict[str, Any]:
        """Have one cell run; its rows, or why it failed. Where the process dies, a fresh one has another try."""
        crashes = []
        for _ in range(TRIES):
            reply = self._ask(cell)
            if "died" not in reply:
                return {**reply, **({"crashes": crashes} if crashes else {})}
            crashes.append(reply["died"])
        return {"failed": f"the process ended {TRIES} times, with status {crashes}"}

    def _ask(self, cell: Cell) -> dict[str, Any]:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"cell": asdict(cell), "data": self.data}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if line:
            return json.loads(line)
        self._process = None
        return {"died": process.wait()}

    def close(self) -> None:
        """Let the process end."""
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
    """The results of a figure: a JSON-lines file that grows cell by cell, and the table made of it."""

    def __init__(self, figure: str, *, resume: bool, again: tuple[str, ...] = ()) -> None:
        PAPER.mkdir(parents=True, exist_ok=True)
        self._lines = PAPER / f"{figure}.jsonl"
        self._table = PAPER / f"{figure}.csv"
        if not resume:
            self._lines.unlink(missing_ok=True)
        self._drop(again)
        self.done = {entry["key"] for entry in self._entries() if "failed" not in entry}

    def keep(self, cell: Cell, reply: dict[str, Any]) -> None:
        """Append the outcome of a cell."""
        with self._lines.open("a") as stream:
            stream.write(json.dumps({"key": cell.key, "cell": asdict(cell), **reply}) + "\n")

    def table(self, asked_for: set[str]) -> pd.DataFrame:
        """The rows of these cells, each with the setting of its cell; also written as CSV."""
        rows = []
        for entry in (entry for entry in self._entries() if entry["key"] in asked_for):
            setting = {SETTINGS.get(name, name): value for name, value in entry["cell"].items() if name != "lambda0"}
            asked = entry["cell"]["lambda0"]
            failure = [{"lambda0": asked, "failed": entry["failed"]}] if "failed" in entry else []
            rows += [{**setting, **row} for row in entry.get("rows", failure)]
        table = pd.DataFrame(rows)
        table.to_csv(self._table, index=False)
        return table

    def _drop(self, again: tuple[str, ...]) -> None:
        """Take out what is to be run again, and the half line that a run leaves if it is killed while it writes."""
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
        return list({entry["key"]: entry for entry in entries}.values())  # what failed may have been run again


def run(
    figure: str, cells: Iterable[Cell], worker: Worker, *, resume: bool, again: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Run what is not done yet, with a bar; what cannot run here is said once and left out.

    `again` names methods, by how they begin, whose cells are run though they are done: what has changed since.
    """
    store = Store(figure, resume=resume, again=again)
    cells = list(cells)
    possible = list(_possible(cells, worker.data))
    todo = [cell for cell in possible if cell.key not in store.done]
    if len(todo) < len(possible):
        print(f"  {len(possible) - len(todo)} of {len(possible)} cells are done already", flush=True)
    for cell in _watched(todo, figure):
        reply = worker.ask(cell)
        if "failed" in reply:
            print(f"  {cell.key}: {reply['failed']}", flush=True)
        if "crashes" in reply:
            print(f"  {cell.key}: ended with status {reply['crashes']}, then ran", flush=True)
        store.keep(cell, reply)
    return store.table({cell.key for cell in cells})


def _possible(cells: Iterable[Cell], data: str | None) -> Iterable[Cell]:
    said: set[str] = set()
    for cell in cells:
        reason = missing(cell.table, data) or unavailable(cell.method)
        if reason is None:
            yield cell
        elif reason not in said:
            said.add(reason)
            print(f"  left out: {reason}", flush=True)


def _watched(cells: list[Cell], figure: str) -> Iterable[Cell]:
    """A bar on a terminal that has tqdm; else a line now and then, so that a log shows how far it is."""
    if sys.stderr.isatty() and find_spec("tqdm"):
        from tqdm import tqdm

        return tqdm(cells, desc=figure, unit="cell")
    return _counted(cells, figure)


def _counted(cells: list[Cell], figure: str) -> Iterable[Cell]:
    start = said = time.monotonic()
    for n, cell in enumerate(cells):
        if n == 0 or time.monotonic() - said > BETWEEN_LINES:
            said = time.monotonic()
            print(f"  {figure}: {n} of {len(cells)} cells in {said - start:.0f} s", flush=True)
        yield cell
