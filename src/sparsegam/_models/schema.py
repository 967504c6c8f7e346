"""What the JSON of a model must look like: every part is checked before any of it is used."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NoReturn

import numpy as np

from sparsegam._data.columns import NUMBER, SCALE_KINDS, Scale, Value
from sparsegam._models.edits import edit_from_json
from sparsegam._models.evidence import Evidence, evidence_from
from sparsegam._models.profile import Profile, profile_from
from sparsegam._models.seen import RULES, Seen
from sparsegam._models.terms import KINDS, Clause, Condition, Term
from sparsegam.arrays import FloatArray
from sparsegam.checks import expect, is_number
from sparsegam.losses import LOSSES

FORMAT = "sparsegam.Model"
VERSION = 5  # of models with products; others are still written as releases before this one read them
RAMPS, STEPS_ONLY = 4, 3
REQUIRED = {"format", "version", "loss", "classes", "intercept", "feature_names", "special_values", "terms"}
OPTIONAL = {  # by version
    1: {"scales", "edits", "sha256"},
    2: {"scales", "edits", "profile", "evidence", "sha256"},
    3: {"scales", "edits", "profile", "missing", "seen", "evidence", "sha256"},
    4: {"scales", "edits", "profile", "missing", "seen", "evidence", "sha256"},
    5: {"scales", "edits", "profile", "missing", "seen", "seen_pairs", "evidence", "sha256"},
}
OLD_RULE = "last"  # of models written before format 3, which knew no other
SHARE_SLACK = 1e-6  # of shares, whose sum is one but for rounding
MOST_DEPTH = 20

Scales = Mapping[str, Scale]


def write(content: dict[str, Any]) -> str:
    """Write the parts of a model as JSON; floats come back to the bit, and a hash tells of later changes."""
    content = {"format": FORMAT, "version": _version(content["terms"]), **content}
    return json.dumps({**content, "sha256": _hash(content)}, indent=2, allow_nan=False)


def _version(terms: Iterable[Mapping[str, Any]]) -> int:
    """Return the oldest format that has a word for all of the terms."""
    if any("also" in term for term in terms):
        return VERSION
    return RAMPS if any(term["kind"] == "ramp" for term in terms) else STEPS_ONLY


def parse(text: str) -> dict[str, Any]:
    """Read the parts of a model from JSON, checked; raise a ValueError that says what is wrong."""
    content = load(text)
    _check_header(content)
    names = _names(content["feature_names"])
    known = frozenset(names)
    scales = _scales(content.get("scales", {}), known)
    terms = tuple(_term(term, known, scales) for term in _list(content["terms"], "terms"))
    used = {name for term in terms for name in term.features}
    seen = _seen(content.get("seen", {}), used, scales)
    special = _special_values(content["special_values"], known, scales)
    parts = {
        "loss": _loss(content["loss"]),
        "classes": _classes(content["classes"], content["loss"]),
        "intercept": _finite(content["intercept"], "intercept"),
        "feature_names": names,
        "scales": scales,
        "special_values": special,
        "terms": terms,
        "edits": tuple(edit_from_json(edit) for edit in _list(content.get("edits", []), "edits")),
        "profile": _profile(content["profile"], terms) if "profile" in content else None,
        "missing": _rule(content.get("missing", OLD_RULE), seen, terms),
        "seen": seen,
        "seen_pairs": _seen_pairs(content.get("seen_pairs", []), terms),
        "evidence": _evidence(content["evidence"], terms) if "evidence" in content else None,
    }
    _check_hash(content)
    return parts


def label_to_json(label: Any) -> Any:
    """Return a class label as JSON knows it."""
    plain = label.item() if hasattr(label, "item") else label
    if not isinstance(plain, str | int | float):
        msg = f"class labels must be text, numbers or booleans to be written as JSON, got {label!r}."
        raise ValueError(msg)
    return plain


def term_to_json(term: Term) -> dict[str, Any]:
    """Return a term as a dict; the second clause of a product stands in it."""
    low = {} if term.condition.low is None else {"low": term.condition.low}
    also = {} if term.also is None else {"also": _clause_to_json(term.also)}
    return {**_clause_to_json(term.clauses[0]), **low, **also, "coef": term.coef}


def _clause_to_json(clause: Clause) -> dict[str, Any]:
    value = clause.condition.value
    plain = [value_to_json(v) for v in value] if isinstance(value, tuple) else value_to_json(value)
    return {"feature": clause.feature, "kind": clause.condition.kind, "value": plain}


def value_to_json(value: Value | None) -> Any:
    """Return a value as JSON knows it: dates as ISO text."""
    return value.isoformat() if isinstance(value, date) else value


def scale_to_json(scale: Scale) -> dict[str, Any]:
    """Return a scale as a flat dict."""
    return {"kind": scale.kind, "levels": list(scale.levels)} if scale.has_levels else {"kind": scale.kind}


def load(text: Any) -> Any:
    """Parse JSON; refuse what is cut off, nested more deeply than any model, twice the same key, or no number."""
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
        _check_depth(content)
        return content
    except RecursionError:
        _refuse_depth()
    except json.JSONDecodeError as error:
        msg = f"not a sparsegam model: the text is no JSON ({error}): is the file whole?"
        raise ValueError(msg) from None


def _check_depth(content: Any) -> None:
    """Raise where JSON is nested beyond MOST_DEPTH: no model is, and printing it could exhaust the stack."""
    level = list(_parts([content]))
    for _ in range(MOST_DEPTH):
        level = [part for whole in level for part in _parts(whole)]
        if not level:
            return
    _refuse_depth()


def _parts(whole: Any) -> Iterable[Any]:
    inside = whole.values() if isinstance(whole, dict) else whole
    return (part for part in inside if isinstance(part, list | dict))


def _refuse_depth() -> NoReturn:
    msg = "not a sparsegam model: the text is nested too deeply."
    raise ValueError(msg) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    _expect([key for key, _ in pairs], "an object's keys", "unique", holds=len(out) == len(pairs))
    return out


def _refuse_constant(name: str) -> None:
    _expect(name, "a number", "finite", holds=False)


def _hash(content: Mapping[str, Any]) -> str:
    """Return the hash of everything but the hash, independent of order and white space."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _check_hash(content: Mapping[str, Any]) -> None:
    if "sha256" in content and content["sha256"] != _hash(content):
        msg = (
            "not a sparsegam model as it was written: its content was changed later (sha256 differs). Get it from its "
            "source again, or take the line sha256 out to vouch for the change."
        )
        raise ValueError(msg)


