"""Scores of data on a device, without copying the data to the host."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.device import Device
from sparsegam._backends.cuda.inputs import DeviceColumn, device_array, read_device_table
from sparsegam._data.columns import Column, Scale
from sparsegam._data.table import Table
from sparsegam._models.functions import ScoreFunction
from sparsegam._models.input_columns import check_width, positions
from sparsegam._models.linear import LinearModel
from sparsegam._models.training import NewValues


def device_scores(model: Any, X: Any) -> Any:
    """Return the score of each row as a device array; for several classes, with a column for each."""
    models = getattr(model, "models", (model,))
    if isinstance(models[0], LinearModel):
        scores = [_linear_scores(each, X) for each in models]
    else:
        table, new = read_device_table(X), NewValues()
        check_width(table, len(models[0].feature_names))
        scores = [_additive_scores(each.score_function, table, new) for each in models]
        new.tell(model.missing)
    return scores[0] if models == (model,) else Device().xp.column_stack(scores)


def device_labels(classes: NDArray[Any], positions_of_classes: Any) -> Any:
    """Return classes by position: as a device array if they are numbers, as a NumPy array if they are text."""
    device = Device()
    if classes.dtype.kind not in "biuf":
        return classes[device.fetch(positions_of_classes)]
    return device.xp.asarray(classes)[positions_of_classes]


def _additive_scores(function: ScoreFunction, table: Table, new: NewValues) -> Any:
    device = Device()
    position = dict(zip(function.features, positions(function.features, function.feature_names, table), strict=True))
    with device:
        scores = device.xp.full(table.n_rows, function.base)
        for part in function.functions:
            numbers = [_numbers(device, table.column(position[axis.feature]), axis.scale) for axis in part.axes]
            ranges = [axis.range_of(column, device.xp) for axis, column in zip(part.axes, numbers, strict=True)]
            for axis, of_axis in zip(part.axes, ranges, strict=True):
                new.note(axis.feature, axis.count_new(of_axis, device.xp))
            scores += part.at_ranges(tuple(ranges), tuple(numbers), device.xp)
        device.wait()
    return scores


def _numbers(device: Device, column: Column, scale: Scale) -> Any:
    """Return a column as numbers on a scale, as a device array."""
    if isinstance(column, DeviceColumn) and scale.kind in ("number", "boolean"):
        return column.numbers()
    return device.upload(column.on_scale(scale))


def _linear_scores(model: LinearModel, X: Any) -> Any:
    device = Device()
    matrix = device_array(device, X)
    if matrix.ndim != 2 or matrix.shape[1] != model.n_features:
        msg = f"X has shape {tuple(matrix.shape)}, but the model was fitted with {model.n_features} columns."
        raise ValueError(msg)
    with device:
        columns = matrix[:, device.upload(np.array(model.columns, dtype=np.int64))].astype(np.float64)
        intercept = model.intercept
        if model.centres:
            columns = columns - device.upload(np.array(model.centres))
            intercept = model.centre_score
        scores = columns @ device.upload(np.array(model.weights, dtype=np.float64)) + intercept
        device.wait()
    return scores
