"""The quality part of a report: metrics with intervals, calibration, the ROC curve, confusion at every threshold."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._models.outcomes import positives
from sparsegam._search.path import Path
from sparsegam.arrays import FloatArray
from sparsegam.inspection._assessment import assess_scores, main_metric, subgroup_performance
from sparsegam.inspection._metrics import (
    calibration_bins,
    count_above,
    gain_bands,
    net_benefits,
    roc_curve,
    treat_all_benefits,
)
from sparsegam.report._data import Material, Sample

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
        "metrics": [asdict(metric) for metric in assess_scores(material.model, score, sample.y)],
    }
    out["groups"] = _groups_part(material, sample, score)
    if material.model.classes is None:
        bins = calibration_bins(score, np.asarray(sample.y, dtype=np.float64))
        return out | {"calibration": [asdict(b) for b in bins], "roc": None, "confusion": None}
    return out | _of_classes(material, sample, score)


def _groups_part(material: Material, sample: Sample, score: FloatArray) -> dict[str, Any] | None:
    """Return how the model does in groups of rows, where these were asked for."""
    groups = material.notes.groups
    if groups is None:
        return None
    found = subgroup_performance(material.model, sample.columns(), sample.y, score, groups)
    named = [asdict(line) | {"name": material.notes.named(line.name)[0]} for line in found.lines]
    return {"lines": named, "threshold": found.threshold}


def _of_classes(material: Material, sample: Sample, score: FloatArray) -> dict[str, Any]:
    upper = positives(material.model, sample.y)
    probability = material.model.probabilities(score)[:, 1]
    false, true, _ = roc_curve(score, upper)
    shown = np.unique(np.linspace(0, false.size - 1, ROC_POINTS).astype(np.intp))
    thresholds = np.linspace(0, 1, THRESHOLDS + 1)
    acting = thresholds[:-1]  # at one, errors would weigh infinitely much
    return {
        "prevalence": {"events": int(upper.sum()), "share": float(upper.mean())},
        "gains": [asdict(band) for band in gain_bands(score, upper)],
        "benefit": {
            "model": np.round(net_benefits(probability, upper, acting), 6).tolist(),
            "all": np.round(treat_all_benefits(float(upper.mean()), acting), 6).tolist(),
        },
        "calibration": [asdict(b) for b in calibration_bins(probability, upper.astype(np.float64))],
        "roc": {"false": np.round(false[shown], 5).tolist(), "true": np.round(true[shown], 5).tolist()},
        "confusion": {
            "true": count_above(probability[upper], thresholds).tolist(),
            "false": count_above(probability[~upper], thresholds).tolist(),
            "positives": int(upper.sum()),
            "negatives": int((~upper).sum()),
        },
    }


def size_score(material: Material, path: Path[Model]) -> FloatArray | None:
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
            main_metric(model, model.score_rows(sample.table), sample.y) if want else np.nan
            for model, want in zip(path, wanted.tolist(), strict=True)
        ]
    )
