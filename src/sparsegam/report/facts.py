"""How the data was read, with which settings and versions the model came about, and hashes that identify both."""

import hashlib
import platform
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from sparsegam.data.columns import Column
from sparsegam.data.scales import WORDS, shortened, text
from sparsegam.design.binning import Feature
from sparsegam.report.material import Material, Sample

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
        "kind": WORDS[feature.scale.kind],
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
        return f"{len(feature.scale.levels)} levels: {shortened(feature.scale.levels, 4)}"
    ends = (text(feature.scale.value(float(end))) for end in (present.min(), present.max()))
    return " to ".join(ends)


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
        "edits": [edit.cells() for edit in material.model.edits],
        "rows": None if material.train is None else material.train.table.n_rows,
        "test_rows": None if material.test is None else material.test.table.n_rows,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of_rows(sample: Sample) -> str:
    """Hash the columns as numbers, their names and levels, and the outcomes."""
    digest = hashlib.sha256()
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
