"""Compare steps, ramps and both at equal sizes on the same folds: test scores, objectives, time and memory.

python -m benchmarks.ramps [--tables NAME ...] [--folds 2] [--sizes 5 10 25] [--rounds 1]
python -m benchmarks.ramps --enumerate 100
python -m benchmarks.ramps --memory 500000

On the training rows of every fold, a path of each shape is searched in turn, and the best time of the rounds is used.
Each size is scored on the test rows. results/ramps.csv has a row per table and size. --enumerate tries all sets of
three columns of small problems instead, and prints how often the search found the best. --memory fits the given number
of rows with 20 continuous columns, each shape in a separate process, and prints the memory in addition to the input.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from benchmarks.data import data_directory
from benchmarks.memory import baseline_bytes, peak_bytes
from benchmarks.newrows_data import Fold, Table, folds, tables
from benchmarks.newrows_summary import RESULTS
from sparsegam import _core, gam_path
from sparsegam._fit.spec import additive_spec
from sparsegam._fit.training import build_problem, read_data
from sparsegam._search.path import Path as Models
from sparsegam.losses import logistic

SHAPES = ("steps", "ramps", "both")
PENALTIES = np.geomspace(0.1, 300, 60)


def main() -> None:
    """Run all tables and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--tables", nargs="+", metavar="NAME")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 10, 25])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--enumerate", type=int, default=0, metavar="PROBLEMS")
    parser.add_argument("--memory", type=int, default=0, metavar="ROWS")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.memory:
        _show_memory(args.memory, max(args.sizes))
        return
    if args.enumerate:
        found = [_is_best(seed) for seed in range(args.enumerate)]
        print(f"the best three steps and ramps found in {sum(found)} of {len(found)} problems")
        return
    known = tables(data_directory() if args.data is None else args.data)
    rows: list[dict[str, object]] = []
    for name in args.tables or known:
        rows += _table(known[name], args)
        _show(rows[-len(args.sizes) :])
    found = pd.DataFrame(rows)
    RESULTS.mkdir(exist_ok=True)
    found.to_csv(RESULTS / "ramps.csv", index=False)
    _summary(found)


def _table(table: Table, args: argparse.Namespace) -> list[dict[str, object]]:
    rows, scored = table.load(), []
    for fold in folds(rows, args.folds, "none"):
        found, seconds, peak = _searched(fold, table, max(args.sizes), args.rounds)
        excess = _above(found)
        for k in args.sizes:
            scores = {
                f"{what}_{shapes}": value
                for shapes, path in found.items()
                for what, value in _scored(path, k, fold).items()
            }
            scored.append({"k": k, **scores, **excess, **seconds, **peak})
    mean = pd.DataFrame(scored).groupby("k").mean().reset_index()
    return [
        {"table": table.name, "kind": "binary" if rows.binary else "real", **row} for row in mean.to_dict("records")
    ]


def _searched(
    fold: Fold, table: Table, max_terms: int, rounds: int
) -> tuple[dict[str, Models], dict[str, float], dict[str, float]]:
    found, seconds, peak = {}, dict.fromkeys([f"seconds_{s}" for s in SHAPES], np.inf), {}
    loss = "logistic" if fold.train.binary else "squared"
    for n in range(rounds):
        for shapes in SHAPES:
            began = time.process_time()
            path = gam_path(
                fold.train.frame, fold.train.y, loss=loss, shapes=shapes, max_terms=max_terms, n_jobs=1, **table.options
            )
            taken = time.process_time() - began
            found[shapes] = path
            seconds[f"seconds_{shapes}"] = min(seconds[f"seconds_{shapes}"], taken)
        if n == 0 and rounds > 1:
            peak = {f"peak_{shapes}": _peak(fold, table, max_terms, shapes, loss) for shapes in SHAPES}
    return found, seconds, peak


