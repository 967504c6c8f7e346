"""Scores of data on a device, by any model, without leaving the device."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.device import Device
from sparsegam._backends.cuda.inputs import DeviceColumn, device_array, read_device_table
from sparsegam._data.columns import Column
from sparsegam._data.table import Table
from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.lookup import check_width, positions
from sparsegam._models.seen import NewValues
from sparsegam._models.shapes import ShapeFunction


def device_scores(model: Any, X: Any) -> Any:
    """Return the score of each row as an array of the device; with several classes, a column for each."""
    models = getattr(model, "models", (model,))
    if isinstance(models[0], LinearModel):
        out = [_linear(one, X) for one in models]
    else:
        table, new = read_device_table(X), NewValues()
        check_width(table, len(models[0].feature_names))
        out = [_additive(one, table, new) for one in models]
        new.tell(model.missing)
    return out[0] if models == (model,) else Device().xp.column_stack(out)


def device_labels(classes: NDArray[Any], best: Any) -> Any:
    """Return classes by position: on the device where they are numbers, as NumPy's where they are text."""
    device = Device()
    if classes.dtype.kind not in "biuf":
        return classes[device.fetch(best)]
    return device.xp.asarray(classes)[best]


def _additive(model: Model, table: Table, new: NewValues) -> Any:
    device = Device()
    place = dict(zip(model.features, positions(model.features, model.feature_names, table), strict=True))
    with device:
        score = device.xp.full(table.n_rows, model.intercept)
        for name, shape in model.shape_functions().items():
            score += _contribution(device, shape, table.column(place[name]), name, new)
        for pair in model.pair_functions().values():
            first, second = (
                _contribution(device, axis.cell, table.column(place[axis.name]), axis.name, new).astype(np.int64)
                for axis in pair.axes
            )
            score += device.upload(pair.values)[first, second]
        device.wait()
    return score


def _contribution(device: Device, shape: ShapeFunction, column: Column, name: str, new: NewValues) -> Any:
    """Return what a feature adds to the score of each row: `ShapeFunction.at`, with the arrays of a device."""
    if not isinstance(column, DeviceColumn) or shape.scale.has_levels:
        return device.upload(shape.at(column.on_scale(shape.scale)))
    xp, numbers = device.xp, column.numbers()
    piece = (
        xp.searchsorted(device.upload(shape.edges), numbers) if shape.edges.size else xp.zeros(numbers.size, np.int64)
    )
    missing = xp.isnan(numbers)
    out = device.upload(shape.values)[piece]
    if shape.has_slopes:
        slope, ends = device.upload(shape.slopes)[piece], device.upload(np.append(shape.edges, 0.0))[piece]
        low, high = np.minimum(shape.starts, shape.values), np.maximum(shape.starts, shape.values)
        sloped = out + xp.where(slope == 0.0, 0.0, slope * (numbers - ends))
        out = xp.clip(sloped, device.upload(low)[piece], device.upload(high)[piece])
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
    device = Device()
    matrix = device_array(device, X)
    if matrix.ndim != 2 or matrix.shape[1] != model.n_features:
        msg = f"X has the shape {tuple(matrix.shape)}, but the model was fitted with {model.n_features} columns."
        raise ValueError(msg)
    with device:
        mine = matrix[:, device.upload(np.array(model.columns, dtype=np.int64))].astype(np.float64)
        if model.centres:
            mine = mine - device.upload(np.array(model.centres))
        start = model.centre_score if model.centres else model.intercept
        score = mine @ device.upload(np.array(model.weights, dtype=np.float64)) + start
        device.wait()
    return score
