"""Generate a random case (an estimator or path function, its options and its data) from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz import layouts, options, targets
from fuzz.calls import known_options
from fuzz.columns import RawColumn, draw_columns

KINDS = {
    "SparseGAMClassifier": 20,
    "SparseGAMRegressor": 18,
    "SparseLinearClassifier": 14,
    "SparseLinearRegressor": 14,
    "SparseGAMClassifierCV": 2,
    "SparseGAMRegressorCV": 2,
    "SparseLinearClassifierCV": 2,
    "SparseLinearRegressorCV": 2,
    "gam_path": 7,
    "linear_path": 7,
    "swap_path": 5,
    "linear_swap_path": 4,
    "ThresholdBinner": 3,
}
SIZES = ((1, 2), (2, 3), (3, 13), (13, 80), (80, 400), (2000, 2001))
SHARES = (0.02, 0.03, 0.2, 0.5, 0.23, 0.02)
WEAK = 1e-6  # with a weaker ridge, coefficients of separable data grow very large
FREE = 0.05  # below this penalty nearly all candidate terms are selected
TINY = 13  # with fewer rows, a fold may lack a class


@dataclass(eq=False)
class Case:
    """One case. `doubts` are reasons why it may raise; with a `harm` it must raise."""

    seed: int
    kind: str
    loss: str
    columns: list[RawColumn]
    layout: str
    y: np.ndarray | None
    weight: np.ndarray | None
    options: dict[str, Any]
    y_as: str = "array"
    how: dict[str, str] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    harm: Any = None  # a function of `hostile` that corrupts the call

    @property
    def n(self) -> int:
        return self.columns[0].values.size

    @property
    def is_linear(self) -> bool:
        return "inear" in self.kind

    @property
    def is_swap(self) -> bool:
        return "swap" in self.kind or self.options.get("search") == "swap"

    @property
    def is_path(self) -> bool:
        return self.kind.endswith("_path")

    @property
    def is_cv(self) -> bool:
        return self.kind.endswith("CV")

    @property
    def is_timed(self) -> bool:
        return self.options.get("time_limit") is not None

    @property
    def is_well_conditioned(self) -> bool:
        """Whether all numbers have ordinary magnitudes and all coefficients are finite.

        In other cases the search depends on rounding errors or on ties between equally good models.
        """
        wild = ("scaled", "far_from_zero", "heavy_tailed", "constant")
        mild = self.how.get("weight") not in ("huge", "tiny", "wide") and self.how.get("y") not in ("scaled", "offset")
        columns = not self.is_linear or not any(word in column.kind for column in self.columns for word in wild)
        return self.n >= 20 and mild and columns and self.is_bounded

    @property
    def n_positive_weight(self) -> int:
        """Number of rows with positive weight."""
        return self.n if self.weight is None else int(np.count_nonzero(np.asarray(self.weight) > 0))

    @property
    def is_bounded(self) -> bool:
        """Whether coefficients are finite: without a ridge, those of separable classes diverge."""
        apart = self.how.get("y", "").startswith(("rare", "separable"))
        return self.squared or (bool(np.min(self.options.get("lambda2", 1e-3)) > WEAK) and not apart)

    @property
    def squared(self) -> bool:
        return self.loss == "squared"

    @property
    def names(self) -> list[str]:
        """Names of the columns, as used by models."""
        if self.layout in layouts.FRAMES:
            return [column.name for column in self.columns]
        return [f"x{j}" for j in range(len(self.columns))]

    def position(self, key: Any) -> int:
        return self.names.index(key) if isinstance(key, str) else int(key)

    def table(self, rows=None, order=None):
        """Return X for selected rows and columns."""
        columns = self.columns if order is None else [self.columns[j] for j in order]
        return layouts.build([column.take(rows) for column in columns], self.layout)

    def target(self, rows=None):
        return targets.wrap(self.y if rows is None or self.y is None else self.y[rows], self.y_as)

    def describe(self) -> str:
        """Return a readable description of the case."""
        kinds = ", ".join(f"{name!r}: {column.kind}" for name, column in zip(self.names, self.columns, strict=True))
        lines = [
            f"case {self.seed}: {self.kind}, {self.loss}, {self.n} rows as {self.layout}",
            f"  options: {self.options}",
            f"  columns: {kinds}",
            f"  y: {self.how.get('y')}; weights: {self.how.get('weight')}; y as {self.y_as}",
        ]
        if self.doubts:
            lines.append(f"  may raise: {'; '.join(self.doubts)}")
        if self.harm is not None:
            lines.append(f"  must raise: {self.harm.__name__}")
        return "\n".join(lines)


def draw_case(seed: int) -> Case:
    """Return the case of a seed."""
    rng = np.random.default_rng([20260, seed])
    kind = str(rng.choice(list(KINDS), p=np.array(list(KINDS.values())) / sum(KINDS.values())))
    linear = "inear" in kind
    loss = _draw_loss(rng, kind)
    layout = str(rng.choice(layouts.MATRICES if linear else layouts.TABLES))
    n, p = _draw_shape(rng, kind)
    columns = draw_columns(
        rng,
        n,
        p,
        kinds=() if linear else layouts.holds(layout),
        missing=not linear and layout not in ("int", "bool"),
        most=layouts.MOST.get(layout, 1e50),
        binary_only=linear and loss == "exponential",
    )
    columns = [_in_precision_of(column, layout) for column in columns]
    case = Case(seed, kind, loss, columns, layout, None, None, {})
    _draw_target(rng, case)
    draw = options.Draw(rng, columns, layout in layouts.FRAMES, loss)
    case.options = _draw_options(draw, case)
    case.doubts = list(_doubts(case))
    if rng.random() < 0.02:
        case.options |= options.extreme_option(draw, known_options(kind))
        case.doubts.append("an option is far beyond any use")
    return case


def _draw_loss(rng, kind):
    if "Regressor" in kind:
        return "squared"
    classifier = ["logistic", "exponential"]
    return str(rng.choice(classifier if "Classifier" in kind else [*classifier, "squared"]))


def _draw_shape(rng, kind):
    low, high = SIZES[rng.choice(len(SIZES), p=SHARES)]
    n = int(rng.integers(low, high))
    p = int(rng.integers(1, 9)) if rng.random() < 0.9 else 30
    if kind.endswith("CV"):
        n, p = max(min(n, 150), 5), min(p, 5)
    return n, p


def _in_precision_of(column, layout):
    """Return the column after conversion to the precision of its layout, which the search uses too."""
    if column.values.dtype.kind != "f":
        return column
    values = column.values
    if layout in ("float32", "csc32"):
        values = values.astype(np.float32).astype(np.float64)
    elif layout == "int":
        values = np.nan_to_num(values).astype(np.int64).astype(np.float64)
    elif layout == "bool":
        values = (np.nan_to_num(values) > 0).astype(np.float64)
    return RawColumn(column.name, column.kind, values)


def _draw_target(rng, case):
    score = targets.signal(rng, case.columns, case.n)
    if case.kind == "ThresholdBinner":
        case.how["weight"], case.weight = targets.draw_weights(rng, case.n)
        return
    if case.squared:
        case.how["y"], case.y = targets.draw_numeric_target(rng, score)
    else:
        many = "Classifier" in case.kind and rng.random() < 0.15
        n_classes = int(rng.integers(3, 5)) if many else 2
        how, index = targets.draw_labels(rng, score, n_classes)
        kind, case.y = targets.name_labels(rng, index, n_classes)
        case.how["y"] = f"{how} {kind}, {n_classes} classes"
    case.how["weight"], case.weight = targets.draw_weights(rng, case.n)
    case.y_as = targets.wrapped(rng, case.y)


def _draw_options(draw, case):
    if case.kind == "ThresholdBinner":
        return options.binning_options(draw)
    out = {} if case.squared and not case.is_path else {"loss": case.loss}
    if "swap" in case.kind:
        asked = {} if case.is_linear else options.table_options(draw)
        for name in ("shapes", "interactions", "interaction_cost", "hierarchy", "max_terms_per_pair"):
            asked.pop(name, None)  # The search of the paper supports steps only.
        return out | asked | options.swap_path_options(draw)
    out |= options.ridge_options(draw) | options.runtime_options(draw)
    out |= options.linear_options(draw) if case.is_linear else options.table_options(draw)
    if case.is_path or case.is_cv:
        out["max_terms"] = int(draw.one_of(0, 1, 3, 10))
    else:
        out |= options.penalty_options(draw)
    if case.is_cv:
        out |= {"cv": int(draw.one_of(2, 3)), "rule": draw.one_of("one_se", "best")}
    elif not case.is_linear and not case.is_path:
        out |= options.search_options(draw, squared=case.squared)
    if not case.squared and ("Classifier" in case.kind or case.kind == "linear_path") and draw.some(0.1):
        out["class_weight"] = "balanced"
    most = _max_terms(out)
    if most is not None:
        out["max_terms"] = min(most if out.get("max_terms") is None else out["max_terms"], most)
    return out


def _max_terms(given):
    """Return the largest number of terms for cases that could take more than a minute.

    Without a penalty, or with "aic", hundreds of terms are selected and one fit takes ten seconds. A certificate refits
    every term against every column, which is slow without a ridge if the coefficients of separable data diverge.
    """
    if given.get("certify"):
        ridge = given.get("lambda2", 1)
        return 100 if not isinstance(ridge, float) or ridge > WEAK else 5
    lambda0 = given.get("lambda0", "bic")
    free = lambda0 < FREE if isinstance(lambda0, int | float) else lambda0 == "aic"
    return 100 if free or 0.0 in (given.get("feature_cost") or {}).values() else None


def _doubts(case):
    """Yield reasons why a case with valid options may still raise."""
    weight = np.ones(case.n) if case.weight is None else case.weight
    if not weight.any():
        yield "no row has weight"
    if case.y is not None and not case.squared and np.unique(case.y[weight > 0]).size < 2:
        yield "one class only"
    if case.is_cv and not case.squared:
        rows = min((np.count_nonzero((case.y == label) & (weight > 0)) for label in np.unique(case.y)), default=0)
        if rows < TINY or np.unique(case.y).size > 2:
            yield "a fold may lack a class"
    if case.is_cv and (weight == 0).any():
        yield "a fold may lack weight"
    yield from _doubts_about_options(case)


def _doubts_about_options(case):
    given = case.options
    if "features_always" in given:
        yield "a feature that must be in may have no term, or too many"
    if "unpenalized" in given and given.get("max_terms") is not None and len(given["unpenalized"]) > given["max_terms"]:
        yield "no room for unpenalized columns"
    if given.get("shapes", "steps") != "steps" and (given.get("certify") or case.is_swap):
        yield "ramps have no certificate, and no place in the paper's search"
    if given.get("interactions") and (given.get("certify") or case.is_swap):
        yield "products have no certificate, and no place in the paper's search"
    if "categorical" in given:
        yield "categories may have no order that another option needs"
    if case.loss == "exponential" and case.is_linear:
        yield "columns may have more than two values"
