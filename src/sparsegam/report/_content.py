"""Computes the content of a report: a dict that goes into the page as JSON, one part for each section."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.multiclass import OneVsRestModel
from sparsegam._models.seen import RULES
from sparsegam._models.terms import Term, part_name
from sparsegam._search.evidence import FEW_ROWS
from sparsegam._search.path import Path
from sparsegam.arrays import FloatArray
from sparsegam.inspection._alternatives import Substitute, alternatives, objective_of
from sparsegam.losses import LOSSES
from sparsegam.report._data import Material, Sample
from sparsegam.report._evaluation import quality_part, size_score
from sparsegam.report._features import DENSITY_BINS, TAIL, features_part, named_part, pairs_part
from sparsegam.report._provenance import facts_part, reading_part, unseen_part


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
        "steps": [_term(material, s.term) | {"share": s.share, "low": s.low, "high": s.high} for s in found.terms],
        "features": found.features,
        "others": [name for name in found.features if name not in found.model_features],
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


def sentence(material: Material, parts: list[dict[str, Any]], quality: dict[str, Any] | None) -> str:
    """Say what an additive model predicts, from what, and how well."""
    model = material.model
    goal = "predicts a number" if model.classes is None else f"gives the probability of {material.class_names[1]}"
    used = f"{len(model.features)} of {len(model.feature_names)} features"
    heavy = [part["label"] for part in sorted(parts, key=lambda part: -part["importance"])[:3]]
    first = f"This model {goal}: it starts at {model.intercept:.3g} and adds {_amounts(model)} on {used}"
    first += f", above all {listed(heavy)}." if heavy else "."
    return first + measured_sentence(material, quality)


def measured_sentence(material: Material, quality: dict[str, Any] | None) -> str:
    """Say how good a model is, on which rows; nothing where it was not measured."""
    if quality is None:
        return ""
    metric, rows = quality["metrics"][0], f"{quality['rows']:,}"
    where = f"{rows} rows that it was not fitted to" if quality["held_out"] else f"the {rows} rows it was fitted to"
    events = quality.get("prevalence")
    if events:
        where += f", {events['events']:,} of them {material.class_names[1]} ({events['share']:.1%})"
    value = f"{metric['name']} is {metric['value']:.3f} ({metric['low']:.3f} to {metric['high']:.3f})"
    return f" On {where}, its {value}."


def listed(names: list[str]) -> str:
    """Write names with an `and` before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _amounts(model: Model) -> str:
    n_ramps = sum(term.condition.is_ramp for term in model.terms)
    n_steps = model.n_terms - n_ramps
    steps = "a fixed amount for " + ("one condition" if n_steps == 1 else f"each of {n_steps} conditions")
    ramps = "so much per unit along " + ("one ramp" if n_ramps == 1 else f"each of {n_ramps} ramps")
    return " and ".join([steps] * (n_steps > 0 or not n_ramps) + [ramps] * (n_ramps > 0))


def points_part(material: Material) -> dict[str, Any] | None:
    """Return the points of the steps and the bands of risk, where a scorecard was given."""
    card = material.notes.scorecard
    if card is None:
        return None
    values = card.information_values
    return {
        "base": card.base,
        "formula": card.formula(),
        "rising": card.scaling.sign > 0,
        "lines": [line | {"feature": material.label(line["feature"])} for line in card.table()],
        "values": [[material.label(name), value] for name, value in sorted(values.items(), key=lambda pair: -pair[1])],
        "risks": [asdict(line) for line in card.risks],
        "rounding": None if card.rounding is None else str(card.rounding),
    }


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


TENTHS = 11  # values of a column between which as many rows lie: what a change costs in the form


def linear_content(material: Material, model: LinearModel) -> dict[str, Any]:
    """Return all parts of a report; those that only additive models have are None."""
    quality = quality_part(material)
    features = sorted(_features(material, model), key=lambda feature: -feature["importance"])
    start = model.centre_score if model.centres else model.intercept
    none = dict.fromkeys(("standing", "stability", "frontier", "alternatives", "points", "unseen"))
    return none | {
        "title": material.title,
        "sentence": _sentence(material, model, features) + measured_sentence(material, quality),
        "about": [[title, text] for title, text in material.notes.about.items()],
        "equation": material.equation(),
        "loss": model.loss,
        "slope": LOSSES[model.loss].probability_slope,
        "classes": material.class_names,
        "intercept": start,
        "centred": material.train is not None,
        "baseline": start + sum(feature["mean"] for feature in features),
        "later": "",
        "terms": [{"feature": name, "condition": name, "coef": coef, "ramp": True} for name, coef in model.terms],
        "features": features,
        "pairs": [],
        "quality": quality,
        "reading": [{"name": material.label(name), "used": True} for name in model.features],
        "facts": facts_part(material),
    }


def _sentence(material: Material, model: LinearModel, features: list[dict[str, Any]]) -> str:
    goal = "predicts a number" if model.classes is None else f"gives the probability of {material.class_names[1]}"
    heavy = [feature["label"] for feature in features[:3]]
    above = f", above all {listed(heavy)}" if heavy else ""
    return f"This model {goal}: a weighted sum of {model.n_terms} of {model.n_features} columns{above}."


def _features(material: Material, model: LinearModel) -> list[dict[str, Any]]:
    columns = None if material.train is None else model.values_in_use(material.train.table)
    centres = model.centres or (0.0,) * model.n_terms
    return [
        _feature(material, place, (name, weight, centre), None if columns is None else columns[:, place])
        for place, ((name, weight), centre) in enumerate(zip(model.terms, centres, strict=True))
    ]


def _feature(
    material: Material, place: int, term: tuple[str, float, float], values: FloatArray | None
) -> dict[str, Any]:
    """Return one column as the page knows features: a straight line, cut at tenths of the rows for the form."""
    name, weight, centre = term
    seen = np.array([0.0, 1.0]) if values is None else values
    low, high = map(float, np.quantile(seen, [TAIL, 1 - TAIL]))
    high = high if high > low else low + 1.0
    edges = np.unique(np.quantile(seen, np.linspace(0, 1, TENTHS)))
    upto = np.searchsorted(np.sort(seen), edges, side="right") / seen.size
    mean = 0.0 if values is None else weight * float(values.mean() - centre)
    piece = {"kind": "step", "label": "any value", "value": weight * (high - centre) - mean, "slope": weight}
    piece |= {"start": weight * (low - centre) - mean, "low": low, "high": high, "error": None, "errors": []}
    counts = [] if values is None else np.histogram(seen, bins=DENSITY_BINS, range=(low, high))[0].tolist()
    return named_part(material, name) | {
        "name": name,
        "place": place,
        "own": True,
        "kind": "number",
        "weight": weight,
        "centre": centre,
        "levels": [],
        "level_values": [],
        "members": [],
        "edges": edges.tolist(),
        "values": [0.0] * (edges.size + 1),
        "slopes": [0.0, *[weight] * (edges.size - 1), 0.0],
        "starts": [],
        "special": [],
        "missing": None,
        "mean": mean,
        "importance": abs(weight) * float(np.mean(np.abs(seen - seen.mean()))),
        "range": [low, high],
        "density": {"counts": counts, "ends": [low, high]},
        "start": float(np.quantile(seen, 0.5, method="lower")),
        "whole": values is not None and bool(np.all(seen % 1 == 0)),
        "prices": None if values is None else {"edges": edges.tolist(), "upto": upto.tolist(), "above": 0.0},
        "pieces": [piece | {"count": None if values is None else values.size, "drawn": True}],
    }
