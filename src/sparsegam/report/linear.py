"""Computes the content of a report on a linear model: the parts that it has in common with additive ones."""

from typing import Any

import numpy as np

from sparsegam._models.linear import LinearModel
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES
from sparsegam.report.facts import facts_part
from sparsegam.report.features import DENSITY_BINS, TAIL, named_part
from sparsegam.report.material import Material
from sparsegam.report.quality import quality_part
from sparsegam.report.sentence import listed, measured_sentence

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
