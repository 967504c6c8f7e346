"""Computes the content of a report: a dict that goes into the page as JSON, one part for each section."""

from typing import Any

import numpy as np

from sparsegam.inspection.alternatives import Substitute, alternatives, objective_of
from sparsegam.inspection.stability import Stability
from sparsegam.losses import LOSSES
from sparsegam.models.additive import Model
from sparsegam.models.seen import RULES
from sparsegam.models.terms import Term, part_name
from sparsegam.report.facts import facts_part, reading_part
from sparsegam.report.features import features_part
from sparsegam.report.material import Material
from sparsegam.report.pairs import pairs_part
from sparsegam.report.quality import quality_part, size_score
from sparsegam.search.evidence import FEW_ROWS
from sparsegam.search.path import Path


def content(material: Material) -> dict[str, Any]:
    """Return all parts of a report; those that need data are None without."""
    model = material.model
    quality = quality_part(material)
    features, pairs = features_part(material), pairs_part(material)
    return {
        "title": material.title,
        "sentence": _sentence(material, [*features, *pairs], quality),
        "equation": model.equation(width=110),
        "standing": _standing_part(model),
        "stability": _stability_part(material.stability),
        "loss": model.loss,
        "slope": LOSSES[model.loss].probability_slope,
        "classes": None if model.classes is None else [str(label) for label in model.classes],
        "intercept": model.intercept,
        "centred": model.is_centred(),
        "baseline": model.baseline(),
        "later": RULES[model.missing],
        "terms": [_term(term) for term in model.terms],
        "features": features,
        "pairs": pairs,
        "frontier": _frontier_part(material, quality),
        "alternatives": _alternatives_part(material),
        "quality": quality,
        "reading": reading_part(material),
        "facts": facts_part(material),
    }


def _term(term: Term) -> dict[str, Any]:
    name, ramp = part_name(term.part), term.condition.is_ramp
    return {"feature": name, "condition": term.text(), "coef": term.coef, "ramp": ramp}


def _standing_part(model: Model) -> dict[str, Any] | None:
    """Return what each term stands on, or None where the model does not know."""
    known = model.evidence
    if known is None:
        return None
    lines = [
        _term(term) | {"rows": term.n_rows, "events": term.n_events, "error": term.standard_error}
        for term in model.terms
    ]
    start = {"rows": known.n_rows, "events": known.n_events, "error": known.intercept_error}
    return {"start": start, "terms": lines, "few": FEW_ROWS}


def _stability_part(found: Stability | None) -> dict[str, Any] | None:
    """Return how often features and steps came back, where that was asked for."""
    if found is None:
        return None
    return {
        "n": found.n,
        "method": found.method,
        "tolerance": found.tolerance,
        "n_terms": [min(found.n_terms), max(found.n_terms)],
        "steps": [_term(s.term) | {"share": s.share, "low": s.low, "high": s.high} for s in found.steps],
        "features": found.features,
        "others": [name for name in found.features if name not in found.used],
    }


def _sentence(material: Material, parts: list[dict[str, Any]], quality: dict[str, Any] | None) -> str:
    model = material.model
    goal = "predicts a number" if model.classes is None else f"gives the probability of {model.classes[1]}"
    used = f"{len(model.features)} of {len(model.feature_names)} features"
    heavy = [part["name"] for part in sorted(parts, key=lambda part: -part["importance"])[:3]]
    first = f"This model {goal}: it starts at {model.intercept:.3g} and adds {_amounts(model)} on {used}"
    first += f", above all {_listed(heavy)}." if heavy else "."
    if quality is None:
        return first
    metric = quality["metrics"][0]
    rows = f"{quality['rows']:,}"
    where = (
        f"On {rows} rows that it was not fitted to" if quality["held_out"] else f"On the {rows} rows it was fitted to"
    )
    value = f"{metric['name']} is {metric['value']:.3f} ({metric['low']:.3f} to {metric['high']:.3f})"
    return f"{first} {where}, its {value}."


def _amounts(model: Model) -> str:
    n_ramps = sum(term.condition.is_ramp for term in model.terms)
    n_steps = model.n_terms - n_ramps
    steps = "a fixed amount for " + ("one condition" if n_steps == 1 else f"each of {n_steps} conditions")
    ramps = "so much per unit along " + ("one ramp" if n_ramps == 1 else f"each of {n_ramps} ramps")
    return " and ".join([steps] * (n_steps > 0 or not n_ramps) + [ramps] * (n_ramps > 0))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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
            str(other.n_terms): {"added": _lacking(model, other), "removed": _lacking(other, model)}
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


def _lacking(model: Model, other: Model) -> list[dict[str, Any]]:
    """Return the terms of another model that a model lacks."""
    mine = {term.clauses for term in model.terms}
    return [_term(term) for term in other.terms if term.clauses not in mine]


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
            {"term": _term(a.term), "drop_cost": a.drop_cost, "substitutes": [_substitute(s) for s in a.substitutes]}
            for a in found
        ],
    }


def _substitute(substitute: Substitute) -> dict[str, Any]:
    return {"term": _term(substitute.term), "cost": substitute.cost}
