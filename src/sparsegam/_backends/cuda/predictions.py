"""Scores of data on a card, by any model, without leaving the card."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.inputs import CardColumn, array_of, table_of
from sparsegam._data.columns import Column
from sparsegam._data.table import Table
from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.lookup import check_width, positions
from sparsegam._models.seen import NewValues
from sparsegam._models.shapes import ShapeFunction


def scores_on_card(model: Any, X: Any) -> Any:
    """Return the score of each row as an array of the card; with several classes, a column for each."""
    models = getattr(model, "models", (model,))
    if isinstance(models[0], LinearModel):
        out = [_linear(one, X) for one in models]
    else:
        table, new = table_of(X), NewValues()
        check_width(table, len(models[0].feature_names))
        out = [_additive(one, table, new) for one in models]
        new.tell(model.missing)
    return out[0] if models == (model,) else Card().xp.column_stack(out)


def labels_on_card(classes: NDArray[Any], best: Any) -> Any:
    """Return classes by position: on the card where they are numbers, as NumPy's where they are text."""
    card = Card()
    if classes.dtype.kind not in "biuf":
        return classes[card.fetch(best)]
    return card.xp.asarray(classes)[best]


def _additive(model: Model, table: Table, new: NewValues) -> Any:
    card = Card()
    place = dict(zip(model.features, positions(model.features, model.feature_names, table), strict=True))
    with card:
        score = card.xp.full(table.n_rows, model.intercept)
        for name, shape in model.shape_functions().items():
            score += _contribution(card, shape, table.column(place[name]), name, new)
        for pair in model.pair_functions().values():
            first, second = (
                _contribution(card, axis.cell, table.column(place[axis.name]), axis.name, new).astype(np.int64)
                for axis in pair.axes
            )
            score += card.upload(pair.values)[first, second]
        card.wait()
    return score


def _contribution(card: Card, shape: ShapeFunction, column: Column, name: str, new: NewValues) -> Any:
    """Return what a feature adds to the score of each row: `ShapeFunction.at`, with the arrays of a card."""
    if not isinstance(column, CardColumn) or shape.scale.has_levels:
        return card.upload(shape.at(column.on_scale(shape.scale)))
    xp, numbers = card.xp, column.numbers()
    piece = xp.searchsorted(card.upload(shape.edges), numbers) if shape.edges.size else xp.zeros(numbers.size, np.int64)
    missing = xp.isnan(numbers)
    out = card.upload(shape.values)[piece]
    if shape.has_slopes:
        slope, ends = card.upload(shape.slopes)[piece], card.upload(np.append(shape.edges, 0.0))[piece]
        low, high = np.minimum(shape.starts, shape.values), np.maximum(shape.starts, shape.values)
        sloped = out + xp.where(slope == 0.0, 0.0, slope * (numbers - ends))
        out = xp.clip(sloped, card.upload(low)[piece], card.upload(high)[piece])
    found = {"a missing value": 0 if shape.seen is None or shape.seen.missing else int(xp.count_nonzero(missing))}
    lacking = set() if shape.seen is None else set(shape.seen.lacks(shape.special, shape.scale))
    for value, contribution in shape.special.items():
        mine = numbers == value
        out = xp.where(mine, contribution, out)
        if value in lacking:
            found["a special value"] = found.get("a special value", 0) + int(xp.count_nonzero(mine))
    new.note(name, {kind: count for kind, count in found.items() if count})
    return xp.where(missing, shape.missing, out)


def _linear(model: LinearModel, X: Any) -> Any:
    card = Card()
    matrix = array_of(card, X)
    if matrix.ndim != 2 or matrix.shape[1] != model.n_features:
        msg = f"X has the shape {tuple(matrix.shape)}, but the model was fitted with {model.n_features} columns."
        raise ValueError(msg)
    with card:
        mine = matrix[:, card.upload(np.array(model.columns, dtype=np.int64))].astype(np.float64)
        if model.centres:
            mine = mine - card.upload(np.array(model.centres))
        start = model.centre_score if model.centres else model.intercept
        score = mine @ card.upload(np.array(model.weights, dtype=np.float64)) + start
        card.wait()
    return score
