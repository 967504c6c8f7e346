"""Content of a report: a dict that the page reads as JSON, with one entry for each section."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.one_vs_rest import OneVsRestModel
from sparsegam._models.training import RULES
from sparsegam._search.path import Path
from sparsegam._search.statistics import FEW_ROWS
from sparsegam.inspection._alternatives import find_alternatives, objective_of
from sparsegam.losses import LOSSES
from sparsegam.report._data import ReportData
from sparsegam.report._evaluation import path_scores, performance_content
from sparsegam.report._features import features_content, interactions_content, linear_features_content
from sparsegam.report._provenance import columns_content, provenance_content, ranges_content

N_MOST_IMPORTANT = 3


def report_content(report: ReportData) -> dict[str, Any]:
    """Return the content of a report; sections that are not available are None."""
    if isinstance(report.model, OneVsRestModel):
        return _multiclass_content(report, report.model)
    if isinstance(report.model, LinearModel):
        return _linear_content(report, report.model)
    return _additive_content(report, report.model)


def _additive_content(report: ReportData, model: Model) -> dict[str, Any]:
    performance = performance_content(report)
    features, interactions = features_content(report), interactions_content(report)
    n_ramps = sum(term.condition.is_ramp for term in model.terms)
    kinds = f" ({_plural(model.n_terms - n_ramps, 'condition')} and {_plural(n_ramps, 'ramp')})" if n_ramps else ""
    used = f"{len(model.features)} of {_plural(len(model.feature_names), 'feature')}"
    structure = f"It is the sum of an intercept and {_plural(model.n_terms, 'term')}{kinds} of {used}."
    return _common_content(report, performance, structure, [*features, *interactions]) | {
        "equation": report.equation(width=110),
        "term_statistics": _term_statistics(report, model),
        "stability": _stability_content(report),
        "intercept": model.intercept,
        "centred": model.is_centred(),
        "baseline": model.baseline(),
        "new_value_rule": RULES[model.missing],
        "terms": [report.term(term) for term in model.terms],
        "features": features,
        "interactions": interactions,
        "frontier": _frontier_content(report, model, performance),
        "alternatives": _alternatives_content(report, model),
        "scorecard": _scorecard_content(report),
        "columns": columns_content(report),
        "ranges": ranges_content(report),
    }


def _linear_content(report: ReportData, model: LinearModel) -> dict[str, Any]:
    performance = performance_content(report)
    features = linear_features_content(report, model)
    intercept = model.centre_score if model.centres else model.intercept
    structure = f"It is a weighted sum of columns: {model.n_terms} of {model.n_features} are used."
    missing = dict.fromkeys(("term_statistics", "stability", "frontier", "alternatives", "scorecard", "ranges"))
    return (
        _common_content(report, performance, structure, features)
        | missing
        | {
            "equation": report.equation(),
            "intercept": intercept,
            "centred": report.train is not None,
            "baseline": intercept + sum(feature["mean"] for feature in features),
            "new_value_rule": "",
            "terms": [{"feature": name, "condition": name, "coef": coef, "ramp": True} for name, coef in model.terms],
            "features": features,
            "interactions": [],
            "columns": [{"name": report.label(name), "used": True} for name in model.features],
        }
    )


def _common_content(
    report: ReportData, performance: dict[str, Any] | None, structure: str, parts: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "title": report.title,
        "summary": _summary(report, structure, parts, performance),
        "about": [[title, text] for title, text in report.annotations.about.items()],
        "loss": report.model.loss,
        "log_odds_slope": LOSSES[report.model.loss].probability_slope,
        "classes": report.class_names,
        "performance": performance,
        "provenance": provenance_content(report),
    }


def _summary(
    report: ReportData, structure: str, parts: list[dict[str, Any]], performance: dict[str, Any] | None
) -> str:
    """Return a few sentences on target, structure, most important features and performance of a model."""
    classes = report.class_names
    sentences = [f"This model predicts {'a number' if classes is None else f'the probability of {classes[1]}'}."]
    sentences.append(structure)
    ranked = [part["label"] for part in sorted(parts, key=lambda part: -part["importance"])[:N_MOST_IMPORTANT]]
    if len(ranked) > 1:
        sentences.append(f"The most important are {', '.join(ranked[:-1])} and {ranked[-1]}.")
    if performance is not None:
        metric, prevalence = performance["metrics"][0], performance.get("prevalence")
        where = f"{_plural(performance['rows'], 'row')} of {'test' if performance['held_out'] else 'training'} data"
        if classes is not None and prevalence is not None:
            where += f" ({prevalence['events']:,} {classes[1]}, {prevalence['share']:.1%})"
        value = f"{metric['value']:.3f} (95 % interval {metric['low']:.3f} to {metric['high']:.3f})"
        name = f"{'unweighted ' * performance['ignores_weights']}{metric['name']}"
        sentences.append(f"On {where}, its {name} is {value}.")
    return " ".join(sentences)


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _term_statistics(report: ReportData, model: Model) -> dict[str, Any] | None:
    """Return rows, events and standard errors of intercept and terms; None if the model does not have them."""
    known = model.statistics
    if known is None:
        return None
    return {
        "intercept": {"rows": known.n_rows, "events": known.n_events, "error": known.intercept_error},
        "terms": [
            report.term(term)
            | {"rows": term.n_rows, "events": term.n_events, "error": term.standard_error, "interval": term.interval}
            for term in model.terms
        ],
        "few_rows": FEW_ROWS,
    }


def _stability_content(report: ReportData) -> dict[str, Any] | None:
    found = report.stability
    if found is None:
        return None
    return {
        "n_resamples": found.n,
        "method": found.method,
        "tolerance": found.tolerance,
        "n_terms": [min(found.n_terms), max(found.n_terms)],
        "terms": [report.term(s.term) | {"share": s.share, "low": s.low, "high": s.high} for s in found.terms],
        "features": found.features,
        "other_features": [name for name in found.features if name not in found.model_features],
    }


def _frontier_content(report: ReportData, model: Model, performance: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return objective and score by model size, and how the models with one term more and one fewer differ."""
    path = report.path
    if path is None or performance is None:
        return None
    scores, metric = path_scores(report, path), performance["metrics"][0]
    return {
        "n_terms": path.n_terms.tolist(),
        "objective": path.objective.tolist(),
        "lambda0": path.lambda0.tolist(),
        "score": None if scores is None else scores.tolist(),
        "score_name": metric["name"],
        "selected": model.n_terms,
        "model": {"objective": _objective(report, path), "score": metric["value"]},
        "neighbours": {
            str(other.n_terms): {
                "added": _difference(report, other, model),
                "removed": _difference(report, model, other),
            }
            for other in path
            if abs(other.n_terms - model.n_terms) == 1
        },
    }


