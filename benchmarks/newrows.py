"""How models do on rows they were not fitted to: ours, explainable boosting, trees and linear models on the same folds.

python -m benchmarks.newrows [--tables NAME ...] [--contenders NAME ...] [--folds 5] [--order none] [--resume]

Every fit is a process of its own (forked, so that nothing is imported twice): one that fails, dies or takes longer than
--timeout is written down as such, and the run goes on. results/newrows.csv grows fit by fit, and what it holds of other
tables, orders and contenders stays. --resume keeps, too, what it holds of those asked for, where the settings are the
same, except for the contenders named by --again.
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
    """The csv of all fits, which grows as they come."""

    def __init__(self, path: Path, args: argparse.Namespace, names: list[str]) -> None:
        self._path = path
        path.parent.mkdir(exist_ok=True)
        held = self.table() if path.exists() else pd.DataFrame(columns=FIELDS)
        asked = held["table"].isin(names) & (held["order"] == args.order) & (held["folds"] == args.folds)
        anew = held["contender"].isin(args.again if args.resume else args.contenders)
        held = held[~(asked & (anew | (held["status"] != "ok")))]
        held.to_csv(path, index=False)
        self.done = set(held[KEY].astype(str).itertuples(index=False, name=None))

    def keep(self, row: dict[str, Any]) -> None:
        """Append one fit."""
        with self._path.open("a", newline="") as stream:
            csv.DictWriter(stream, FIELDS).writerow(row)

    def table(self) -> pd.DataFrame:
        """All fits so far."""
        return pd.read_csv(self._path)


def measured(cell: Cell) -> dict[str, Any]:
    """Fit and test: AUC and log loss, or R2 and the root of the mean squared error."""
    train, test = cell.fold.train, cell.fold.test
    model = cell.contender.make(train.binary, cell.table.options, cell.threads)
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(cell.threads):
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(train.frame, train.y)
        seconds = time.perf_counter() - start
        score, loss = _tested(model, test)
    said = sorted({f"{w.category.__name__}: {w.message}"[:160].replace("\n", " ") for w in caught})
    lambda2 = getattr(model, "lambda2_", getattr(model, "lambda2", math.nan))
    found = {"score": score, "loss": loss, "n_terms": getattr(model, "n_terms_", math.nan), "lambda2": lambda2}
    return found | {"seconds": seconds, "status": "ok", "warned": " | ".join(said)}


def _tested(model: Any, test: Rows) -> tuple[float, float]:
    if test.binary:
        probability = model.predict_proba(test.frame)[:, 1]
        return roc_auc_score(test.y, probability), log_loss(test.y, probability, labels=[0, 1])
    predicted = model.predict(test.frame)
    return r2_score(test.y, predicted), root_mean_squared_error(test.y, predicted)


def _answer(cell: Cell, pipe: Connection) -> None:
    """What the process of a fit does: whatever goes wrong is an answer, too."""
    try:
        pipe.send(measured(cell))
    except Exception as error:
        pipe.send({"status": f"{type(error).__name__}: {error}"[:300].replace("\n", " ")})


def run_one(cell: Cell, *, timeout: float) -> dict[str, Any]:
    """Measure in a process of its own; why there is no result, where there is none."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(cell, theirs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of BLAS do not mind: nothing was computed here
        process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(timeout) else {"status": f"over {timeout:g} s"}
    except EOFError:
        process.join()
        return {"status": f"ended with status {process.exitcode}"}
    finally:
        process.kill()
        process.join()


def run(args: argparse.Namespace, chosen: list[Table]) -> pd.DataFrame:
    """Run what is not done yet, table by table, contenders in turn within a fold; all fits that are held then."""
    store = Store(RESULTS / FILE, args, [table.name for table in chosen])
    for table in chosen:
        try:
            rows = table.load()
            for key, cell in cells(args, table, rows):
                if tuple(str(key[name]) for name in KEY) not in store.done:
                    shape = {"kind": "binary" if rows.binary else "real", "n": len(rows.y), "p": rows.frame.shape[1]}
                    outcome = run_one(cell, timeout=args.timeout)
                    store.keep(key | shape | outcome)
                    print(_progress(key | outcome), flush=True)
        except (OSError, LookupError, ImportError) as error:
            print(f"  {table.name}: left out, {type(error).__name__}: {error}", flush=True)
    return store.table()


def cells(args: argparse.Namespace, table: Table, rows: Rows) -> Iterator[tuple[dict[str, Any], Cell]]:
    """List the fits on one table, each with its key."""
    settings = {name: CONTENDERS[name].settings(binary=rows.binary, options=table.options) for name in args.contenders}
    for number, fold in enumerate(folds(rows, args.folds, args.order)):
        for name in args.contenders:
            known = {"table": table.name, "order": args.order, "folds": args.folds, "fold": number}
            yield (
                known | {"contender": name, "settings": settings[name]},
                Cell(table, fold, CONTENDERS[name], args.threads),
            )


def _progress(row: dict[str, Any]) -> str:
    """One line for whoever is waiting."""
    place = f"  {row['table']}, fold {row['fold']}, {row['contender']}: "
    if row["status"] != "ok":
        return place + row["status"]
    return place + f"{row['score']:.4f}, loss {row['loss']:.4g}, {row['n_terms']:.0f} terms, {row['seconds']:.1f} s"


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the public tables (default: $SPARSEGAM_DATA, else ../shared/data)")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="these tables only")
    parser.add_argument("--contenders", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS), metavar="NAME")
    parser.add_argument("--folds", type=int, default=5, help="number of folds (default 5; 2 for a quick look)")
    parser.add_argument(
        "--order", choices=ORDERS, default="none", help="of the training rows (default none: as in the file)"
    )
    parser.add_argument("--resume", action="store_true", help="keep the fits that an earlier run finished")
    parser.add_argument("--again", nargs="+", default=[], metavar="NAME", help="contenders to run anew with --resume")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for one fit (default 1800)")
    return parser.parse_args()


def main() -> None:
    """Measure, print, write results/newrows*.csv."""
    args = options()
    known = tables(data_directory(args.data))
    unknown = [name for name in args.tables or [] if name not in known]
    if unknown:
        msg = f"no table {', '.join(unknown)}: some of {' '.join(known)}"
        raise SystemExit(msg)
    report(run(args, [known[name] for name in args.tables or known]))
    from benchmarks.runner import machine

    RESULTS.joinpath("newrows-machine.json").write_text(json.dumps(machine(), indent=1) + "\n")


if __name__ == "__main__":
    main()