def _check_header(content: Any) -> None:
    _expect(content, "the text", "one JSON object", holds=isinstance(content, dict))
    _expect(content.get("format"), "format", repr(FORMAT), holds=content.get("format") == FORMAT)
    version = content.get("version")
    if isinstance(version, int) and version > VERSION:
        msg = f"not a sparsegam model for this release: a newer one wrote it (format {version}, not {VERSION}): update."
        raise ValueError(msg)
    known = type(version) is int and version in OPTIONAL
    _expect(version, "version", f"one of {sorted(OPTIONAL)}, which this sparsegam reads", holds=known)
    good = content.keys() >= REQUIRED and content.keys() <= REQUIRED | OPTIONAL[version]
    _expect(sorted(content), "its keys", str(sorted(REQUIRED)), holds=good)


def _loss(loss: Any) -> str:
    _expect(loss, "loss", f"one of {tuple(LOSSES)}", holds=isinstance(loss, str) and loss in LOSSES)
    return str(loss)


def _names(names: Any) -> tuple[str, ...]:
    names = _list(names, "feature_names")
    good = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    _expect(names, "feature_names", "unique names", holds=good)
    return tuple(names)


def _classes(classes: Any, loss: str) -> tuple[Any, Any] | None:
    if not LOSSES[loss].is_classifier:
        _expect(classes, "classes", f"null for the {loss} loss", holds=classes is None)
        return None
    labels = _list(classes, "classes")
    good = len(labels) == 2 and all(isinstance(label, str | int | float) for label in labels)
    _expect(labels, "classes", "two labels, each text, a number or a boolean", holds=good)
    return labels[0], labels[1]


def _scales(scales: Any, names: frozenset[str]) -> dict[str, Scale]:
    good = isinstance(scales, dict) and scales.keys() <= names
    _expect(scales, "scales", "objects by feature name", holds=good)
    return {name: _scale(scale) for name, scale in scales.items()}


