"""Compare predictions on held-out rows: sparsegam, explainable boosting, trees and linear models on the same folds.

python -m benchmarks.newrows [--tables NAME ...] [--contenders NAME ...] [--folds 5] [--order none] [--resume]

Every fit runs in a forked process, so that packages are imported once. A fit that fails, crashes or exceeds --timeout
is recorded as such, and the run continues. results/newrows.csv is appended to after every fit; its rows for other
tables, orders and contenders are kept. With --resume, rows of the selected fits are also kept if the settings are
equal, except for the contenders named by --again.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import multiprocessing
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.metrics import log_loss, r2_score, roc_auc_score, root_mean_squared_error
from threadpoolctl import threadpool_limits

from benchmarks.data import data_directory
from benchmarks.newrows_contenders import CONTENDERS, Contender
from benchmarks.newrows_data import ORDERS, Fold, Rows, Table, folds, tables
from benchmarks.newrows_summary import RESULTS, report

FILE = "newrows.csv"
KEY = ["table", "order", "folds", "fold", "contender", "settings"]
MEASURED = ["score", "loss", "n_terms", "lambda2", "seconds", "status", "warned"]
FIELDS = [*KEY[:-1], "kind", "n", "p", *MEASURED, "settings"]


@dataclass(frozen=True)
class Cell:
    """One fit: a contender on the training rows of a fold."""

    table: Table
    fold: Fold
    contender: Contender
    threads: int


class Store:
    """The csv file of all fits, which is appended to after every fit."""

    def __init__(self, path: Path, args: argparse.Namespace, names: list[str]) -> None:
        self._path = path
        path.parent.mkdir(exist_ok=True)
        kept = self.table() if path.exists() else pd.DataFrame(columns=FIELDS)
        selected = kept["table"].isin(names) & (kept["order"] == args.order) & (kept["folds"] == args.folds)
        repeated = kept["contender"].isin(args.again if args.resume else args.contenders)
        kept = kept[~(selected & (repeated | (kept["status"] != "ok")))]
        kept.to_csv(path, index=False)
        self.done = set(kept[KEY].astype(str).itertuples(index=False, name=None))

    def append(self, row: dict[str, Any]) -> None:
        """Append one fit."""
        with self._path.open("a", newline="") as stream:
            csv.DictWriter(stream, FIELDS).writerow(row)

    def table(self) -> pd.DataFrame:
        """Return all fits so far."""
        return pd.read_csv(self._path)


def measured(cell: Cell) -> dict[str, Any]:
    """Fit and test a contender: AUC and log loss, or R2 and root mean squared error."""
    train, test = cell.fold.train, cell.fold.test
    model = cell.contender.make(train.binary, cell.table.options, cell.threads)
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(cell.threads):
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(train.frame, train.y)
        seconds = time.perf_counter() - start
        score, loss = _tested(model, test)
    messages = sorted({f"{w.category.__name__}: {w.message}"[:160].replace("\n", " ") for w in caught})
    lambda2 = getattr(model, "lambda2_", getattr(model, "lambda2", math.nan))
    found = {"score": score, "loss": loss, "n_terms": getattr(model, "n_terms_", math.nan), "lambda2": lambda2}
    return found | {"seconds": seconds, "status": "ok", "warned": " | ".join(messages)}


def _tested(model: Any, test: Rows) -> tuple[float, float]:
    if test.binary:
        probability = model.predict_proba(test.frame)[:, 1]
        return roc_auc_score(test.y, probability), log_loss(test.y, probability, labels=[0, 1])
    predicted = model.predict(test.frame)
    return r2_score(test.y, predicted), root_mean_squared_error(test.y, predicted)


def _send_result(cell: Cell, pipe: Connection) -> None:
    """Measure a cell in a child process and send the result; an exception is sent as the status."""
    try:
        pipe.send(measured(cell))
    except Exception as error:
        pipe.send({"status": f"{type(error).__name__}: {error}"[:300].replace("\n", " ")})


def run_one(cell: Cell, *, timeout: float) -> dict[str, Any]:
    """Measure in a separate process; if there is no result, return the reason as the status."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_result, args=(cell, sender))
    with warnings.catch_warnings():
        # Python warns about forking with threads. Those of BLAS are idle, because this process computes nothing.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(timeout) else {"status": f"longer than {timeout:g} s"}
    except EOFError:
        process.join()
        return {"status": f"ended with status {process.exitcode}"}
    finally:
        process.kill()
        process.join()


def run(args: argparse.Namespace, chosen: list[Table]) -> pd.DataFrame:
    """Run the missing fits, table by table, with contenders alternating within a fold; return all fits in the file."""
    store = Store(RESULTS / FILE, args, [table.name for table in chosen])
    for table in chosen:
        try:
            rows = table.load()
            for key, cell in cells(args, table, rows):
                if tuple(str(key[name]) for name in KEY) not in store.done:
                    shape = {"kind": "binary" if rows.binary else "real", "n": len(rows.y), "p": rows.frame.shape[1]}
                    outcome = run_one(cell, timeout=args.timeout)
                    store.append(key | shape | outcome)
                    print(_progress(key | outcome), flush=True)
        except (OSError, LookupError, ImportError) as error:
            print(f"  {table.name}: skipped, {type(error).__name__}: {error}", flush=True)
    return store.table()


def cells(args: argparse.Namespace, table: Table, rows: Rows) -> Iterator[tuple[dict[str, Any], Cell]]:
    """Yield the fits on one table, each with its key."""
    settings = {name: CONTENDERS[name].settings(binary=rows.binary, options=table.options) for name in args.contenders}
    for number, fold in enumerate(folds(rows, args.folds, args.order)):
        for name in args.contenders:
            known = {"table": table.name, "order": args.order, "folds": args.folds, "fold": number}
            yield (
                known | {"contender": name, "settings": settings[name]},
                Cell(table, fold, CONTENDERS[name], args.threads),
            )


def _progress(row: dict[str, Any]) -> str:
    """Return a line about a finished fit."""
    fit = f"  {row['table']}, fold {row['fold']}, {row['contender']}: "
    if row["status"] != "ok":
        return fit + row["status"]
    return fit + f"{row['score']:.4f}, loss {row['loss']:.4g}, {row['n_terms']:.0f} terms, {row['seconds']:.1f} s"


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the public tables (default: $SPARSEGAM_DATA, else ../shared/data)")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="run these tables only")
    parser.add_argument("--contenders", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS), metavar="NAME")
    parser.add_argument("--folds", type=int, default=5, help="number of folds (default 5; 2 for a quick run)")
    parser.add_argument(
        "--order", choices=ORDERS, default="none", help="order of the training rows (default none: as in the file)"
    )
    parser.add_argument("--resume", action="store_true", help="keep the fits that an earlier run finished")
    parser.add_argument("--again", nargs="+", default=[], metavar="NAME", help="contenders to run again with --resume")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for one fit (default 1800)")
    return parser.parse_args()


def main() -> None:
    """Run the fits, print the results and write results/newrows*.csv."""
    args = options()
    known = tables(data_directory(args.data))
    unknown = [name for name in args.tables or [] if name not in known]
    if unknown:
        msg = f"unknown tables {', '.join(unknown)}; choose from {' '.join(known)}"
        raise SystemExit(msg)
    report(run(args, [known[name] for name in args.tables or known]))
    from benchmarks.runner import machine

    RESULTS.joinpath("newrows-machine.json").write_text(json.dumps(machine(), indent=1) + "\n")


if __name__ == "__main__":
    main()
