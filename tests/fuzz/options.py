"""Generate random valid options."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NOT_ORDERED = ("text", "category", "ordered")
CHANCE = 0.2


@dataclass(frozen=True, eq=False)
class Draw:
    """The random generator, the columns as options may name them, and the loss."""

    rng: np.random.Generator
    columns: list
    named: bool
    loss: str

    def some(self, chance=CHANCE):
        return self.rng.random() < chance

    def key(self, j):
        """Return a column as options refer to it: by position, or by name if columns have names."""
        name = self.columns[j].name if self.named else f"x{j}"
        return name if self.rng.random() < 0.5 else int(j)

    def pick(self, most=None):
        """Return the positions of a few columns."""
        p = len(self.columns)
        size = self.rng.integers(1, min(p, most or p) + 1)
        return [int(j) for j in self.rng.permutation(p)[:size]]

    def one_of(self, *values):
        return values[self.rng.integers(len(values))]


def penalty_options(draw):
    out = {}
    if draw.some(0.7):
        out["lambda0"] = draw.one_of("aic", "bic", 0.0, 0.1, 1.0, 5.0, 1e-12, 1e6, 2)
    if draw.some(0.4):
        out["max_terms"] = int(draw.one_of(0, 1, 2, 5, 40))
    return out


def ridge_options(draw):
    return {"lambda2": draw.one_of(0.0, 1e-8, 1e-3, 0.1, 10.0, 1e8)} if draw.some(0.5) else {}


def runtime_options(draw):
    out = {}
    if draw.some(0.1):
        out["n_jobs"] = int(draw.one_of(1, 2))
    if draw.some(0.05):
        out["time_limit"] = float(draw.one_of(0.0, 1e-4, 0.01, 1e9))
    return out


FAR = {
    "max_terms": 10**30,
    "max_features": 10**30,
    "max_terms_per_feature": 10**30,
    "min_samples_bin": 10**30,
    "min_category_count": 10**30,
    "candidates": 10**30,
    "line_steps": 10**30,
    "lambda0": 1e308,
    "lambda1": 1e308,
    "lambda2": 1e308,
    "time_limit": 1e300,
}
"""Extremely large values, which must be accepted or rejected with a clear message."""


def extreme_option(draw, known):
    """Return one option with an extremely large value."""
    name = str(draw.rng.choice([name for name in FAR if name in known]))
    return {name: FAR[name]}


def table_options(draw):
    """Return options of additive models that restrict the terms."""
    makers = {
        "max_features": lambda: int(draw.one_of(1, 2, 5)),
        "max_terms_per_feature": lambda: int(draw.one_of(1, 2, 3)),
        "features_never": lambda: [draw.key(j) for j in draw.pick()],
        "feature_cost": lambda: {draw.key(j): draw.one_of(0.0, 0.5, 2, 1e6) for j in draw.pick()},
        "monotone": lambda: _monotone(draw),
        "min_samples_bin": lambda: int(draw.one_of(1, 2, 10, 1000)),
        "shapes": lambda: _shapes(draw),
        "interactions": lambda: _interactions(draw),
        "missing": lambda: draw.one_of(
            "mean", "last"
        ),  # "error" would reject rows of weight 0 when properties predict them
        "features_always": lambda: [draw.key(j) for j in draw.pick(2)],
    }
    out = {name: make() for name, make in makers.items() if draw.some(0.12)}
    if {"features_always", "features_never"} <= set(out):
        del out["features_never"]
    if "interactions" in out:
        out |= interaction_options(draw)
    return out | binning_options(draw)


def interaction_options(draw):
    """Return options for interactions."""
    makers = {
        "interaction_cost": lambda: draw.one_of("auto", 0.0, 1.0, 3),
        "hierarchy": lambda: draw.one_of(None, "weak", "strong"),
        "max_terms_per_pair": lambda: int(draw.one_of(1, 2)),
    }
    return {name: make() for name, make in makers.items() if draw.some(0.3)}


def _interactions(draw):
    if draw.some(0.7) or len(draw.columns) < 2:
        return draw.one_of(1, 3, "auto")
    first, second = draw.rng.choice(len(draw.columns), size=2, replace=False)
    return [(draw.key(int(first)), draw.key(int(second)))]


def binning_options(draw):
    """Return options for binning."""
    makers = {
        "max_bins": lambda: int(draw.one_of(2, 3, 10, 255, 256, 257, 65536)),
        "thresholds": lambda: _by_number(draw, lambda v: _thresholds(draw, v)),
        "special_values": lambda: _specials(draw),
        "categorical": lambda: [draw.key(j) for j in draw.pick(2) if _whole_numbers(draw.columns[j])],
        "min_category_count": lambda: int(draw.one_of(1, 2, 5, 100)),
    }
    out = {name: make() for name, make in makers.items() if draw.some(0.12)}
    if "categorical" in out:  # Thresholds and special values require numeric columns.
        for name in ("thresholds", "special_values"):
            out.pop(name, None)
    return out


def _numeric(column):
    return column.values.dtype.kind == "f"


def _whole_numbers(column):
    values = column.values
    return _numeric(column) and bool(np.isin(values, np.arange(-5, 6)).all())


def _monotone(draw):
    ordered = [column.kind not in NOT_ORDERED for column in draw.columns]
    if draw.some(0.3):
        return [int(draw.one_of(1, -1, 0)) if good else 0 for good in ordered]
    named = [j for j in draw.pick() if ordered[j]]
    return {draw.key(j): draw.one_of("increasing", "decreasing", 1, -1, None) for j in named}


def _shapes(draw):
    if draw.some():
        return draw.one_of("steps", "ramps", "both")
    return {draw.key(j): draw.one_of("steps", "ramps", "both") for j in draw.pick()}


def _by_number(draw, make):
    found = {}
    for j in draw.pick():
        if _numeric(draw.columns[j]):
            found[draw.key(j)] = make(draw.columns[j].values)
    return found


def _thresholds(draw, values):
    some = draw.rng.choice(values, draw.rng.integers(0, 5)).tolist()
    return [*some, *draw.one_of([], [0.5], [1e300, -1e300])]


def _specials(draw):
    if draw.some(0.5):
        return draw.one_of([0.0], [-9, 1], [np.nan, 2.0], [])
    return _by_number(draw, lambda v: np.unique(draw.rng.choice(v, 2)).tolist())


def search_options(draw, *, squared):
    """Return options that select a search algorithm."""
    if not draw.some(0.25):
        return {"certify": True} if draw.some(0.15) else {}
    out = {
        "search": "swap",
        "max_terms": int(draw.one_of(1, 5, 15)),
        **swap_options(draw),
    }  # larger models take minutes
    if squared:
        out["lambda0"] = draw.one_of(0.1, 1.0, 5.0)
    if draw.loss == "exponential":
        out["lambda2"] = 0.0
    return out


def swap_options(draw):
    makers = {
        "cuts": lambda: draw.one_of("auto", "none", "linear", "quadratic", "selfconcordant"),
        "order": lambda: draw.one_of("dynamic", "sequential"),
    }
    return {name: make() for name, make in makers.items() if draw.some(0.5)}


def swap_path_options(draw):
    """Return options of the paths of the swap search."""
    prices = draw.one_of(5.0, [5.0, 1.0], [0.1, 2.0, 2.0], (0.0,), 1, [1e-9, 1e9])
    out = {"lambda0": prices, "lambda2": draw.one_of(0.0, 1e-3, [0.0, 0.1], 10.0), **swap_options(draw)}
    if draw.loss == "exponential":
        out["lambda2"] = 0.0
    if draw.some():
        out["candidates"] = int(draw.one_of(0, 1, 3, 10**6))
    if draw.some():
        out["line_steps"] = int(draw.one_of(1, 2, 100))
    slow = (
        out.get("candidates") == 10**6 and out.get("line_steps") == 100
    )  # every column of every term is line-searched
    out["max_terms"] = int(draw.one_of(0, 1, 3, 10, 15)) if not slow else 3
    return out


def linear_options(draw):
    """Return options of linear models."""
    makers = {
        "lambda1": lambda: draw.one_of(0.0, 1e-6, 0.1, 10.0),
        "standardize": lambda: False,
        "fit_intercept": lambda: False,
        "coef_bounds": lambda: _bounds(draw),
        "unpenalized": lambda: [draw.key(j) for j in draw.pick(2)],
    }
    return {name: make() for name, make in makers.items() if draw.some(0.15)}


def _bounds(draw):
    p = len(draw.columns)
    each = (-np.round(draw.rng.exponential(size=p), 2), np.round(draw.rng.exponential(size=p), 2))
    return draw.one_of((0, np.inf), (-np.inf, 0.0), (-1.0, 1.0), (-1e-3, 1e3), (0, 0), each)
