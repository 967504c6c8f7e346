"""Computes the content of a report on more than two classes: one for each class against the rest, and all together."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sparsegam._models.multiclass import OneVsRestModel
from sparsegam.arrays import FloatArray
from sparsegam.report.material import Material, Sample


def classes_content(
    material: Material, model: OneVsRestModel, content: Callable[[Material], dict[str, Any]]
) -> dict[str, Any]:
    """Return a report on each class, and how the classes are told apart; `content` makes that of one of them."""
    parts = [content(_against_rest(material, model, i)) for i in range(len(model.classes))]
    return {
        "title": material.title,
        "names": [str(label) for label in model.classes],
        "parts": parts,
        "overall": _overall(material, model),
    }


def _against_rest(material: Material, model: OneVsRestModel, i: int) -> Material:
    label = model.classes[i]
    train, test = (
        None if sample is None else Sample(sample.table, sample.y == label, sample.source)
        for sample in (material.train, material.test)
    )
    return replace(
        material, model=model.models[i], train=train, test=test, path=None, names=(f"not {label}", str(label))
    )


def _overall(material: Material, model: OneVsRestModel) -> dict[str, Any] | None:
    """Return accuracy, log loss and who is taken for whom on the measured rows."""
    sample = material.measured
    if sample is None:
        return None
    _check_labels(model, sample)
    scores = model.score_table(sample.table)
    truth = np.array([model.classes.index(label) for label in sample.y.tolist()], dtype=np.intp)
    called = scores.argmax(axis=1)
    n = len(model.classes)
    pairs = np.bincount(truth * n + called, minlength=n * n).reshape(n, n)
    own: FloatArray = model.probabilities(scores)[np.arange(truth.size), truth]
    return {
        "rows": truth.size,
        "held_out": material.test is not None,
        "accuracy": float(np.mean(called == truth)),
        "log_loss": float(-np.log(np.maximum(own, np.finfo(float).tiny)).mean()),
        "confusion": pairs.tolist(),
    }


def _check_labels(model: OneVsRestModel, sample: Sample) -> None:
    strange = set(sample.y.tolist()) - set(model.classes)
    if strange:
        msg = f"y holds {sorted(strange, key=str)[0]!r}, but the classes of the model are {list(model.classes)}."
        raise ValueError(msg)
