"""How the data was read, with which settings and versions the model came about, and hashes that identify both."""

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
from sparsegam._models.seen import NEW
from sparsegam.arrays import FloatArray
from sparsegam.checks import quoted
from sparsegam.report._data import Material, Sample

PACKAGES = ("sparsegam", "numpy", "scipy", "scikit-learn")


def reading_part(material: Material) -> list[dict[str, Any]]:
    """Return, for each column, what it was taken for, its missing and special values, and its bins."""
    used = set(material.model.features)
    if material.train is None or material.problem is None:
        return [{"name": name, "used": name in used} for name in material.model.feature_names]
    return [
        _column(feature, material.column(material.train, feature.name), used=feature.name in used)
        for feature in material.problem.design.features
    ]


def _column(feature: Feature, column: Column, *, used: bool) -> dict[str, Any]:
    values = column.values
    return {
        "name": feature.name,
        "used": used,
        "kind": KIND_NAMES[feature.scale.kind],
        "missing": int(np.isnan(values).sum()),
        "special": ", ".join(text(value) for value in feature.special_values),
        "bins": feature.n_bins,
        "detail": _detail(feature, column),
    }


def _detail(feature: Feature, column: Column) -> str:
    present = column.values[~np.isnan(column.values)]
    if present.size == 0:
        return "no value at all"
    if feature.scale.has_levels:
        return f"{len(feature.scale.levels)} levels: {quoted(feature.scale.levels, 4)}"
    ends = (text(feature.scale.value(float(end))) for end in (present.min(), present.max()))
    return " to ".join(ends)


def unseen_part(material: Material) -> dict[str, Any]:
    """Return what no training row had: of each feature in use, and how many of the measured rows have it nonetheless.

    Beyond the training values is below the lowest or above the highest of them, special values left out.
    """
    lines = []
    for name, function in material.model.shape_functions().items():
        bins, trained = function.bins, material.numbers(name)
        later = None if material.test is None else material.column(material.test, name).on_scale(bins.scale)
        kinds = {} if later is None else bins.count_new(bins.range_of(later))
        ordered = not bins.scale.has_levels and bins.scale.kind != "boolean"
        ends = _ends(trained, bins.special) if ordered and trained is not None else None
        beyond = 0
        if ends is not None and later is not None:
            plain = later[~np.isin(later, bins.special)]
            beyond = int(np.sum((plain < ends[0]) | (plain > ends[1])))
        words = None if ends is None else [text(bins.scale.value(end)) for end in ends]
        never = [row.label.removesuffix(NEW) for row in bin_rows(material.model, name) if row.is_new]
        lines.append({"name": material.label(name), "ends": words, "never": never, "kinds": kinds, "beyond": beyond})
    return {"lines": lines, "measured": material.test is not None}


def _ends(numbers: FloatArray, special: FloatArray) -> tuple[float, float] | None:
    plain = numbers[~(np.isnan(numbers) | np.isin(numbers, special))]
    return (float(plain.min()), float(plain.max())) if plain.size else None


def facts_part(material: Material) -> dict[str, Any]:
    """Return settings, versions, hashes and the date."""
    hashes = {"model": _digest(material.model.to_json().encode())}
    for name, sample in (("training rows", material.train), ("test rows", material.test)):
        if sample is not None:
            hashes[name] = _digest_of_rows(sample)
    return {
        "settings": {name: _plain(value) for name, value in material.settings.items() if _tells(value)},
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
        "hashes": hashes,
        "edits": [edit.cells() for edit in getattr(material.model, "edits", ())],
        "rows": None if material.train is None else material.train.table.n_rows,
        "test_rows": None if material.test is None else material.test.table.n_rows,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of_rows(sample: Sample) -> str:
    """Hash the columns as numbers, their names and levels, and the outcomes."""
    digest = hashlib.sha256()
    if isinstance(sample.table, NumericMatrix):
        digest.update(sample.table.digest())
        digest.update(repr(sample.y.tolist()).encode())
        return digest.hexdigest()
    for j in range(sample.table.n_columns):
        column = sample.table.column(j)
        digest.update(repr((column.name, column.scale)).encode())
        digest.update(np.ascontiguousarray(column.values).tobytes())
    digest.update(repr(sample.y.tolist()).encode())
    return digest.hexdigest()


def _tells(value: Any) -> bool:
    return value is not None and not callable(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
