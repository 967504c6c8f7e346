"""The quality part of a report: metrics with intervals, calibration, the ROC curve, confusion at every threshold."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sparsegam.arrays import Vector
from sparsegam.inspection.assessment import assess, calibration, worth
from sparsegam.inspection.metrics import roc_curve
from sparsegam.models.additive import Model
from sparsegam.models.outcomes import positives
from sparsegam.report.material import Material, Sample
from sparsegam.search.path import Path

THRESHOLDS = 200
ROC_POINTS = 200
MANY_SIZES = 40


def quality_part(material: Material) -> dict[str, Any] | None:
    """Return what is measured on the test rows or, for want of them, on the training rows."""
    sample = material.measured
    if sample is None:
        return None
    score = material.model.score_table(sample.table)
    out = {
        "rows": sample.table.n_rows,
        "held_out": material.test is not None,
        "metrics": [asdict(metric) for metric in assess(material.model, score, sample.y)],
    }
    if material.model.classes is None:
        bins = calibration(score, np.asarray(sample.y, dtype=np.float64))
        return out | {"calibration": [asdict(b) for b in bins], "roc": None, "confusion": None}
    return out | _of_classes(material, sample, score)


def _of_classes(material: Material, sample: Sample, score: Vector) -> dict[str, Any]:
    upper = positives(material.model, sample.y)
    probability = material.model.probabilities(score)[:, 1]
    false, true, _ = roc_curve(score, upper)
    shown = np.unique(np.linspace(0, false.size - 1, ROC_POINTS).astype(np.intp))
    thresholds = np.linspace(0, 1, THRESHOLDS + 1)
    return {
        "calibration": [asdict(b) for b in calibration(probability, upper.astype(np.float64))],
        "roc": {"false": np.round(false[shown], 5).tolist(), "true": np.round(true[shown], 5).tolist()},
        "confusion": {
            "true": _at_least(probability[upper], thresholds),
            "false": _at_least(probability[~upper], thresholds),
            "positives": int(upper.sum()),
            "negatives": int((~upper).sum()),
        },
    }


def _at_least(probability: Vector, thresholds: Vector) -> list[int]:
    """Count, for each threshold, the rows above it."""
    counts: list[int] = (probability.size - np.searchsorted(np.sort(probability), thresholds, side="right")).tolist()
    return counts


def size_score(material: Material, path: Path[Model]) -> Vector | None:
    """Return the AUC (or R squared) of each model of the frontier on the rows that are measured.

    Of many, only those are measured that are best at some price or near the model in size; the others are NaN.
    """
    sample = material.measured
    if sample is None:
        return None
    near = np.abs(path.n_terms - material.model.n_terms) <= 2
    wanted = near | ~np.isnan(path.lambda0) | (path.n_terms.size <= MANY_SIZES)
    return np.array(
        [
            worth(model, model.score_rows(sample.table), sample.y) if want else np.nan
            for model, want in zip(path, wanted.tolist(), strict=True)
        ]
    )
