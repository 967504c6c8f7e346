"""The features of a report: pieces to be drawn and evaluated in the page, with the density of the data."""

from dataclasses import replace
from typing import Any

import numpy as np

from sparsegam._data.columns import text
from sparsegam._models.additive import Model
from sparsegam._models.cells import Cells, cells_of
from sparsegam._models.pairs import PairFunction
from sparsegam._models.pieces import Piece, importance, pieces_of
from sparsegam._models.shapes import ShapeFunction
from sparsegam._models.terms import part_name
from sparsegam.arrays import FloatArray
from sparsegam.report._data import Material

DENSITY_BINS = 40
TAIL = 0.005  # share of rows at either end that may be beyond the picture and the slider


def features_part(material: Material) -> list[dict[str, Any]]:
    """Return the features in use, the most important first where the data are known."""
    model = material.model
    alone, shown = material.shapes, model.shape_functions(centred=None)
    features = []
    for place, name in enumerate(model.features):
        own = name in alone
        shape = alone[name] if own else _flat(model, name)
        part = _feature(name, place, shape, material.numbers(name)) | {"own": own, "prices": _prices(shape)}
        part |= named_part(material, name)
        features.append(part | (_shown(material, name, shape, shown[name]) if own else {"mean": 0.0, "pieces": []}))
    return sorted(features, key=lambda feature: -feature["importance"])


def function_part(shape: ShapeFunction) -> dict[str, Any]:
    """Return a function of one feature, as the page evaluates it."""
    return {
        "kind": shape.scale.kind,
        "levels": [text(level) for level in shape.scale.levels],
        "level_values": [shape.levels.get(level, shape.other) for level in shape.scale.levels],
        "unseen": shape.unseen,
        "edges": shape.edges.tolist(),
        "values": shape.values.tolist(),
        "slopes": shape.slopes.tolist(),
        "starts": shape.starts.tolist(),
        "special": [
            {"number": number, "label": text(shape.scale.value(number)), "value": value}
            for number, value in shape.special.items()
        ],
        "missing": shape.missing,
    }


def _flat(model: Model, name: str) -> ShapeFunction:
    """Return what a feature of pairs adds by itself: nothing, wherever a pair cuts it."""
    cell = next(axis.cell for pair in model.pair_functions().values() for axis in pair.axes if axis.name == name)
    zero, special = np.zeros(cell.values.size), dict.fromkeys(cell.special, 0.0)
    return replace(cell, values=zero, starts=zero, special=special, missing=0.0, levels={}, other=0.0, unseen=0.0)


def _feature(name: str, place: int, shape: ShapeFunction, numbers: FloatArray | None) -> dict[str, Any]:
    """Return one feature; `place` is its turn in the sum, so that the page adds up in the same order as Python."""
    low, high = _range(shape, numbers)
    return {
        "name": name,
        "place": place,
        **function_part(shape),
        "importance": _importance(shape, numbers),
        "range": [low, high],
        "density": _density(shape, numbers, (low, high)),
        "members": _members(shape, numbers),
        "start": _start(shape, numbers),
        "whole": numbers is not None and bool(np.all(np.mod(numbers[~np.isnan(numbers)], 1) == 0)),
    }


def named_part(material: Material, name: str) -> dict[str, Any]:
    """Return a feature as its readers know it."""
    label, unit = material.notes.named(name)
    return {"label": label, "unit": unit}


def _prices(shape: ShapeFunction) -> dict[str, Any] | None:
    """Return what a change costs by the rows that it passes, as `rows_between` has it; None without such rows."""
    if shape.seen is None or not shape.seen.upto:
        return None
    upto = np.cumsum([share for _, share in shape.seen.upto]).tolist()
    edges = [shape.scale.number(value) for value, _ in shape.seen.upto]
    return {"edges": edges, "upto": upto, "above": shape.seen.above}


def _shown(material: Material, name: str, shape: ShapeFunction, shown: ShapeFunction) -> dict[str, Any]:
    """Return what is read rather than added up: contributions against the mean, where the model knows it."""
    pieces = material.model.with_errors(name, pieces_of(shown, material.numbers(name)))
    mean = float(shape.values[-1] - shown.values[-1])
    return {"mean": mean, "pieces": [_piece(piece) for piece in pieces]}


def _piece(piece: Piece) -> dict[str, Any]:
    return {
        "kind": piece.kind,
        "label": piece.label,
        "value": piece.contribution,
        "start": piece.start,
        "slope": piece.slope,
        "count": piece.count,
        "drawn": piece.is_worth_drawing,
        "error": piece.error,
        "errors": list(piece.errors),
        "low": piece.low if np.isfinite(piece.low) else None,
        "high": piece.high if np.isfinite(piece.high) else None,
    }


def _importance(shape: ShapeFunction, numbers: FloatArray | None) -> float:
    if numbers is not None:
        return importance(shape.at(numbers))
    ends = [*shape.values, *shape.starts, *shape.special.values(), *shape.levels.values(), shape.missing, 0.0]
    return float(np.ptp(ends))


