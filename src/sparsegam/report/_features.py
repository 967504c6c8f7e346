"""Report content on features and interactions: curves to draw, and functions for the scoring form."""

from typing import Any

import numpy as np

from sparsegam._data.columns import text
from sparsegam._models.additive import importance
from sparsegam._models.bin_tables import (
    HISTOGRAM_BINS,
    TAIL,
    BinRow,
    bin_rows,
    histogram,
    ordinary_values,
    pair_grid,
    value_range,
)
from sparsegam._models.functions import Bins, FittedFunction
from sparsegam._models.linear import LinearModel
from sparsegam._models.terms import part_name
from sparsegam.arrays import FloatArray
from sparsegam.report._data import ReportData

# Number of quantiles that describe the distribution of a column of a linear model, for the costs of counterfactuals.
N_QUANTILES = 11


def features_content(report: ReportData) -> list[dict[str, Any]]:
    """Return the features of the model, the most important first if the training data are given."""
    functions, centred = report.model.shape_functions(), report.model.shape_functions(centred=None)
    features = []
    for position, bins in enumerate(report.model.score_function.inputs):
        name = bins.feature
        function, numbers = functions.get(name), report.numbers(name)
        content = {"position": position} | _feature_content(report, bins, function, numbers)
        content |= {"has_main_effect": function is not None, "mean": 0.0, "pieces": []}
        if function is not None:
            rows = bin_rows(report.model, name, numbers, centred=None)
            content["mean"] = float(function.contributions[-1] - centred[name].contributions[-1])
            content["pieces"] = [_piece_content(row) for row in rows]
        features.append(content)
    return sorted(features, key=lambda feature: -feature["importance"])


def _feature_content(
    report: ReportData, bins: Bins, function: FittedFunction | None, numbers: FloatArray | None
) -> dict[str, Any]:
    label, unit = report.annotations.label_and_unit(bins.feature)
    zero = np.zeros(len(bins))
    if function is None:
        evaluated = _function_content(bins, zero, zero, zero)
    else:
        evaluated = _function_content(bins, function.contributions, function.slopes, function.starts)
    limits = _axis_limits(bins, numbers)
    return {
        "name": bins.feature,
        "label": label,
        "unit": unit,
        **evaluated,
        "importance": _importance(function, numbers),
        "range": list(limits),
        "histogram": _histogram(bins, numbers, limits),
        "distribution": _distribution(bins),
        "other_levels": _other_levels(bins, numbers),
        "initial": _initial_value(bins, numbers),
        "is_whole": numbers is not None and bool(np.all(np.mod(numbers[~np.isnan(numbers)], 1) == 0)),
    }


def _function_content(bins: Bins, values: FloatArray, slopes: FloatArray, starts: FloatArray) -> dict[str, Any]:
    """Return a function of one feature, given its values in the bins, in the form that the page evaluates."""
    intervals = slice(bins.first_interval, bins.first_interval + bins.edges.size + 1)
    levels = np.arange(len(bins.scale.levels), dtype=np.float64)
    special_values = zip(bins.special.tolist(), values[bins.bin_of(bins.special)].tolist(), strict=True)
    return {
        "kind": bins.scale.kind,
        "levels": [text(level) for level in bins.scale.levels],
        "level_values": values[bins.bin_of(levels)].tolist(),
        "unseen": float(values[-1]),
        "edges": bins.edges.tolist(),
        "values": values[intervals].tolist(),
        "slopes": slopes[intervals].tolist(),
        "starts": starts[intervals].tolist(),
        "special": [
            {"number": number, "label": text(bins.scale.value(number)), "value": value}
            for number, value in special_values
        ],
        "missing": float(values[0]),
    }


def _piece_content(row: BinRow) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "label": row.label,
        "value": row.contribution,
        "start": row.start,
        "slope": row.slope,
        "count": row.count,
        "drawn": row.is_drawn,
        "error": row.error,
        "errors": list(row.errors) if row.slope else [],
        "interval": None if row.interval is None else [end.tolist() for end in row.interval],
        "low": row.low if np.isfinite(row.low) else None,
        "high": row.high if np.isfinite(row.high) else None,
    }


def _importance(function: FittedFunction | None, numbers: FloatArray | None) -> float:
    """Return the mean distance of the contributions from their mean or, without data, their range."""
    if function is None:
        return 0.0
    return float(np.ptp(np.append(function.ends, 0.0))) if numbers is None else importance(function.at(numbers))


def _distribution(bins: Bins) -> dict[str, Any] | None:
    """Return the cumulative share of the training rows at each threshold, if known."""
    if bins.distribution is None or not bins.distribution.upto:
        return None
    return {
        "edges": [bins.scale.number(value) for value, _ in bins.distribution.upto],
        "below": np.cumsum([share for _, share in bins.distribution.upto]).tolist(),
        "above": bins.distribution.above,
    }


def _axis_limits(bins: Bins, numbers: FloatArray | None) -> tuple[float, float]:
    low, high = value_range(bins, numbers)
    high = high if high > low else low + 1.0
    margin = 0.0 if ordinary_values(bins, numbers).size else 0.1 * (high - low)
    return low - margin, high + margin


def _histogram(bins: Bins, numbers: FloatArray | None, limits: tuple[float, float]) -> dict[str, Any]:
    if numbers is None or bins.scale.kind == "category":
        return {"counts": [], "ends": limits}
    counts, ends = histogram(bins, numbers, limits)
    return {"counts": counts.tolist(), "ends": [float(ends[0]), float(ends[-1])]}


