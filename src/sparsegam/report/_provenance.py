"""Report content on the data and the fit: columns, ranges, settings, versions and hashes."""

import hashlib
import platform
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from sparsegam._data.columns import KIND_NAMES, Column, text
from sparsegam._data.matrix import NumericMatrix
from sparsegam._design.binning import Feature
from sparsegam._models.bin_tables import bin_rows
from sparsegam._models.training import NEW
from sparsegam.arrays import FloatArray
from sparsegam.checks import quoted
from sparsegam.report._data import Dataset, ReportData

PACKAGES = ("sparsegam", "numpy", "scipy", "scikit-learn")


def columns_content(report: ReportData) -> list[dict[str, Any]]:
    """Return the type, missing and special values and number of bins of each column of the training data."""
    used = set(report.model.features)
    if report.train is None or report.problem is None:
        return [{"name": name, "used": name in used} for name in report.model.feature_names]
    return [
        _column_content(feature, report.column(report.train, feature.name), used=feature.name in used)
        for feature in report.problem.design.features
    ]


def _column_content(feature: Feature, column: Column, *, used: bool) -> dict[str, Any]:
    present = column.values[~np.isnan(column.values)]
    if present.size == 0:
        detail = "all missing"
    elif feature.scale.has_levels:
        detail = f"{len(feature.scale.levels)} levels: {quoted(feature.scale.levels, 4)}"
    else:
        detail = " to ".join(text(feature.scale.value(float(end))) for end in (present.min(), present.max()))
    return {
        "name": feature.name,
        "used": used,
        "kind": KIND_NAMES[feature.scale.kind],
        "missing": int(np.isnan(column.values).sum()),
        "special": ", ".join(text(value) for value in feature.special_values),
        "bins": feature.n_bins,
        "detail": detail,
    }


def ranges_content(report: ReportData) -> dict[str, Any]:
    """Return the training range of each feature of the model, and the number of test rows outside it.

    A value is outside the range if it is below the lowest or above the highest training value. Special values are not
    counted.
    """
    features = []
    for name, function in report.model.shape_functions().items():
        bins, train = function.bins, report.numbers(name)
        test = None if report.test is None else report.column(report.test, name).on_scale(bins.scale)
        is_ordered = not bins.scale.has_levels and bins.scale.kind != "boolean"
        ends = _ends(train, bins.special) if is_ordered and train is not None else None
        outside = 0
        if ends is not None and test is not None:
            ordinary = test[~np.isin(test, bins.special)]
            outside = int(np.sum((ordinary < ends[0]) | (ordinary > ends[1])))
        features.append(
            {
                "name": report.label(name),
                "ends": None if ends is None else [text(bins.scale.value(end)) for end in ends],
                "absent": [row.label.removesuffix(NEW) for row in bin_rows(report.model, name) if row.is_new],
                "new_values": {} if test is None else bins.count_new(bins.range_of(test)),
                "outside": outside,
            }
        )
    return {"features": features, "has_test": report.test is not None}


def _ends(numbers: FloatArray, special: FloatArray) -> tuple[float, float] | None:
    ordinary = numbers[~(np.isnan(numbers) | np.isin(numbers, special))]
    return (float(ordinary.min()), float(ordinary.max())) if ordinary.size else None


def provenance_content(report: ReportData) -> dict[str, Any]:
    """Return settings, versions, hashes of model and data, manual edits and the date."""
    hashes = {"model": hashlib.sha256(report.model.to_json().encode()).hexdigest()}
    for name, data in (("training data", report.train), ("test data", report.test)):
        if data is not None:
            hashes[name] = _data_hash(data)
    settings = {name: value for name, value in report.fit.settings.items() if value is not None and not callable(value)}
    return {
        "settings": {name: value if isinstance(value, str) else repr(value) for name, value in settings.items()},
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
        "hashes": hashes,
        "edits": [edit.cells() for edit in getattr(report.model, "edits", ())],
        "rows": None if report.train is None else report.train.table.n_rows,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _data_hash(data: Dataset) -> str:
    """Return the SHA-256 of names, scales and values of the columns and of the target."""
    digest = hashlib.sha256()
    if isinstance(data.table, NumericMatrix):
        digest.update(data.table.digest())
    else:
        for j in range(data.table.n_columns):
            column = data.table.column(j)
            digest.update(repr((column.name, column.scale)).encode())
            digest.update(np.ascontiguousarray(column.values).tobytes())
    digest.update(repr(data.y.tolist()).encode())
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
