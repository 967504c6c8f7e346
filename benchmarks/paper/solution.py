"""The models of all methods, and their objective, AUC, accuracy and recovery by the same code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.objective import loss_sum
from benchmarks.paper.tables import Fold


@dataclass(frozen=True)
class Solution:
    """A model on the columns of `Fold.matrix`, with the seconds of its fit and the counts of its search."""

    columns: NDArray[np.int64]
    coef: NDArray[np.float64]
    intercept: float
    seconds: float
    loss: str = "logistic"
    lambda0: float = float("nan")
    lambda2: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    def scores(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row of a matrix."""
        return matrix[:, self.columns] @ self.coef + self.intercept


def assess(solution: Solution, fold: Fold) -> dict[str, Any]:
    """Return one row of a results table."""
    scores, test_scores = solution.scores(fold.matrix), solution.scores(fold.test_matrix)
    loss = _loss(solution.loss, fold.y, scores)
    ridge = solution.lambda2 * float(fold.centred_sq_norm[solution.columns] @ solution.coef**2)
    return {
        "lambda0": solution.lambda0,
        "n_terms": len(solution.columns),
        "seconds": round(solution.seconds, 5),
        "loss": loss,
        "objective": loss + ridge + solution.lambda0 * len(solution.columns),
        **_quality("train", solution.loss, fold.y, scores),
        **_quality("test", solution.loss, fold.y_test, test_scores),
        "f1": _recovery(solution.columns, fold),
        "counts": json.dumps(solution.counts),
    }


def _loss(loss: str, y: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    return float(0.5 * ((y - scores) ** 2).sum()) if loss == "squared" else loss_sum(loss, y, scores)


def _quality(rows: str, loss: str, y: NDArray[np.float64], scores: NDArray[np.float64]) -> dict[str, float]:
    if loss == "squared":
        return {f"{rows}_auc": float("nan"), f"{rows}_accuracy": float("nan")}
    from sklearn.metrics import roc_auc_score

    accuracy = float(((scores > 0) == (y > 0)).mean())
    return {f"{rows}_auc": float(roc_auc_score(y, scores)), f"{rows}_accuracy": accuracy}


def _recovery(columns: NDArray[np.int64], fold: Fold) -> float:
    """Return the F1 of the recovered columns: 2 PR / (P + R) = 2 |found and true| / (|found| + |true|)."""
    if fold.support is None:
        return float("nan")
    both = len(set(columns.tolist()) & set(fold.support))
    return 2 * both / (len(columns) + len(fold.support))
