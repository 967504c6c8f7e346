"""Benchmarks of interactions: accuracy, false positives, known pairs, small problems, time and memory.

python -m benchmarks.interactions magic [--folds 5]        compare with EBM with and without interactions, and LightGBM
python -m benchmarks.interactions additive [--folds 5]     cost of interactions="auto" on tables without interactions
python -m benchmarks.interactions simulated [--runs 40]    how often additive data lead to an interaction
python -m benchmarks.interactions planted [--runs 40]      find three known pairs among twenty features
python -m benchmarks.interactions enumerate [--runs 100]   compare with all models of three terms of binary features
python -m benchmarks.interactions time                     compare with the additive fit, up to 100,000 rows
python -m benchmarks.interactions picture                  draw docs/figures/magic-pairs.png

All contenders of a fold are fitted to the same rows.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data import data_directory
from benchmarks.newrows_contenders import CONTENDERS
from benchmarks.newrows_data import Rows, folds, tables
from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, gam_path
from sparsegam.datasets import make_credit
from sparsegam.losses import logistic

MAX_TERMS = 50
ADDITIVE = ("fico", "compas", "german")
PLANTED = ((0, 1), (2, 3), (4, 5))


def main() -> None:
    """Run one part and print its results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    PARTS[args.part](args)


def _estimator(args: argparse.Namespace, **options: Any) -> Any:
    return SparseGAMClassifierCV(max_terms=MAX_TERMS, n_jobs=args.jobs, **options)


def _scored(model: Any, train: Rows, test: Rows) -> dict[str, Any]:
    start = time.perf_counter()
    model.fit(train.frame, train.y)
    seconds = time.perf_counter() - start
    p = model.predict_proba(test.frame)[:, 1]
    found = {"auc": roc_auc_score(test.y, p), "log_loss": log_loss(test.y, p), "seconds": seconds}
    if hasattr(model, "terms_"):
        interactions = [term for term in model.terms_ if len(term.features) > 1]
        found["terms"], found["interactions"] = model.n_terms_, len(interactions)
        found["pairs"] = len({term.features for term in interactions})
    return found


def _print_means(rows: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame(rows)
    means = frame.groupby(["table", "contender"], sort=False).mean(numeric_only=True)
    print(means.round(4).to_string())


def _magic(args: argparse.Namespace) -> None:
    table = tables(data_directory() if args.data is None else args.data)["magic"]
    parts = folds(table.load(), args.folds, "shuffled")
    rows, binary = [], True
    peers = {name: CONTENDERS[name].make for name in ("lightgbm", "ebm-interactions", "ebm")}
    makers = {
        "interactions": lambda: _estimator(args, shapes="both", interactions="auto"),
        "additive": lambda: _estimator(args, shapes="both"),
        **{name: partial(make, binary, {}, args.jobs) for name, make in peers.items()},
    }
    for name, make in makers.items():
        for fold in parts:
            rows.append({"table": "magic", "contender": name, **_scored(make(), fold.train, fold.test)})
            print(rows[-1], flush=True)
    _print_means(rows)


def _additive(args: argparse.Namespace) -> None:
    known = tables(data_directory() if args.data is None else args.data)
    rows = []
    for name in ADDITIVE:
        for fold in folds(known[name].load(), args.folds, "shuffled"):
            for contender, interactions in (("additive", 0), ("auto", "auto")):
                model = _estimator(args, interactions=interactions, **known[name].options)
                rows.append({"table": name, "contender": contender, **_scored(model, fold.train, fold.test)})
                print(rows[-1], flush=True)
    _print_means(rows)


def _simulated(args: argparse.Namespace) -> None:
    """Fit additive simulated data repeatedly and count the models with an interaction."""
    rows = []
    for seed in range(args.runs):
        train, test = (make_credit(2000, seed=1000 * i + seed) for i in (1, 2))
        for contender, interactions in (("additive", 0), ("auto", "auto")):
            model = _estimator(args, interactions=interactions)
            sides = [Rows(part.frame, part.target, binary=True) for part in (train, test)]
            rows.append({"table": "credit", "contender": contender, **_scored(model, *sides)})
    _print_means(rows)
    chosen = [row["interactions"] > 0 for row in rows if row["contender"] == "auto"]
    print(f"at least one interaction in {sum(chosen)} of {len(chosen)} runs")


def _planted(args: argparse.Namespace) -> None:
    """Search for three known pairs among twenty features."""
    complete, with_others = 0, 0
    for seed in range(args.runs):
        frame, y = planted(5000, seed)
        model = SparseGAMClassifier(interactions="auto", n_jobs=args.jobs).fit(frame, y)
        pairs = {tuple(int(name[1:]) for name in term.features) for term in model.terms_ if len(term.features) > 1}
        complete += {*PLANTED} <= pairs
        with_others += bool(pairs - {*PLANTED})
        print(seed, sorted(pairs), model.n_terms_, flush=True)
    print(f"all three pairs in {complete} of {args.runs} runs, other pairs in {with_others}")


def planted(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Simulate twenty features; six of them have a step each, and three pairs of these an interaction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    score = sum(0.5 * (X[:, j] > 0) for j in range(6)) - 1.5
    for a, b in PLANTED:
        score = score + 1.5 * ((X[:, a] > 0.3) & (X[:, b] <= -0.2))
    y = rng.random(n) < logistic(score)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(20)]), y