def _scale(scale: Any) -> Scale:
    good = isinstance(scale, dict) and {"kind"} <= scale.keys() <= {"kind", "levels"}
    _expect(scale, "a scale", "an object with kind and, for categories, levels", holds=good)
    _expect(scale["kind"], "kind of a scale", f"one of {SCALE_KINDS}", holds=scale["kind"] in SCALE_KINDS)
    levels = tuple(_list(scale.get("levels", []), "levels"))
    good = all(isinstance(level, str | bool) or is_number(level) for level in levels)
    good = good and len(set(levels)) == len(levels)
    _expect(levels, "levels", "texts, finite numbers or booleans, each once", holds=good)
    return Scale(scale["kind"], levels)


def _special_values(special: Any, names: frozenset[str], scales: Scales) -> dict[str, tuple[Value, ...]]:
    good = isinstance(special, dict) and special.keys() <= names
    _expect(special, "special_values", "lists of values by feature name", holds=good)
    return {
        name: tuple(
            _value(value, scales.get(name, NUMBER), "special_values") for value in _list(values, "special_values")
        )
        for name, values in special.items()
    }


def _term(term: Any, names: frozenset[str], scales: Scales) -> Term:
    good = isinstance(term, dict) and term.keys() - {"low", "also"} == {"feature", "kind", "value", "coef"}
    _expect(term, "a term", "an object with feature, kind, value, coef and, for a ramp, low", holds=good)
    first = _clause(term, names, scales)
    also = None
    if "also" in term:
        good = isinstance(term["also"], dict) and term["also"].keys() == {"feature", "kind", "value"}
        _expect(term["also"], "also", "an object with feature, kind and value", holds=good)
        also = _clause(term["also"], names, scales)
    try:
        return Term(first.feature, first.condition, _finite(term["coef"], "coef"), also)
    except ValueError as error:
        msg = f"not a sparsegam model: {error}"
        raise ValueError(msg) from None


def _clause(content: Mapping[str, Any], names: frozenset[str], scales: Scales) -> Clause:
    known = isinstance(content["feature"], str) and content["feature"] in names
    _expect(content["feature"], "feature", "one of feature_names", holds=known)
    _expect(content["kind"], "kind", f"one of {KINDS}", holds=content["kind"] in KINDS)
    ramp = content["kind"] == "ramp"
    _expect(content.get("low"), "low", "a number for ramps only", holds=("low" in content) == ramp)
    scale = scales.get(content["feature"], NUMBER)
    return Clause(content["feature"], _ramp(content, scale) if ramp else _asked(content, scale))


def _asked(content: Mapping[str, Any], scale: Scale) -> Condition:
    return _condition(content["kind"], content["value"], scale)


def _ramp(term: Mapping[str, Any], scale: Scale) -> Condition:
    _expect(scale.kind, "the feature of a ramp", "a number", holds=scale.kind == "number")
    low, knot = _finite(term["low"], "low"), _finite(term["value"], "value")
    _expect(low, "low", f"below the knot {knot!r}", holds=low < knot)
    return Condition("ramp", knot, low)


def _condition(kind: Any, value: Any, scale: Scale) -> Condition:
    _expect(value, "value", "null for missing values only", holds=(value is None) == (kind == "missing"))
    if kind == "missing":
        return Condition("missing")
    if kind == "in":
        return Condition("in", tuple(_value(v, scale, "value") for v in _list(value, "value")))
    _expect(kind, "kind", "== for categories", holds=kind == "==" or scale.kind != "category")
    return Condition(kind, _value(value, scale, "value"))


def _profile(content: Any, terms: tuple[Term, ...]) -> Profile:
    try:
        profile = profile_from(content)
    except ValueError as error:
        msg = f"not a sparsegam model: in its profile, {error}."
        raise ValueError(msg) from None
    used = {name for term in terms for name in term.features}
    _expect(
        sorted(profile.features), "the features of its profile", f"{sorted(used)}", holds={*profile.features} == used
    )
    return profile


def _rule(rule: Any, seen: Mapping[str, Seen], terms: tuple[Term, ...]) -> str:
    """Read how values are scored that no row of the fit had; all but the old rule need to know those rows."""
    _expect(rule, "missing", f"one of {tuple(RULES)}", holds=isinstance(rule, str) and rule in RULES)
    unknown = {name for term in terms for name in term.features} - seen.keys()
    _expect(rule, "missing", f"{OLD_RULE!r} where seen lacks {sorted(unknown)}", holds=rule == OLD_RULE or not unknown)
    return str(rule)


