"""The features of a report: pieces to be drawn and evaluated in the page, with the density of the data."""

from typing import Any

import numpy as np

from sparsegam._data.columns import text
from sparsegam._models.additive import importance
from sparsegam._models.bin_tables import BinRow, PairGrid, bin_rows, pair_grid
from sparsegam._models.functions import Bins, FittedFunction
from sparsegam._models.terms import part_name
from sparsegam.arrays import FloatArray
from sparsegam.report._data import Material

DENSITY_BINS = 40
TAIL = 0.005  # share of rows at either end that may be beyond the picture and the slider


def features_part(material: Material) -> list[dict[str, Any]]:
    """Return the features of the model, the most important first if data are given."""
    model = material.model
    functions, centred = model.shape_functions(), model.shape_functions(centred=None)
    features = []
    for place, bins in enumerate(model.score_function.inputs):
        name = bins.feature
        function = functions.get(name)
        part = _feature(place, bins, function, material.numbers(name))
        part |= {"own": function is not None, "prices": _prices(bins)} | named_part(material, name)
        if function is None:
            part |= {"mean": 0.0, "pieces": []}
        else:
            rows = bin_rows(model, name, material.numbers(name), centred=None)
            mean = float(function.contributions[-1] - centred[name].contributions[-1])
            part |= {"mean": mean, "pieces": [_row(row) for row in rows]}
        features.append(part)
    return sorted(features, key=lambda feature: -feature["importance"])


def function_part(bins: Bins, results: FloatArray, slopes: FloatArray, starts: FloatArray) -> dict[str, Any]:
    """Return the result of each bin of a feature, as the page evaluates it."""
    inside = slice(bins.first_interval, bins.first_interval + bins.edges.size + 1)
    levels = np.arange(len(bins.scale.levels), dtype=np.float64)
    special = bins.special
    of_special = zip(special.tolist(), results[bins.bin_of(special)].tolist(), strict=True)
    return {
        "kind": bins.scale.kind,
        "levels": [text(level) for level in bins.scale.levels],
        "level_values": results[bins.bin_of(levels)].tolist(),
        "unseen": float(results[-1]),
        "edges": bins.edges.tolist(),
        "values": results[inside].tolist(),
        "slopes": slopes[inside].tolist(),
        "starts": starts[inside].tolist(),
        "special": [
            {"number": number, "label": text(bins.scale.value(number)), "value": value} for number, value in of_special
        ],
        "missing": float(results[0]),
    }


def _feature(place: int, bins: Bins, function: FittedFunction | None, numbers: FloatArray | None) -> dict[str, Any]:
    """Return one feature; `place` is its position in the sum, so that the page adds in the same order as Python."""
    zero = np.zeros(len(bins))
    results, slopes, starts = (zero, zero, zero)
    if function is not None:
        results, slopes, starts = function.contributions, function.slopes, function.starts
    low, high = _range(bins, numbers)
    return {
        "name": bins.feature,
        "place": place,
        **function_part(bins, results, slopes, starts),
        "importance": _importance(function, numbers),
        "range": [low, high],
        "density": _density(bins, numbers, (low, high)),
        "members": _members(bins, numbers),
        "start": _start(bins, numbers),
        "whole": numbers is not None and bool(np.all(np.mod(numbers[~np.isnan(numbers)], 1) == 0)),
    }


def named_part(material: Material, name: str) -> dict[str, Any]:
    """Return a feature as its readers know it."""
    label, unit = material.notes.named(name)
    return {"label": label, "unit": unit}


def _prices(bins: Bins) -> dict[str, Any] | None:
    """Return the cumulative share of the training rows at each threshold; None if it is unknown."""
    if bins.seen is None or not bins.seen.upto:
        return None
    upto = np.cumsum([share for _, share in bins.seen.upto]).tolist()
    edges = [bins.scale.number(value) for value, _ in bins.seen.upto]
    return {"edges": edges, "upto": upto, "above": bins.seen.above}


def _row(row: BinRow) -> dict[str, Any]:
    return {
        "kind": "step" if row.kind == "interval" else row.kind,
        "label": row.label,
        "value": row.contribution,
        "start": row.start,
        "slope": row.slope,
        "count": row.count,
        "drawn": row.is_drawn,
        "error": row.error,
        "errors": list(row.errors) if row.slope else [],
        "low": row.low if np.isfinite(row.low) else None,
        "high": row.high if np.isfinite(row.high) else None,
    }


def _importance(function: FittedFunction | None, numbers: FloatArray | None) -> float:
    """Return the mean deviation from the mean over the data or, without data, the range of the contributions."""
    if function is None:
        return 0.0
    return float(np.ptp(np.append(function.ends, 0.0))) if numbers is None else importance(function.at(numbers))