def _ordinary(shape: ShapeFunction, numbers: FloatArray | None) -> FloatArray:
    if numbers is None:
        return np.empty(0)
    return numbers[~(np.isnan(numbers) | np.isin(numbers, list(shape.special)))]


def _range(shape: ShapeFunction, numbers: FloatArray | None) -> tuple[float, float]:
    """Return the part of the scale to be shown: all edges, and nearly all rows."""
    seen, edges = _ordinary(shape, numbers), shape.edges
    ends = [*(np.quantile(seen, [TAIL, 1 - TAIL]) if seen.size else ()), *edges[:1], *edges[-1:]]
    if not ends:
        return 0.0, 1.0
    low, high = float(min(ends)), float(max(ends))
    width = (high - low) or 1.0
    beyond = 0.0 if seen.size else 0.1 * width
    return low - beyond, (high if high > low else low + width) + beyond


def _density(shape: ShapeFunction, numbers: FloatArray | None, limits: tuple[float, float]) -> dict[str, Any]:
    """Count the rows in bins of even width: one for each value, where these are whole and not many."""
    seen = _ordinary(shape, numbers)
    seen = seen[seen >= 0] if shape.scale.has_levels else seen
    if not seen.size or shape.scale.kind == "category":
        return {"counts": [], "ends": limits}
    low, high = limits
    discrete = shape.scale.has_levels or shape.scale.kind == "boolean"
    if discrete or (high - low < 1.5 * DENSITY_BINS and bool(np.all(seen % 1 == 0))):
        ends = (np.floor(low) - 0.5, (1.0 if discrete and high < 1 else np.ceil(high)) + 0.5)
        n_bins = round(ends[1] - ends[0])
    else:
        ends, n_bins = limits, DENSITY_BINS
    return {"counts": np.histogram(seen, bins=n_bins, range=ends)[0].tolist(), "ends": [float(end) for end in ends]}


def _members(shape: ShapeFunction, numbers: FloatArray | None) -> list[list[Any]]:
    """Return the levels of a category that no term names, each with its rows."""
    if shape.scale.kind != "category":
        return []
    known = np.zeros(0, dtype=np.intp) if numbers is None else numbers[numbers >= 0].astype(np.intp)
    counts = np.bincount(known, minlength=len(shape.scale.levels)).tolist()
    pairs = zip(shape.scale.levels, counts, strict=True)
    return [[text(level), None if numbers is None else n] for level, n in pairs if level not in shape.levels]


def _start(shape: ShapeFunction, numbers: FloatArray | None) -> float | None:
    """Return a value for the form to start with: one in the middle of the data, or the most frequent level."""
    seen = _ordinary(shape, numbers)
    if shape.scale.has_levels:
        known = seen[seen >= 0].astype(np.intp)
        return float(np.bincount(known).argmax()) if known.size else 0.0
    if seen.size:
        return float(np.quantile(seen, 0.5, method="lower"))
    return float(shape.edges[0]) if shape.edges.size else None


def pairs_part(material: Material) -> list[dict[str, Any]]:
    """Return the pairs of features with products, in the order of the sum."""
    return [_pair(material, pair) for pair in material.model.pair_functions().values()]


def _pair(material: Material, pair: PairFunction) -> dict[str, Any]:
    """Return one pair: what gives the cell of a value of each feature, what is added, and what is read of it."""
    names, columns = pair.names, [material.numbers(name) for name in pair.names]
    numbers = {name: column for name, column in zip(names, columns, strict=True) if column is not None}
    labels = [material.notes.named(name)[0] for name in names]
    cells = cells_of(material.model, names, numbers or None, centred=None)
    return {
        "name": part_name(names),
        "names": list(names),
        "label": part_name((labels[0], labels[1])),
        "labels": labels,
        "cells": [function_part(axis.cell) for axis in pair.axes],
        "values": pair.values.tolist(),
        "mean": pair.mean() if material.model.is_centred() else 0.0,
        "importance": _cell_importance(cells),
        "grid": _grid(cells),
    }


def _cell_importance(cells: Cells) -> float:
    """Return the mean distance from the mean over the rows or, for want of them, the distance of the extremes."""
    known = cells.shares if cells.counts is None else cells.counts.astype(np.float64)
    return float(np.ptp(cells.adds)) if known is None else importance(cells.adds, known)


def _grid(cells: Cells) -> dict[str, Any]:
    """Return the cells as they are drawn and listed; of values that no row had only the list tells."""
    drawn = cells.worth_drawing()
    return {
        "labels": [list(labels) for labels in cells.labels],
        "drawn": [[label in kept for label in labels] for labels, kept in zip(cells.labels, drawn.labels, strict=True)],
        "adds": cells.adds.tolist(),
        "counts": None if cells.counts is None else cells.counts.tolist(),
        "errors": None if cells.errors is None else cells.errors.tolist(),
    }
