"""Demonstrate the package on simulated credit data: `sparsegam demo` or `make demo`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path as FilePath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from sparsegam import Model, Path, SparseGAMClassifier, gam_path
from sparsegam._data.table import read_table
from sparsegam._io.writing import write_atomically
from sparsegam.datasets import AdditiveTruth, Dataset, make_credit

MAX_TERMS = 30
OPTIONS: dict[str, Any] = {"lambda2": 1e-3, "special_values": [-9, -8, -7]}
# Number of characters of the longest bar.
BAR = 40
PLOT = FilePath("demo") / "shape_functions.png"
REPORT = FilePath("demo") / "report.html"

T = TypeVar("T")


def main() -> None:
    """Fit a path and one model, compare with boosted trees, plot the shape functions and write a report."""
    credit = make_credit()
    rows, rows_test = train_test_split(
        np.arange(len(credit.target)), test_size=0.2, random_state=0, stratify=credit.target
    )
    # A table with names works like a data frame, without requiring pandas.
    table = read_table(credit.data).with_names(tuple(credit.feature_names))
    X, X_test, y, y_test = table.take(rows), table.take(rows_test), credit.target[rows], credit.target[rows_test]
    n_thresholds = sum(np.unique(X.values(j)).size - 1 for j in range(X.n_columns))
    _heading("Data")
    print(
        f"Simulated credit applications: {X.n_rows} training rows, {X_test.n_rows} test rows, {X.n_columns} features."
    )
    print(f"There are {n_thresholds} candidate steps; the true model has {len(credit.truth.terms)} steps.")

    path, path_seconds = _timed(lambda: gam_path(X, y, max_terms=MAX_TERMS, **OPTIONS))
    _heading(f"Path: the best model found of each size up to {MAX_TERMS} ({path_seconds:.2f} s)")
    _print_path(path, X_test, y_test)

    model, model_seconds = _timed(lambda: SparseGAMClassifier(lambda0="bic", **OPTIONS).fit(X, y))
    _heading(f"The model selected by BIC ({model_seconds:.2f} s)")
    print(model.model_.equation())

    _heading("Comparison with boosted trees (same rows, one thread)")
    _print_comparison(model, model_seconds, credit, rows, rows_test)

    _heading("Shape functions")
    print(_draw_shapes(model.model_.shape_functions(), credit, rows))

    _heading("Report")
    REPORT.parent.mkdir(exist_ok=True)
    file = model.report(REPORT, X, y, X_test=X_test, y_test=y_test, title="Default model for simulated credit data")
    print(f"written to {file} ({file.stat().st_size / 1000:.0f} kB); open it in a browser")


def _timed(job: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = job()
    return result, time.perf_counter() - start


def _heading(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}", flush=True)


def _print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with the first column left-aligned and the others right-aligned."""
    widths = [max(len(row[j]) for row in [header, *rows]) for j in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


def _print_path(path: Path[Model], X_test: Any, y_test: NDArray[np.int64]) -> None:
    """Print size, training loss and test AUC of the models of a path, and mark the one selected by BIC."""
    chosen = path.at(lambda0="bic").n_terms
    rows = []
    for k, loss, lambda0 in zip(path.n_terms, path.loss, path.lambda0, strict=True):
        if k > 10 and k % 5 and k != chosen:
            continue
        auc = roc_auc_score(y_test, path.at(n_terms=int(k)).decision_function(X_test))
        bar = "#" * round(BAR * max(auc - 0.5, 0.0) / 0.35) + (" <- BIC" if k == chosen else "")
        penalty = "" if np.isnan(lambda0) else f"{lambda0:.1f}"
        rows.append([str(k), f"{loss:.1f}", penalty, f"{auc:.4f}", f"{bar:<{BAR + 7}}"])
    _print_table(
        ["terms", "training loss", "optimal up to lambda0", "test AUC", f"{'from 0.50 to 0.85':<{BAR + 7}}"], rows
    )


def _print_comparison(
    model: Any,
    seconds: float,
    credit: Dataset[AdditiveTruth],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> None:
    """Print test AUC, fitting time and size of the sparse model, two kinds of boosted trees and the true model."""
    data, y = np.asarray(credit.data), credit.target
    table = read_table(data).with_names(tuple(credit.feature_names))
    auc = roc_auc_score(y[test], model.predict_proba(table.take(test))[:, 1])
    rows = [["sparsegam (BIC)", f"{auc:.4f}", f"{seconds:.2f}", f"{model.n_terms_} steps"]]
    for trees in (GradientBoostingClassifier(random_state=0), HistGradientBoostingClassifier(random_state=0)):
        with threadpool_limits(limits=1):
            _, tree_seconds = _timed(partial(trees.fit, data[train], y[train]))
        auc = roc_auc_score(y[test], trees.predict_proba(data[test])[:, 1])
        n_trees = trees.n_iter_ if isinstance(trees, HistGradientBoostingClassifier) else trees.n_estimators_
        rows.append([type(trees).__name__, f"{auc:.4f}", f"{tree_seconds:.2f}", f"{n_trees} trees"])
    rows.append(["true model", f"{roc_auc_score(y[test], credit.truth.probability[test]):.4f}", "", ""])
    _print_table(["model", "test AUC", "fit, s", "size"], rows)


def _draw_shapes(shapes: dict[str, Any], credit: Dataset[AdditiveTruth], rows: NDArray[np.int64]) -> str:
    """Save a plot of the fitted and the true shape functions; return a line to print."""
    try:
        import matplotlib
    except ImportError:
        return "No plot: matplotlib is not installed (pip install sparsegam[plot])."
    matplotlib.use("Agg")
    from matplotlib import pyplot

    n_columns = min(3, len(shapes))
    n_rows = -(-len(shapes) // n_columns)
    figure, axes = pyplot.subplots(n_rows, n_columns, figsize=(4.2 * n_columns, 2.6 * n_rows), squeeze=False)
    for axis in axes.ravel()[len(shapes) :]:
        axis.set_visible(False)
    for axis, (name, shape) in zip(axes.ravel(), shapes.items(), strict=False):
        _draw_one_shape(axis, name, shape, credit, rows)
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.supylabel("Contribution to log-odds (centred)")
    figure.tight_layout()
    PLOT.parent.mkdir(exist_ok=True)
    image = BytesIO()
    figure.savefig(image, dpi=130, format="png")
    write_atomically(PLOT, image.getvalue())
    pyplot.close(figure)
    return f"{len(shapes)} features in use; plot saved to {PLOT}"


def _draw_one_shape(axis: Any, name: str, shape: Any, credit: Dataset[AdditiveTruth], rows: NDArray[np.int64]) -> None:
    """Draw the fitted and the true shape function of a feature, both centred on the training data."""
    column = np.asarray(credit.data)[rows, credit.feature_names.index(name)]
    grid = np.arange(column[column >= 0].min(), np.quantile(column, 0.995) + 1)

    def true(x: NDArray[Any]) -> NDArray[Any]:
        steps = [term.coef * (x <= term.threshold) for term in credit.truth.terms if term.feature == name]
        return np.sum(steps, axis=0) if steps else np.zeros(len(x))

    axis.step(grid, true(grid) - true(column).mean(), where="mid", color="0.7", linewidth=4, label="truth")
    axis.step(grid, shape.at(grid) - shape.at(column).mean(), where="mid", color="C0", label="sparsegam")
    axis.axhline(0.0, color="0.85", linewidth=0.8, zorder=0)
    axis.set_title(name, fontsize=9)


if __name__ == "__main__":
    main()