def _other_levels(bins: Bins, numbers: FloatArray | None) -> list[tuple[str, int | None]]:
    """Return the levels of a category that have no term, with their numbers of rows."""
    if bins.scale.kind != "category":
        return []
    levels = bins.scale.levels
    known = np.zeros(0, dtype=np.intp) if numbers is None else numbers[numbers >= 0].astype(np.intp)
    counts = np.bincount(known, minlength=len(levels)).tolist()
    kinds = [bins.bins[i].kind for i in bins.bin_of(np.arange(len(levels), dtype=np.float64))]
    rows = zip(levels, counts, kinds, strict=True)
    return [(text(level), None if numbers is None else n) for level, n, kind in rows if kind == "other"]


def _initial_value(bins: Bins, numbers: FloatArray | None) -> float | None:
    """Return the first value in the form: the median, or the most frequent level."""
    values = ordinary_values(bins, numbers)
    if bins.scale.has_levels:
        known = values[values >= 0].astype(np.intp)
        return float(np.bincount(known).argmax()) if known.size else 0.0
    if values.size:
        return float(np.quantile(values, 0.5, method="lower"))
    return float(bins.edges[0]) if bins.edges.size else None


def interactions_content(report: ReportData) -> list[dict[str, Any]]:
    """Return the interactions of the model in the order in which they are added up."""
    return [_interaction_content(report, function) for function in report.model.score_function.of_pairs]


def _interaction_content(report: ReportData, function: FittedFunction) -> dict[str, Any]:
    names = function.pair
    first, second = (report.annotations.label_and_unit(name)[0] for name in names)
    columns = {name: report.numbers(name) for name in names}
    known = {name: column for name, column in columns.items() if column is not None}
    grid = pair_grid(report.model, names, known or None, centred=None)
    weight = grid.shares if grid.counts is None else grid.counts.astype(np.float64)
    return {
        "name": function.name,
        "names": list(names),
        "label": part_name((first, second)),
        "labels": [first, second],
        "bins": [_bin_number_content(bins) for bins in function.axes],
        "contributions": function.contributions.tolist(),
        "mean": function.mean if report.model.is_centred() else 0.0,
        "importance": float(np.ptp(grid.contributions)) if weight is None else importance(grid.contributions, weight),
        "grid": {
            "labels": [list(labels) for labels in grid.labels],
            "drawn": list(grid.is_drawn),
            "contributions": grid.contributions.tolist(),
            "counts": None if grid.counts is None else grid.counts.tolist(),
            "errors": None if grid.errors is None else grid.errors.tolist(),
            "interval": None if grid.interval is None else [end.tolist() for end in grid.interval],
        },
    }


def _bin_number_content(bins: Bins) -> dict[str, Any]:
    """Return a function whose value is the number of the bin."""
    numbers = np.arange(len(bins), dtype=np.float64)
    return _function_content(bins, numbers, np.zeros(len(bins)), numbers)


def linear_features_content(report: ReportData, model: LinearModel) -> list[dict[str, Any]]:
    """Return the columns of a linear model as features with a single ramp, the most important first."""
    columns = None if report.train is None else model.values_in_use(report.train.table)
    centres = model.centres or (0.0,) * model.n_terms
    features = []
    for position, ((name, weight), centre) in enumerate(zip(model.terms, centres, strict=True)):
        values = None if columns is None else columns[:, position]
        features.append({"position": position} | _linear_feature_content(report, name, weight, centre, values))
    return sorted(features, key=lambda feature: -feature["importance"])


def _linear_feature_content(
    report: ReportData, name: str, weight: float, centre: float, values: FloatArray | None
) -> dict[str, Any]:
    label, unit = report.annotations.label_and_unit(name)
    sample = np.array([0.0, 1.0]) if values is None else values
    low, high = map(float, np.quantile(sample, [TAIL, 1 - TAIL]))
    high = high if high > low else low + 1.0
    edges = np.unique(np.quantile(sample, np.linspace(0, 1, N_QUANTILES)))
    below = np.searchsorted(np.sort(sample), edges, side="right") / sample.size
    mean = 0.0 if values is None else weight * float(values.mean() - centre)
    counts = [] if values is None else np.histogram(sample, bins=HISTOGRAM_BINS, range=(low, high))[0].tolist()
    piece = {
        "kind": "interval",
        "label": "any value",
        "value": weight * (high - centre) - mean,
        "start": weight * (low - centre) - mean,
        "slope": weight,
        "count": None if values is None else values.size,
        "drawn": True,
        "error": None,
        "errors": [],
        "interval": None,
        "low": low,
        "high": high,
    }
    return {
        "name": name,
        "label": label,
        "unit": unit,
        "has_main_effect": True,
        "kind": "number",
        "weight": weight,
        "centre": centre,
        "levels": [],
        "level_values": [],
        "other_levels": [],
        "edges": edges.tolist(),
        "values": [0.0] * (edges.size + 1),
        "slopes": [0.0, *[weight] * (edges.size - 1), 0.0],
        "starts": [],
        "special": [],
        "missing": None,
        "mean": mean,
        "importance": abs(weight) * float(np.mean(np.abs(sample - sample.mean()))),
        "range": [low, high],
        "histogram": {"counts": counts, "ends": [low, high]},
        "initial": float(np.quantile(sample, 0.5, method="lower")),
        "is_whole": values is not None and bool(np.all(sample % 1 == 0)),
        "distribution": None if values is None else {"edges": edges.tolist(), "below": below.tolist(), "above": 0.0},
        "pieces": [piece],
    }
