"""What a report says of a model in its first lines: what it is made of, and how good it is."""

from typing import Any

from sparsegam._models.additive import Model
from sparsegam.report.material import Material


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