def _ordinary(bins: Bins, numbers: FloatArray | None) -> FloatArray:
    if numbers is None:
        return np.empty(0)
    return numbers[~(np.isnan(numbers) | np.isin(numbers, bins.special))]


def _range(bins: Bins, numbers: FloatArray | None) -> tuple[float, float]:
    """Return the part of the scale to be shown: all edges, and nearly all rows."""
    seen, edges = _ordinary(bins, numbers), bins.edges
    ends = [*(np.quantile(seen, [TAIL, 1 - TAIL]) if seen.size else ()), *edges[:1], *edges[-1:]]
    if not ends:
        return 0.0, 1.0
    low, high = float(min(ends)), float(max(ends))
    width = (high - low) or 1.0
    beyond = 0.0 if seen.size else 0.1 * width
    return low - beyond, (high if high > low else low + width) + beyond


def _density(bins: Bins, numbers: FloatArray | None, limits: tuple[float, float]) -> dict[str, Any]:
    """Count the rows in bins of even width: one for each value, where these are whole and not many."""
    seen = _ordinary(bins, numbers)
    seen = seen[seen >= 0] if bins.scale.has_levels else seen
    if not seen.size or bins.scale.kind == "category":
        return {"counts": [], "ends": limits}
    low, high = limits
    discrete = bins.scale.has_levels or bins.scale.kind == "boolean"
    if discrete or (high - low < 1.5 * DENSITY_BINS and bool(np.all(seen % 1 == 0))):
        ends = (np.floor(low) - 0.5, (1.0 if discrete and high < 1 else np.ceil(high)) + 0.5)
        n_bins = round(ends[1] - ends[0])
    else:
        ends, n_bins = limits, DENSITY_BINS
    return {"counts": np.histogram(seen, bins=n_bins, range=ends)[0].tolist(), "ends": [float(end) for end in ends]}


def _members(bins: Bins, numbers: FloatArray | None) -> list[list[Any]]:
    """Return the levels of a category that no term names, each with its rows."""
    if bins.scale.kind != "category":
        return []
    known = np.zeros(0, dtype=np.intp) if numbers is None else numbers[numbers >= 0].astype(np.intp)
    levels = bins.scale.levels
    counts = np.bincount(known, minlength=len(levels)).tolist()
    kinds = [bins.bins[i].kind for i in bins.bin_of(np.arange(len(levels), dtype=np.float64))]
    rows = zip(levels, counts, kinds, strict=True)
    return [[text(level), None if numbers is None else n] for level, n, kind in rows if kind == "other"]


def _start(bins: Bins, numbers: FloatArray | None) -> float | None:
    """Return a value for the form to start with: one in the middle of the data, or the most frequent level."""
    seen = _ordinary(bins, numbers)
    if bins.scale.has_levels:
        known = seen[seen >= 0].astype(np.intp)
        return float(np.bincount(known).argmax()) if known.size else 0.0
    if seen.size:
        return float(np.quantile(seen, 0.5, method="lower"))
    return float(bins.edges[0]) if bins.edges.size else None


def pairs_part(material: Material) -> list[dict[str, Any]]:
    """Return the interactions of the model, in the order of the sum."""
    return [_pair(material, function) for function in material.model.score_function.of_pairs]


def _pair(material: Material, function: FittedFunction) -> dict[str, Any]:
    names = function.pair
    columns = {name: material.numbers(name) for name in names}
    known = {name: column for name, column in columns.items() if column is not None}
    labels = [material.notes.named(name)[0] for name in names]
    grid = pair_grid(material.model, names, known or None, centred=None)
    return {
        "name": function.name,
        "names": list(names),
        "label": part_name((labels[0], labels[1])),
        "labels": labels,
        "cells": [_bin_numbers(bins) for bins in function.axes],
        "values": function.contributions.tolist(),
        "mean": function.mean if material.model.is_centred() else 0.0,
        "importance": _grid_importance(grid),
        "grid": _grid(grid),
    }


def _bin_numbers(bins: Bins) -> dict[str, Any]:
    """Return a function whose result is the number of the bin."""
    numbers = np.arange(len(bins), dtype=np.float64)
    return function_part(bins, numbers, np.zeros(len(bins)), numbers)


def _grid_importance(grid: PairGrid) -> float:
    weight = grid.shares if grid.counts is None else grid.counts.astype(np.float64)
    return float(np.ptp(grid.contributions)) if weight is None else importance(grid.contributions, weight)


def _grid(grid: PairGrid) -> dict[str, Any]:
    return {
        "labels": [list(labels) for labels in grid.labels],
        "drawn": list(grid.is_drawn),
        "adds": grid.contributions.tolist(),
        "counts": None if grid.counts is None else grid.counts.tolist(),
        "errors": None if grid.errors is None else grid.errors.tolist(),
    }
