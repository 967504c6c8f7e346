"""The pairs of a report: the cells of two features, to be drawn and evaluated in the page."""

from typing import Any

import numpy as np

from sparsegam._models.cells import Cells, cells_of
from sparsegam._models.pairs import PairFunction
from sparsegam._models.pieces import importance
from sparsegam._models.terms import part_name
from sparsegam.report.features import function_part
from sparsegam.report.material import Material


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
        "importance": _importance(cells),
        "grid": _grid(cells),
    }


def _importance(cells: Cells) -> float:
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