def _seen(content: Any, used: set[str], scales: Scales) -> dict[str, Seen]:
    good = isinstance(content, dict) and content.keys() <= used
    _expect(content, "seen", "objects by feature in use", holds=good)
    return {name: _seen_of(part, scales.get(name, NUMBER)) for name, part in content.items()}


def _seen_pairs(content: Any, terms: tuple[Term, ...]) -> dict[tuple[str, str], FloatArray]:
    """Read the shares of rows in the cells of each pair; whether they fit its cells is for the model to say."""
    found: dict[tuple[str, str], FloatArray] = {}
    pairs = {term.part for term in terms if term.is_product}
    for one in _list(content, "seen_pairs"):
        good = isinstance(one, dict) and one.keys() == {"features", "shares"} and isinstance(one["features"], list)
        good = good and all(isinstance(name, str) for name in one["features"]) and tuple(one["features"]) in pairs
        _expect(one, "a part of seen_pairs", "an object with features, a pair in use, and shares", holds=good)
        rows = [_list(row, "shares") for row in _list(one["shares"], "shares")]
        even = len(rows) > 0 and all(len(row) == len(rows[0]) > 0 for row in rows)
        _expect(rows, "shares of a pair", "a table of numbers", holds=even)
        shares = np.array([[_finite(share, "a share of a pair") for share in row] for row in rows])
        good = bool((shares >= 0).all()) and abs(math.fsum(shares.ravel().tolist()) - 1) < SHARE_SLACK
        _expect(rows, "shares of a pair", "from 0 to 1 with the sum 1", holds=good)
        found[one["features"][0], one["features"][1]] = shares
    return found


def _seen_of(part: Any, scale: Scale) -> Seen:
    good = isinstance(part, dict) and {*part} - {"means"} == {"upto", "above", "alone", "missing"}
    _expect(part, "a part of seen", "an object with upto, above, alone, missing and, for ramps, means", holds=good)
    upto, alone = (tuple(_pair(pair, scale) for pair in _list(part[name], name)) for name in ("upto", "alone"))
    means = tuple(_finite(mean, "a mean of seen") for mean in _list(part.get("means", []), "means"))
    _check_means(means, [scale.number(value) for value, _ in upto])
    seen = Seen(upto, _finite(part["above"], "above"), alone, _finite(part["missing"], "missing"), means)
    shares = [seen.above, seen.missing, *(share for _, share in (*upto, *alone))]
    good = all(share >= 0 for share in shares) and abs(math.fsum(shares) - 1) < SHARE_SLACK
    _expect(shares, "the shares of seen", "from 0 to 1 with the sum 1", holds=good)
    return seen


def _check_means(means: tuple[float, ...], edges: list[float]) -> None:
    pairs = zip([-math.inf, *edges], means, edges, strict=False)
    good = not means or (len(means) == len(edges) and all(low < mean <= high for low, mean, high in pairs))
    _expect(means, "means", f"one for each part up to {edges}, within it", holds=good)


def _pair(pair: Any, scale: Scale) -> tuple[Value, float]:
    _expect(pair, "a part of seen", "a pair of value and share", holds=isinstance(pair, list) and len(pair) == 2)
    return _value(pair[0], scale, "a value of seen"), _finite(pair[1], "a share of seen")


def _evidence(content: Any, terms: tuple[Term, ...]) -> Evidence:
    try:
        return evidence_from(content, terms)
    except ValueError as error:
        msg = f"not a sparsegam model: in its evidence, {error}."
        raise ValueError(msg) from None


def _value(value: Any, scale: Scale, name: str) -> Value:
    """Read a value of a feature: what its scale holds."""
    if scale.kind == "number":
        return _finite(value, name)
    good = isinstance(value, str | int | float) and scale.holds(value)
    _expect(value, name, f"a value of the feature ({scale.kind})", holds=good)
    return scale.value(scale.number(value))


def _list(values: Any, name: str) -> list[Any]:
    _expect(values, name, "a list", holds=isinstance(values, list))
    return list(values)


def _finite(value: Any, name: str) -> float:
    _expect(value, name, "a finite number", holds=is_number(value))
    return float(value)


def _expect(found: Any, name: str, wanted: str, *, holds: bool) -> None:
    try:
        expect(found, name, wanted, holds=holds)
    except ValueError as error:
        msg = f"not a sparsegam model: {error}."
        raise ValueError(msg) from None
