"""Turn a case into a call of an estimator or path function, and present the fitted models in one form."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import sparsegam
from sparsegam._fit import swap_path as swap

FUNCTIONS = {
    "gam_path": sparsegam.gam_path,
    "linear_path": sparsegam.linear_path,
    "swap_path": swap.swap_path,
    "linear_swap_path": swap.linear_swap_path,
}


def public(kind: str) -> Any:
    """Return the public class or function of this name."""
    return FUNCTIONS[kind] if kind in FUNCTIONS else getattr(sparsegam, kind)


def known_options(kind: str) -> set[str]:
    """Return the option names of an estimator or path function."""
    return set(inspect.signature(public(kind)).parameters) - {"X", "y", "sample_weight"}


@dataclass(eq=False)
class Call:
    """The function or class to call and its arguments, which a corruption may change before the call."""

    kind: str
    X: Any
    y: Any
    weight: Any
    options: dict[str, Any]
    n: int
    note: str = ""

    @property
    def thing(self) -> Any:
        return public(self.kind)

    @property
    def known(self) -> set[str]:
        return known_options(self.kind)

    def plain_options(self) -> None:
        """Drop options that refer to columns, because X was replaced."""
        self.options = {k: v for k, v in self.options.items() if k in ("loss", "lambda0", "lambda2", "max_terms")}

    def make(self) -> Any:
        """Call the function, or construct and fit the estimator."""
        if self.kind in FUNCTIONS:
            return self.thing(self.X, self.y, sample_weight=self.weight, **self.options)
        estimator = self.thing(**self.options)
        if self.kind == "ThresholdBinner":
            return estimator.fit(self.X, sample_weight=self.weight)
        return estimator.fit(self.X, self.y, sample_weight=self.weight)


@dataclass(eq=False)
class View:
    """One fitted model with the labels and weights that it was fitted to."""

    model: Any
    objective: float
    loss: float
    lambda0: float
    lambda2: float
    standardized: bool
    y: np.ndarray  # -1 and 1, or a numeric target
    weight: np.ndarray


@dataclass(eq=False)
class Fitted:
    """A fitted case: the estimator or path and its models."""

    case: Any
    call: Call
    thing: Any
    views: list[View] = field(default_factory=list)


def call_of(case, rows=None, order=None, **changes) -> Call:
    """Return the call of a case for selected rows and columns and changed options."""
    weight = case.weight if case.weight is None or rows is None else case.weight[rows]
    given = {**case.options, **changes}
    n = case.n if rows is None else len(rows)
    return Call(case.kind, case.table(rows, order), case.target(rows), weight, given, n)


def fitted(case, rows=None, order=None, **changes) -> Fitted:
    """Run a case for selected rows and columns and changed options."""
    call = call_of(case, rows, order, **changes)
    return collected(case, call, call.make(), rows)


def collected(case, call, thing, rows=None) -> Fitted:
    """Collect the models of a fitted estimator or path."""
    out = Fitted(case, call, thing)
    if case.kind == "ThresholdBinner":
        return out
    y = case.y if rows is None else case.y[rows]
    weight = np.ones(call.n) if call.weight is None else np.asarray(call.weight, dtype=np.float64)
    out.views = _path_views(case, call, thing, y, weight) if case.is_path else _estimator_views(call, thing, y, weight)
    return out


def _path_views(case, call, path, y, weight):
    if call.options.get("class_weight") == "balanced":
        weight = balanced(y, weight)
    swaps = "swap" in case.kind
    views = []
    for k, model in enumerate(path.models):
        lambda0 = float(path.lambda0[k]) if swaps else 0.0
        lambda2, standardized = (path.lambda2[k], True) if swaps else (path.lambda2, path.standardized)
        objective, loss = float(path.objective[k]), float(path.loss[k])
        views.append(View(model, objective, loss, lambda0, float(lambda2), standardized, signs(model, y), weight))
    return views


def _estimator_views(call, estimator, y, weight):
    if call.options.get("class_weight") == "balanced":
        weight = balanced(y, weight)
    if not hasattr(estimator, "estimators_"):
        parts, ys = [estimator], [signs(estimator.model_, y)]
    else:
        parts = estimator.estimators_
        ys = [np.where(y == label, 1.0, -1.0) for label in estimator.classes_]
    views = []
    for part, target in zip(parts, ys, strict=True):
        lambda0 = 0.0 if call.kind.endswith("CV") else float(part.lambda0_)
        worth = float(part.objective_), float(part.loss_)
        views.append(View(part.model_, *worth, lambda0, part.lambda2_, part.standardize_, target, weight))
    return views


def signs(model, y):
    if model.classes is None:
        return np.asarray(y, dtype=np.float64)
    return np.where(y == model.classes[1], 1.0, -1.0)


def balanced(y, weight):
    """Return the sample weights multiplied by balanced class weights."""
    classes = np.unique(y[weight > 0])
    out = weight.copy()
    for label in classes:
        out[y == label] *= weight.sum() / (classes.size * weight[y == label].sum())
    return out
