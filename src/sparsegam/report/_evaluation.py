"""Report content on performance: metrics, calibration, ROC curve, gains, net benefit and confusion matrices."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._models.scoring import positives
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
from sparsegam.report._data import Dataset, ReportData

N_THRESHOLDS = 200
MAX_ROC_POINTS = 200

# Of longer paths, only some models are scored.
MAX_SCORED_MODELS = 40


def performance_content(report: ReportData) -> dict[str, Any] | None:
    """Return the performance on the test data or, if there are none, on the training data."""
    data, model = report.evaluation, report.model
    if data is None:
        return None
    score = model.score_table(data.table)
    content = {
        "rows": data.table.n_rows,
        "held_out": report.test is not None,
        "ignores_weights": report.sample_weight is not None,
        "metrics": [asdict(metric) for metric in assess_scores(model, score, data.y)],
        "subgroups": _subgroups_content(report, data, score),
    }
    if model.classes is None:
        bins = calibration_bins(score, np.asarray(data.y, dtype=np.float64))
        return content | {"calibration": [asdict(b) for b in bins], "roc": None, "confusion": None}
    positive = positives(model, data.y)
    probability = model.probabilities(score)[:, 1]
    false_rate, true_rate, _ = roc_curve(score, positive)
    roc_points = np.unique(np.linspace(0, false_rate.size - 1, MAX_ROC_POINTS).astype(np.intp))
    thresholds = np.linspace(0, 1, N_THRESHOLDS + 1)
    # The net benefit is not defined at a threshold of 1.
    below_one = thresholds[:-1]
    prevalence = float(positive.mean())
    return content | {
        "prevalence": {"events": int(positive.sum()), "share": prevalence},
        "gains": [asdict(band) for band in gain_bands(score, positive)],
        "net_benefit": {
            "model": np.round(net_benefits(probability, positive, below_one), 6).tolist(),
            "treat_all": np.round(treat_all_benefits(prevalence, below_one), 6).tolist(),
        },
        "calibration": [asdict(b) for b in calibration_bins(probability, positive.astype(np.float64))],
        "roc": {
            "false": np.round(false_rate[roc_points], 5).tolist(),
            "true": np.round(true_rate[roc_points], 5).tolist(),
        },
        "confusion": {
            "true": count_above(probability[positive], thresholds).tolist(),
            "false": count_above(probability[~positive], thresholds).tolist(),
            "positives": int(positive.sum()),
            "negatives": int((~positive).sum()),
        },
    }


def _subgroups_content(report: ReportData, data: Dataset, score: FloatArray) -> dict[str, Any] | None:
    annotations = report.annotations
    if annotations.groups is None:
        return None
    found = subgroup_performance(report.model, data.as_table(), data.y, score, annotations.groups)
    lines = [asdict(line) | {"name": annotations.label_and_unit(line.name)[0]} for line in found.lines]
    return {"lines": lines, "threshold": found.threshold}


def path_scores(report: ReportData, path: Path[Model]) -> FloatArray | None:
    """Return the AUC or R² of each model of a path on the test or training data.

    In a long path, only the models close in size and those optimal for some lambda0 are scored; the others are NaN.
    """
    data = report.evaluation
    if data is None:
        return None
    is_close = np.abs(path.n_terms - report.model.n_terms) <= 2
    is_scored = is_close | ~np.isnan(path.lambda0) | (path.n_terms.size <= MAX_SCORED_MODELS)
    scores = [
        main_metric(model, model.score_rows(data.table), data.y) if scored else np.nan
        for model, scored in zip(path, is_scored.tolist(), strict=True)
    ]
    return np.array(scores)
