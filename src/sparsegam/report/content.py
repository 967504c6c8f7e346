"""Computes the content of a report: a dict that goes into the page as JSON, one part for each section."""

from typing import Any

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.multiclass import OneVsRestModel
from sparsegam._models.seen import RULES
from sparsegam._models.terms import Term, part_name
from sparsegam._search.evidence import FEW_ROWS
from sparsegam._search.path import Path
from sparsegam.inspection._alternatives import Substitute, alternatives, objective_of
from sparsegam.losses import LOSSES
from sparsegam.report.classes import classes_content
from sparsegam.report.facts import facts_part, reading_part, unseen_part
from sparsegam.report.features import features_part
from sparsegam.report.linear import linear_content
from sparsegam.report.material import Material
from sparsegam.report.pairs import pairs_part
from sparsegam.report.points import points_part
from sparsegam.report.quality import quality_part, size_score
from sparsegam.report.sentence import sentence


def content(material: Material) -> dict[str, Any]:
    """Return all parts of a report on any model; those that need data are None without."""
    model = material.model
    if isinstance(model, OneVsRestModel):
        return classes_content(material, model, content)
    return linear_content(material, model) if isinstance(model, LinearModel) else _additive_content(material)


def _additive_content(material: Material) -> dict[str, Any]:
    model = material.model
    quality = quality_part(material)
    features, pairs = features_part(material), pairs_part(material)
    return {
        "title": material.title,
        "sentence": sentence(material, [*features, *pairs], quality),
        "about": [[title, text] for title, text in material.notes.about.items()],
        "equation": material.equation(width=110),
        "standing": _standing_part(material),
        "stability": _stability_part(material),
        "loss": model.loss,
        "slope": LOSSES[model.loss].probability_slope,
        "classes": material.class_names,
        "intercept": model.intercept,
        "centred": model.is_centred(),
        "baseline": model.baseline(),
        "later": RULES[model.missing],
        "terms": [_term(material, term) for term in model.terms],
        "features": features,
        "pairs": pairs,
        "frontier": _frontier_part(material, quality),
        "alternatives": _alternatives_part(material),
        "quality": quality,
        "points": points_part(material),
        "reading": reading_part(material),
        "unseen": unseen_part(material),
        "facts": facts_part(material),
    }


def _term(material: Material, term: Term) -> dict[str, Any]:
    name, ramp = part_name(term.part), term.condition.is_ramp
    return {"feature": name, "condition": material.words(term), "coef": term.coef, "ramp": ramp}


def _standing_part(material: Material) -> dict[str, Any] | None:
    """Return what each term stands on, or None where the model does not know."""
    model, known = material.model, material.model.evidence
    if known is None:
        return None
    lines = [
        _term(material, term) | {"rows": term.n_rows, "events": term.n_events, "error": term.standard_error}
        for term in model.terms
    ]
    start = {"rows": known.n_rows, "events": known.n_events, "error": known.intercept_error}
    return {"start": start, "terms": lines, "few": FEW_ROWS}


def _stability_part(material: Material) -> dict[str, Any] | None:
    """Return how often features and steps came back, where that was asked for."""
    found = material.stability
    if found is None:
        return None
    return {
        "n": found.n,
        "method": found.method,
        "tolerance": found.tolerance,
        "n_terms": [min(found.n_terms), max(found.n_terms)],
        "steps": [_term(material, s.term) | {"share": s.share, "low": s.low, "high": s.high} for s in found.steps],
        "features": found.features,
        "others": [name for name in found.features if name not in found.used],
    }


def _frontier_part(material: Material, quality: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the frontier, the point of this model, and how the models of one size more and one less differ."""
    path, model = material.frontier, material.model
    if path is None or quality is None:
        return None
    score = size_score(material, path)
    return {
        "n_terms": path.n_terms.tolist(),
        "objective": path.objective.tolist(),
        "lambda0": path.lambda0.tolist(),
        "score": None if score is None else score.tolist(),
        "score_name": quality["metrics"][0]["name"],
        "chosen": model.n_terms,
        "own": {"objective": _own_objective(material, path), "score": quality["metrics"][0]["value"]},
        "neighbours": {
            str(other.n_terms): {"added": _lacking(material, model, other), "removed": _lacking(material, other, model)}
            for other in path
            if abs(other.n_terms - model.n_terms) == 1
        },
    }


def _own_objective(material: Material, path: Path[Model]) -> float:
    """Return loss and ridge of the model itself, which need not be the frontier's of its size."""
    if material.problem is not None:
        try:
            return objective_of(material.problem, material.model, by_bins=material.path is None)
        except ValueError:  # its terms are no columns of these data
            pass
    return float(np.interp(material.model.n_terms, path.n_terms, path.objective))


def _lacking(material: Material, model: Model, other: Model) -> list[dict[str, Any]]:
    """Return the terms of another model that a model lacks."""
    mine = {term.clauses for term in model.terms}
    return [_term(material, term) for term in other.terms if term.clauses not in mine]


def _alternatives_part(material: Material) -> dict[str, Any] | None:
    """Return the substitutes of each term, or why there are none to be had."""
    if material.problem is None:
        return None
    try:
        found = alternatives(material.problem, material.model, material.rules)
    except ValueError as error:
        return {"note": str(error), "terms": []}
    return {
        "note": "",
        "terms": [
            {
                "term": _term(material, a.term),
                "drop_cost": a.drop_cost,
                "substitutes": [_substitute(material, s) for s in a.substitutes],
            }
            for a in found
        ],
    }


def _substitute(material: Material, substitute: Substitute) -> dict[str, Any]:
    return {"term": _term(material, substitute.term), "cost": substitute.cost}
