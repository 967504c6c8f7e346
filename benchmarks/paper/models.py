"""Compare sparse models with the published ones as equations and shape functions: figures 10 to 13, appendix D.4."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from benchmarks.paper import published
from benchmarks.paper.cells import PUBLISHED_FOLD
from benchmarks.paper.runner import PAPER
from benchmarks.paper.tables import FOLDS, Fold, load, why_missing


def run(data: str | None, *, quick: bool) -> None:
    """Fit, print, draw and compare the models; a quick run fits the boosted trees on a single fold."""
    PAPER.mkdir(parents=True, exist_ok=True)
    reason = why_missing("fico", data)
    if reason:
        print(f"  skipped: {reason}")
    else:
        _compare("fico", [published.FICO_EXPONENTIAL, published.FICO_LOGISTIC], published.FICO_LAMBDA0, data)
    netherlands = [published.NETHERLANDS_EXPONENTIAL, published.NETHERLANDS_LOGISTIC]
    _compare("netherlands", netherlands, published.NETHERLANDS_LAMBDA0, data)
    for table in ("netherlands",) if reason else ("fico", "netherlands"):
        _boost(table, data, folds=[PUBLISHED_FOLD] if quick else list(range(FOLDS)))


def _compare(table: str, printed: list[published.PublishedModel], lambda0: float, data: str | None) -> None:
    fold, rows, equations = load(table, PUBLISHED_FOLD, data), [], []
    for model in printed:
        fitted, seconds = _fit(fold, model, lambda0)
        rows.append(_row(table, "sparsegam", model, _assess(fitted, fold, model, lambda0), seconds))
        equations.append(f"{table}, {model.loss} loss, lambda0 = {lambda0:g}\n{fitted.equation()}\n")
        published_model = _published(model, fold)
        rows.append(_row(table, "published", model, _assess(published_model, fold, model, lambda0), model.seconds))
        _shapes(fitted, published_model, fold).savefig(PAPER / f"models-{table}-{model.loss}.png", dpi=60)
    frame = pd.DataFrame(rows)
    frame.to_csv(PAPER / f"models-{table}.csv", index=False)
    (PAPER / f"models-{table}.txt").write_text("\n".join(equations))
    print(frame.to_string(index=False))


def _fit(fold: Fold, printed: published.PublishedModel, lambda0: float) -> tuple[Any, float]:
    from sparsegam import SparseGAMClassifier

    settings = {"loss": printed.loss, "lambda0": lambda0, "lambda2": printed.lambda2}
    start = time.perf_counter()
    fitted = SparseGAMClassifier(**settings, certify=True, min_samples_bin=1).fit(_frame(fold, fold.train), fold.y)
    return fitted.model_, time.perf_counter() - start


def _published(printed: published.PublishedModel, fold: Fold) -> Any:
    """Return a published model as a sparsegam model."""
    from sparsegam._models.additive import Model
    from sparsegam._models.terms import Condition, Term

    terms = tuple(Term(feature, Condition("<=", float(edge)), coef) for feature, edge, coef in printed.terms)
    return Model(printed.intercept, terms, fold.names, printed.loss, (0, 1))


def _assess(model: Any, fold: Fold, printed: published.PublishedModel, lambda0: float) -> dict[str, float]:
    """Return the objective on the training rows of the fold, and AUC on training and test rows."""
    from benchmarks.objective import loss_sum

    scores, test = (model.decision_function(_frame(fold, rows)) for rows in (fold.train, fold.test))
    columns = [fold.column(term.feature, term.condition.value) for term in model.terms]
    ridge = printed.lambda2 * float(fold.centred_sq_norm[columns] @ np.array([term.coef for term in model.terms]) ** 2)
    objective = loss_sum(printed.loss, fold.y, scores) + ridge + lambda0 * len(columns)
    return {
        "n_terms": len(columns),
        "objective": round(objective, 2),
        "train_auc": round(roc_auc_score(fold.y, scores), 4),
        "test_auc": round(roc_auc_score(fold.y_test, test), 4),
    }


def _row(
    table: str, source: str, printed: published.PublishedModel, results: dict[str, float], seconds: float
) -> dict[str, Any]:
    return {"table": table, "loss": printed.loss, "source": source, **results, "seconds": round(seconds, 3)}


def _shapes(fitted: Any, published_model: Any, fold: Fold) -> Figure:
    """Draw the contribution of each feature to the score, a panel per feature; the published model is orange."""
    used = [name for name in fold.names if name in {t.feature for m in (fitted, published_model) for t in m.terms}]
    rows = -(-len(used) // 4)
    picture = Figure(figsize=(11, 2.1 * rows), layout="constrained")
    axes = np.ravel(picture.subplots(rows, 4, squeeze=False))
    for axis, name in zip(axes, used, strict=False):
        grid = np.unique(fold.train[:, fold.names.index(name)])
        for model, colour in ((published_model, "tab:orange"), (fitted, "tab:blue")):
            axis.step(grid, _shape(model, name, grid), where="post", color=colour)
        axis.set_title(name, fontsize=8)
    for axis in axes[len(used) :]:
        axis.set_axis_off()
    return picture


def _shape(model: Any, feature: str, grid: np.ndarray) -> np.ndarray:
    terms = [term for term in model.terms if term.feature == feature]
    return sum((term.coef * (grid <= term.condition.value) for term in terms), np.zeros(grid.size))


def _boost(table: str, data: str | None, folds: list[int]) -> None:
    """Fit the black box that the paper compares with: 100 boosted trees of depth 3."""
    aucs = []
    for number in folds:
        fold = load(table, number, data)
        trees = GradientBoostingClassifier(max_depth=3, n_estimators=100, random_state=0).fit(fold.train, fold.y)
        parts = ((fold.train, fold.y), (fold.test, fold.y_test))
        aucs.append([roc_auc_score(y, trees.decision_function(X)) for X, y in parts])
    frame = pd.DataFrame(aucs, columns=["train_auc", "test_auc"], index=pd.Index(folds, name="fold"))
    frame.to_csv(PAPER / f"boosted-{table}.csv")
    means, printed = frame.mean(), published.BOOSTED[table]
    print(f"  boosted trees, {table}: train {means.iloc[0]:.4f} (paper {printed['train'][0]}), ", end="")
    print(f"test {means.iloc[1]:.4f} (paper {printed['test'][0]}), {len(folds)} fold(s)")


def _frame(fold: Fold, rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(fold.names))