def _peak(fold: Fold, table: Table, max_terms: int, shapes: str, loss: str) -> float:
    """Return the peak of Python's allocations in megabytes."""
    tracemalloc.start()
    gam_path(fold.train.frame, fold.train.y, loss=loss, shapes=shapes, max_terms=max_terms, n_jobs=1, **table.options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def _show_memory(n_rows: int, max_terms: int) -> None:
    with get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        jobs = [(n_rows, max_terms, shapes) for shapes in SHAPES]
        taken = dict(zip(SHAPES, processes.imap(_megabytes, jobs, chunksize=1), strict=True))
    for shapes, megabytes in taken.items():
        print(f"{shapes:6} {megabytes:8.1f} MB in addition to the input, x{megabytes / taken['steps']:.2f}")


def _megabytes(job: tuple[int, int, str]) -> float:
    """Return the peak memory of a path in megabytes, without its input and what a small path loads."""
    n_rows, max_terms, shapes = job
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    score = np.minimum(X[:, :4], 0.5).sum(axis=1) + (X[:, 4:8] > 0).sum(axis=1) + 0.3 * X[:, 8:12].sum(axis=1)
    y = score + rng.logistic(size=n_rows) > np.median(score)
    for rows in (slice(2000), slice(None)):
        before = baseline_bytes()
        gam_path(X[rows], y[rows], shapes=shapes, max_terms=max_terms)
    return (peak_bytes() - before) / 1e6


def _scored(path: Models, k: int, fold: Fold) -> dict[str, float]:
    k = int(path.n_terms[np.searchsorted(path.n_terms, k, side="right") - 1])
    score = path.at(k).decision_function(fold.test.frame)
    if not fold.test.binary:
        return {"score": float(r2_score(fold.test.y, score))}
    auc = float(roc_auc_score(fold.test.y, score))
    return {"score": auc, "loss": float(log_loss(fold.test.y, logistic(score)))}


def _above(found: dict[str, Models]) -> dict[str, float]:
    """Return the largest relative excess, over all lambda0, of the objective of "both" over the lower of the others."""
    best = {
        shapes: (path.objective[:, None] + PENALTIES * _penalty_unit(path) * path.n_terms[:, None]).min(axis=0)
        for shapes, path in found.items()
    }
    return {"above": float((best["both"] / np.minimum(best["steps"], best["ramps"]) - 1).max())}


def _is_best(seed: int) -> bool:
    """Return whether the path's model of three terms is the best of all sets of three columns."""
    rng, loss = np.random.default_rng(seed), ("logistic", "squared")[seed % 2]
    X = np.column_stack([rng.integers(0, 5, 150), rng.integers(0, 6, 150), rng.integers(0, 4, 150)]).astype(np.float64)
    score = np.minimum(X[:, 0] - 3, 0) + (X[:, 1] > 3) - 0.5 * np.maximum(X[:, 2] - 1, 0) + rng.normal(size=150)
    y = score if loss == "squared" else np.where(score > np.median(score), 1.0, -1.0)
    spec = additive_spec(loss=loss, max_terms=3, min_samples_bin=1, shapes="both")
    problem = build_problem(spec, read_data(spec, X, y))
    search = _core.frontier(problem.rows, problem.penalty, max_terms=3).points[-1]
    candidates = np.flatnonzero(problem.design.candidates(problem.constraints))
    best = np.inf
    for columns in combinations(candidates.tolist(), 3):
        point = _core.Point(0.0, np.array(columns), np.zeros(3))
        fitted = _core.refit(problem.rows, problem.penalty, point)
        best = min(best, fitted.loss + fitted.ridge)
    return bool(search.loss + search.ridge <= best * (1 + 1e-7))


def _penalty_unit(path: Models) -> float:
    """Return the unit of lambda0: 1 for a classifier, the variance of the response for a regression."""
    return 1.0 if path.models[0].classes is not None else 2 * float(path.objective[0]) / path.total_weight


def _show(rows: list[dict[str, object]]) -> None:
    for row in rows:
        scores = "  ".join(f"{shapes} {row[f'score_{shapes}']:.4f}" for shapes in SHAPES)
        ratio = float(row["seconds_both"]) / float(row["seconds_steps"])
        print(f"{row['table']:16} {row['k']:3d}  {scores}  excess {row['above']:+.4%}  time x{ratio:.2f}", flush=True)


def _summary(found: pd.DataFrame) -> None:
    for (kind, k), part in found.groupby(["kind", "k"]):
        lead = part["score_both"] - part["score_steps"]
        worst = part.loc[lead.idxmin(), "table"]
        print(f"{kind}, {k} terms: score of both minus steps {lead.mean():+.4f}, lowest {lead.min():+.4f} ({worst})")
    ratio = found["seconds_both"] / found["seconds_steps"]
    print(f"time of both relative to steps: median {ratio.median():.2f}, largest {ratio.max():.2f}")
    print(f"largest relative excess of the objective of both over the lower of the others: {found['above'].max():+.4%}")


if __name__ == "__main__":
    main()