def _objective(report: ReportData, path: Path[Model]) -> float:
    """Return the training objective of the model, which may differ from that of the path at its size."""
    if report.problem is not None and not report.missing_columns:
        return objective_of(report.problem, report.model, by_bins=report.fit.path is None)
    return float(np.interp(report.model.n_terms, path.n_terms, path.objective))


def _difference(report: ReportData, model: Model, other: Model) -> list[dict[str, Any]]:
    """Return the terms of the model that the other model does not have."""
    known = {term.clauses for term in other.terms}
    return [report.term(term) for term in model.terms if term.clauses not in known]


def _alternatives_content(report: ReportData, model: Model) -> dict[str, Any] | None:
    """Return the substitutes of each term, or a note if they cannot be computed."""
    if report.problem is None:
        return None
    if report.missing_columns:
        return {"note": report.missing_columns, "terms": []}
    found = find_alternatives(report.problem, model, report.problem.constraints)
    terms = [
        {
            "term": report.term(one.term),
            "drop_cost": one.drop_cost,
            "substitutes": [{"term": report.term(s.term), "cost": s.cost} for s in one.substitutes],
        }
        for one in found
    ]
    return {"note": "", "terms": terms}


def _scorecard_content(report: ReportData) -> dict[str, Any] | None:
    card = report.annotations.scorecard
    if card is None:
        return None
    values = sorted(card.information_values.items(), key=lambda item: -item[1])
    return {
        "base": card.base,
        "formula": card.formula(),
        "rising": card.scaling.sign > 0,
        "lines": [line | {"feature": report.label(line["feature"])} for line in card.table()],
        "values": [[report.label(name), value] for name, value in values],
        "risks": [asdict(line) for line in card.risks],
        "rounding": None if card.rounding is None else str(card.rounding),
    }


def _multiclass_content(report: ReportData, model: OneVsRestModel) -> dict[str, Any]:
    """Return the content for each class against the rest, and the performance of all classes together."""
    return {
        "title": report.title,
        "names": [str(label) for label in model.classes],
        "parts": [report_content(report.against_rest(k)) for k in range(len(model.classes))],
        "overall": _overall_content(report, model),
    }


def _overall_content(report: ReportData, model: OneVsRestModel) -> dict[str, Any] | None:
    data = report.evaluation
    if data is None:
        return None
    unknown = set(data.y.tolist()) - set(model.classes)
    if unknown:
        msg = f"y contains {sorted(unknown, key=str)[0]!r}, but the classes of the model are {list(model.classes)}."
        raise ValueError(msg)
    scores = model.score_table(data.table)
    actual = np.array([model.classes.index(label) for label in data.y.tolist()], dtype=np.intp)
    predicted = scores.argmax(axis=1)
    n = len(model.classes)
    confusion = np.bincount(actual * n + predicted, minlength=n * n).reshape(n, n)
    probability = model.probabilities(scores)[np.arange(actual.size), actual]
    return {
        "rows": actual.size,
        "held_out": report.test is not None,
        "ignores_weights": report.sample_weight is not None,
        "accuracy": float(np.mean(predicted == actual)),
        "log_loss": float(-np.log(np.maximum(probability, np.finfo(float).tiny)).mean()),
        "confusion": confusion.tolist(),
    }