def _enumerate(args: argparse.Namespace) -> None:
    found = [is_best(seed) for seed in range(args.runs)]
    print(f"the best three steps and interactions found in {sum(found)} of {len(found)} problems")


def is_best(seed: int, n: int = 300) -> bool:
    """Return whether the search finds the best three of all steps and interactions of eight binary features."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 8)) < rng.uniform(0.25, 0.75, 8)).astype(float)
    y = X @ rng.normal(size=8) + 2 * X[:, 0] * (1 - X[:, 1]) - 2 * X[:, 2] * X[:, 3] + rng.normal(size=n)
    pairs = list(combinations(range(8), 2))
    path = gam_path(
        X, y, loss="squared", lambda2=0.0, max_terms=3, interactions=pairs, interaction_cost=1.0, min_samples_bin=1
    )
    columns = [X[:, j] for j in range(8)]
    for a, b in pairs:
        columns += [u * v for u in (X[:, a], 1 - X[:, a]) for v in (X[:, b], 1 - X[:, b])]
    best = _least_squares(np.column_stack(columns), y)
    return bool(path.loss[-1] <= best * (1 + 1e-9))


def _least_squares(columns: Any, y: Any) -> float:
    """Return half the smallest sum of squared residuals of any three columns with an intercept."""
    Z = columns - columns.mean(axis=0)
    keep = (Z**2).sum(axis=0) > 0
    Z = Z[:, keep] / np.sqrt((Z[:, keep] ** 2).sum(axis=0))
    r = y - y.mean()
    gram, moment = Z.T @ Z, Z.T @ r
    triples = np.array(list(combinations(range(Z.shape[1]), 3)))
    parts = gram[triples[:, :, None], triples[:, None, :]] + 1e-10 * np.eye(3)
    sides = moment[triples]
    gains = (sides * np.linalg.solve(parts, sides[:, :, None])[:, :, 0]).sum(axis=1)
    return float(r @ r - gains.max()) / 2


def _time(args: argparse.Namespace) -> None:
    """Time fits with and without interactions, best of three; measure memory in a separate fit."""
    known = tables(data_directory() if args.data is None else args.data)
    fico = known["fico"]
    rows = fico.load()
    large = make_credit(100_000)
    for name, frame, y, options in (
        ("fico", rows.frame, rows.y, fico.options),
        ("credit-100000", large.frame, large.target, {}),
    ):
        pairs = frame.shape[1] * (frame.shape[1] - 1) // 2
        for interactions in (0, "auto", pairs):
            options = {**options, "interactions": interactions, "n_jobs": args.jobs}
            best = min(_seconds(SparseGAMClassifier(**options), frame, y) for _ in range(3))
            tracemalloc.start()
            model = SparseGAMClassifier(**options).fit(frame, y)
            peak = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
            size = f"{model.n_terms_} terms, {sum(len(term.features) > 1 for term in model.terms_)} interactions"
            print(f"{name:14} {interactions!s:5} {best:7.3f} s  {peak:6.1f} MB  {size}")


def _picture(args: argparse.Namespace) -> None:
    """Draw the four most important pairs of a model of MAGIC with twenty terms."""
    import matplotlib.pyplot as plt

    from sparsegam.plots import plot_pair

    rows = tables(data_directory() if args.data is None else args.data)["magic"].load()
    gam = SparseGAMClassifier(max_terms=20, shapes="both", interactions="auto", n_jobs=args.jobs)
    model = gam.fit(rows.frame, rows.y).model_
    found = model.pair_functions()
    variance = {pair: float((f.shares * (f.contributions - f.mean) ** 2).sum()) for pair, f in found.items()}
    figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
    for pair, ax in zip(sorted(variance, key=lambda pair: -variance[pair])[:4], axes.ravel(), strict=False):
        plot_pair(model, pair, rows.frame, ax=ax)
    figure.savefig(Path(__file__).parents[1] / "docs/figures/magic-pairs.png", dpi=90)
    print(model.equation())


def _seconds(model: Any, frame: Any, y: Any) -> float:
    start = time.perf_counter()
    model.fit(frame, y)
    return time.perf_counter() - start


PARTS = {
    "magic": _magic,
    "additive": _additive,
    "simulated": _simulated,
    "planted": _planted,
    "enumerate": _enumerate,
    "time": _time,
    "picture": _picture,
}

if __name__ == "__main__":
    main()
