"""JSON of additive models: writing and validated reading."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sparsegam._data.columns import NUMBER, SCALE_KINDS, Scale, Value
from sparsegam._models.edits import edit_from_json
from sparsegam._models.profile import Profile, profile_from
from sparsegam._models.statistics import FitStatistics
from sparsegam._models.terms import KINDS, Clause, Condition, Part, Term, part_name
from sparsegam._models.training import RULES, TrainingDistribution
from sparsegam.arrays import FloatArray
from sparsegam.checks import expect, is_number
from sparsegam.losses import LOSSES

if TYPE_CHECKING:
    from sparsegam._models.additive import Model

FORMAT, VERSION = "sparsegam.Model", 1
REQUIRED = {"format", "version", "loss", "classes", "intercept", "feature_names", "special_values", "terms"}
OPTIONAL = {"scales", "edits", "missing", "distributions", "pair_shares", "statistics", "profile", "sha256"}
STATISTICS = ("n_rows", "n_events", "rows", "events", "intercept_error", "covariance", "pair_covariance", "unshrunken")
SHARE_TOLERANCE = 1e-6
"""Rounding of the sum of shares."""
COVARIANCE_TOLERANCE = 1e-9
"""Relative asymmetry of a covariance."""
MAX_DEPTH = 20

Scales = Mapping[str, Scale]


def model_to_json(model: "Model") -> str:
    """Return a model as JSON; numbers are read back exactly, and a hash detects later changes."""
    profile = model.training_profile()
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "loss": model.loss,
        "classes": None if model.classes is None else [label_to_json(label) for label in model.classes],
        "intercept": model.intercept,
        "feature_names": model.feature_names,
        "scales": {name: _scale_to_json(scale) for name, scale in model.scales.items()},
        "special_values": {
            name: [_value_to_json(value) for value in values] for name, values in model.special_values.items()
        },
        "terms": [_term_to_json(term) for term in model.terms],
        "edits": [edit.to_json() for edit in model.edits],
        "missing": model.missing,
        "distributions": {
            name: model.distributions[name].to_json(_value_to_json)
            for name in model.features
            if name in model.distributions
        },
    }
    if model.pair_shares:
        content["pair_shares"] = [
            {"features": list(pair), "shares": shares.tolist()} for pair, shares in model.pair_shares.items()
        ]
    if model.statistics is not None:
        content["statistics"] = _statistics_to_json(model.statistics)
    if profile is not None:
        content["profile"] = profile.content()
    return json.dumps({**content, "sha256": _hash(content)}, indent=2, allow_nan=False)


def read_model(text: str) -> dict[str, Any]:
    """Return the arguments of `Model` from JSON; raise a ValueError if a part is invalid."""
    content = load(text)
    _check_header(content)
    names = _names(content["feature_names"])
    known = frozenset(names)
    scales = _scales(content.get("scales", {}), known)
    terms = tuple(_term(term, known, scales) for term in _list(content["terms"], "terms"))
    used = {name for term in terms for name in term.features}
    distributions = _distributions(content.get("distributions", {}), used, scales)
    special = _special_values(content["special_values"], known, scales)
    statistics = _statistics(content["statistics"], terms) if "statistics" in content else None
    arguments = {
        "loss": _loss(content["loss"]),
        "classes": _classes(content["classes"], content["loss"]),
        "intercept": _finite(content["intercept"], "intercept"),
        "feature_names": names,
        "scales": scales,
        "special_values": special,
        "terms": terms if statistics is None else statistics.attached_to(terms),
        "edits": tuple(edit_from_json(edit) for edit in _list(content.get("edits", []), "edits")),
        "missing": _rule(content.get("missing", "last"), distributions, terms),
        "distributions": distributions,
        "pair_shares": _pair_shares(content.get("pair_shares", []), terms),
        "stored_profile": _profile(content["profile"], terms) if "profile" in content else None,
        "statistics": statistics,
    }
    _check_hash(content)
    return arguments


def label_to_json(label: Any) -> Any:
    """Return a class label for JSON."""
    plain = label.item() if hasattr(label, "item") else label
    if not isinstance(plain, str | int | float):
        msg = f"class labels must be text, numbers or booleans to be written as JSON, got {label!r}."
        raise ValueError(msg)
    return plain


def _term_to_json(term: Term) -> dict[str, Any]:
    """Return a term for JSON; the second condition of an interaction is `also`."""
    low = {} if term.condition.low is None else {"low": term.condition.low}
    also = {} if term.also is None else {"also": _clause_to_json(term.also)}
    return {**_clause_to_json(term.clauses[0]), **low, **also, "coef": term.coef}


def _clause_to_json(clause: Clause) -> dict[str, Any]:
    value = clause.condition.value
    plain = [_value_to_json(v) for v in value] if isinstance(value, tuple) else _value_to_json(value)
    return {"feature": clause.feature, "kind": clause.condition.kind, "value": plain}


def _value_to_json(value: Value | None) -> Any:
    """Return a value for JSON: dates as ISO text."""
    return value.isoformat() if isinstance(value, date) else value


def _scale_to_json(scale: Scale) -> dict[str, Any]:
    if scale.has_levels:
        return {"kind": scale.kind, "levels": list(scale.levels)}
    return {"kind": scale.kind} | ({"has_zone": True} if scale.has_zone else {})


def load(text: Any) -> Any:
    """Parse JSON; raise a ValueError for invalid JSON, deep nesting, repeated keys and numbers that are not finite."""
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_reject_constant)
        _check_depth(content)
        return content
    except RecursionError:
        _raise_too_deep()
    except json.JSONDecodeError as error:
        msg = f"not a sparsegam model: not valid JSON ({error}); the file may be truncated."
        raise ValueError(msg) from None


def _check_depth(content: Any) -> None:
    """Raise ValueError if JSON is nested beyond MAX_DEPTH, as printing it could exhaust the stack."""
    level = list(_parts([content]))
    for _ in range(MAX_DEPTH):
        level = [part for whole in level for part in _parts(whole)]
        if not level:
            return
    _raise_too_deep()


def _parts(whole: Any) -> Iterable[Any]:
    inside = whole.values() if isinstance(whole, dict) else whole
    return (part for part in inside if isinstance(part, list | dict))


def _raise_too_deep() -> NoReturn:
    msg = "not a sparsegam model: the text is nested too deeply."
    raise ValueError(msg) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    _expect([key for key, _ in pairs], "an object's keys", "unique", holds=len(out) == len(pairs))
    return out


def _reject_constant(name: str) -> None:
    _expect(name, "a number", "finite", holds=False)


def _hash(content: Mapping[str, Any]) -> str:
    """Return the hash of the content without its hash entry, independent of key order and white space."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _check_hash(content: Mapping[str, Any]) -> None:
    if "sha256" in content and content["sha256"] != _hash(content):
        msg = (
            "the content of the sparsegam model was changed after it was written (sha256 differs). Get the original "
            "file again, or remove the line sha256 to accept the change."
        )
        raise ValueError(msg)


def _check_header(content: Any) -> None:
    _expect(content, "the text", "one JSON object", holds=isinstance(content, dict))
    _expect(content.get("format"), "format", repr(FORMAT), holds=content.get("format") == FORMAT)
    version = content.get("version")
    if version != VERSION or type(version) is not int:
        msg = (
            f"not a sparsegam model for this release: it has format version {version!r}, and this release reads "
            f"version {VERSION}. Use the release that wrote it, or fit the model again."
        )
        raise ValueError(msg)
    good = content.keys() >= REQUIRED and content.keys() <= REQUIRED | OPTIONAL
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
    good = len(labels) == 2 and all(isinstance(label, str | bool) or is_number(label) for label in labels)
    _expect(labels, "classes", "two labels: texts, finite numbers or booleans", holds=good)
    return labels[0], labels[1]


def _scales(scales: Any, names: frozenset[str]) -> dict[str, Scale]:
    good = isinstance(scales, dict) and scales.keys() <= names
    _expect(scales, "scales", "an object whose keys are feature names", holds=good)
    return {name: _scale(scale) for name, scale in scales.items()}


def _scale(scale: Any) -> Scale:
    good = isinstance(scale, dict) and {"kind"} <= scale.keys() <= {"kind", "levels", "has_zone"}
    _expect(scale, "a scale", "an object with kind and, for categories, levels", holds=good)
    _expect(scale["kind"], "kind of a scale", f"one of {SCALE_KINDS}", holds=scale["kind"] in SCALE_KINDS)
    levels = tuple(_list(scale.get("levels", []), "levels"))
    good = all(isinstance(level, str | bool) or is_number(level) for level in levels)
    good = good and len(set(levels)) == len(levels)
    _expect(levels, "levels", "unique texts, finite numbers or booleans", holds=good)
    has_zone = scale.get("has_zone", False)
    good = isinstance(has_zone, bool) and (not has_zone or scale["kind"] == "datetime")
    _expect(has_zone, "has_zone", "true for times with a time zone only", holds=good)
    return Scale(scale["kind"], levels, has_zone)


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
    return Clause(
        content["feature"], _ramp(content, scale) if ramp else _condition(content["kind"], content["value"], scale)
    )


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


def _rule(rule: Any, distributions: Mapping[str, TrainingDistribution], terms: tuple[Term, ...]) -> str:
    """Read the rule for new values; all rules but "last" need the training distributions."""
    _expect(rule, "missing", f"one of {tuple(RULES)}", holds=isinstance(rule, str) and rule in RULES)
    unknown = {name for term in terms for name in term.features} - distributions.keys()
    _expect(rule, "missing", f"'last', as distributions lacks {sorted(unknown)}", holds=rule == "last" or not unknown)
    return str(rule)


def _distributions(content: Any, used: set[str], scales: Scales) -> dict[str, TrainingDistribution]:
    good = isinstance(content, dict) and content.keys() <= used
    _expect(content, "distributions", "an object whose keys are features in use", holds=good)
    return {name: _distribution(part, scales.get(name, NUMBER)) for name, part in content.items()}


def _pair_shares(content: Any, terms: tuple[Term, ...]) -> dict[tuple[str, str], FloatArray]:
    """Read the share of the training rows in each pair of bins; the model checks the shape."""
    found: dict[tuple[str, str], FloatArray] = {}
    pairs = {term.part for term in terms if term.is_interaction}
    for one in _list(content, "pair_shares"):
        good = isinstance(one, dict) and one.keys() == {"features", "shares"} and isinstance(one["features"], list)
        good = good and all(isinstance(name, str) for name in one["features"]) and tuple(one["features"]) in pairs
        _expect(one, "a part of pair_shares", "an object with features, a pair in use, and shares", holds=good)
        rows = [_list(row, "shares") for row in _list(one["shares"], "shares")]
        even = len(rows) > 0 and all(len(row) == len(rows[0]) > 0 for row in rows)
        _expect(rows, "shares of a pair", "a table of numbers", holds=even)
        shares = np.array([[_finite(share, "a share of a pair") for share in row] for row in rows])
        good = bool((shares >= 0).all()) and abs(math.fsum(shares.ravel().tolist()) - 1) < SHARE_TOLERANCE
        _expect(rows, "shares of a pair", "from 0 to 1 and sum to 1", holds=good)
        found[one["features"][0], one["features"][1]] = shares
    return found


def _distribution(part: Any, scale: Scale) -> TrainingDistribution:
    good = isinstance(part, dict) and {*part} - {"means"} == {"upto", "above", "single", "missing"}
    _expect(part, "a distribution", "an object with upto, above, single, missing and, for ramps, means", holds=good)
    upto, single = (tuple(_pair(pair, scale) for pair in _list(part[name], name)) for name in ("upto", "single"))
    means = tuple(_finite(mean, "a mean of a distribution") for mean in _list(part.get("means", []), "means"))
    edges = [scale.number(value) for value, _ in upto]
    pairs = zip([-math.inf, *edges], means, edges, strict=False)
    good = not means or (len(means) == len(edges) and all(low < mean <= high for low, mean, high in pairs))
    _expect(means, "means", f"one for each interval up to {edges}, within it", holds=good)
    above, missing = _finite(part["above"], "above"), _finite(part["missing"], "missing")
    shares = [above, missing, *(share for _, share in (*upto, *single))]
    good = all(share >= 0 for share in shares) and abs(math.fsum(shares) - 1) < SHARE_TOLERANCE
    _expect(shares, "the shares of a distribution", "from 0 to 1 and sum to 1", holds=good)
    return TrainingDistribution(upto, above, single, missing, means)


def _pair(pair: Any, scale: Scale) -> tuple[Value, float]:
    good = isinstance(pair, list) and len(pair) == 2
    _expect(pair, "a part of a distribution", "a pair of value and share", holds=good)
    return _value(pair[0], scale, "a value of a distribution"), _finite(pair[1], "a share of a distribution")


def _statistics_to_json(statistics: FitStatistics) -> dict[str, Any]:
    known = statistics.covariance
    blocks = [] if known is None else [(part, block.tolist()) for part, block in known.items()]
    return {
        "n_rows": statistics.n_rows,
        "n_events": statistics.n_events,
        "rows": list(statistics.rows),
        "events": None if statistics.events is None else list(statistics.events),
        "intercept_error": statistics.intercept_error,
        "covariance": None if known is None else {part: rows for part, rows in blocks if isinstance(part, str)},
        "pair_covariance": [[*part, rows] for part, rows in blocks if not isinstance(part, str)],
        "unshrunken": None if statistics.unshrunken is None else list(statistics.unshrunken),
    }


def _statistics(content: Any, terms: tuple[Term, ...]) -> FitStatistics:
    good = isinstance(content, dict) and {*content} == {*STATISTICS}
    _expect(content, "statistics", f"an object with {STATISTICS}", holds=good)
    n_rows, n_events, error = content["n_rows"], content["n_events"], content["intercept_error"]
    _expect(n_rows, "n_rows", "a count above zero", holds=type(n_rows) is int and n_rows > 0)
    _expect(
        n_events, "n_events", f"null or a count up to {n_rows}", holds=n_events is None or _is_count(n_events, n_rows)
    )
    good = error is None or (is_number(error) and error >= 0)
    _expect(error, "intercept_error", "null or a number >= 0", holds=good)
    both = (content["events"] is None) == (n_events is None)
    _expect(content["events"], "events", "null if and only if n_events is null", holds=both)
    rows = _counts(content["rows"], "rows", [n_rows] * len(terms))
    return FitStatistics(
        n_rows,
        n_events,
        rows,
        None if n_events is None else _counts(content["events"], "events", rows),
        None if error is None else float(error),
        _covariance(content["covariance"], content["pair_covariance"], terms),
        _unshrunken(content["unshrunken"], len(terms)),
    )


def _unshrunken(values: Any, n_terms: int) -> tuple[float, ...] | None:
    if values is None:
        return None
    good = isinstance(values, list) and len(values) == n_terms and all(map(is_number, values))
    _expect(values, "unshrunken", f"null or {n_terms} finite numbers, one for each term", holds=good)
    return tuple(map(float, values))


def _is_count(value: Any, at_most: int) -> bool:
    return type(value) is int and 0 <= value <= at_most


def _counts(values: Any, name: str, at_most: Sequence[int]) -> tuple[int, ...]:
    good = isinstance(values, list) and len(values) == len(at_most) and all(map(_is_count, values, at_most))
    _expect(values, name, f"{len(at_most)} counts, one for each term, none above its rows", holds=good)
    return tuple(values)


def _covariance(content: Any, pairs: Any, terms: tuple[Term, ...]) -> dict[Part, FloatArray] | None:
    if content is None:
        return None
    sizes: dict[Part, int] = {}
    for term in terms:
        sizes[term.part] = sizes.get(term.part, 0) + 1
    good = isinstance(content, dict) and isinstance(pairs, list)
    good = good and all(isinstance(pair, list) and len(pair) == 3 for pair in pairs)
    good = good and all(isinstance(name, str) for pair in pairs for name in pair[:2])
    _expect(content, "covariance", "matrices by feature, and lists of two features and a matrix", holds=good)
    found: dict[Part, Any] = {**content, **{(first, second): rows for first, second, rows in pairs}}
    _expect(list(found), "covariance", f"matrices of {list(sizes)}", holds={*found} == {*sizes})
    return {part: _matrix(found[part], part_name(part), size) for part, size in sizes.items()}


def _matrix(rows: Any, name: str, size: int) -> FloatArray:
    square = isinstance(rows, list) and len(rows) == size
    square = square and all(isinstance(row, list) and len(row) == size and all(map(is_number, row)) for row in rows)
    _expect(rows, f"covariance of {name!r}", f"{size} rows of {size} finite numbers", holds=square)
    matrix = np.array(rows, dtype=np.float64)
    variance, tolerance = np.diagonal(matrix), COVARIANCE_TOLERANCE
    good = bool((variance >= 0).all()) and np.allclose(
        matrix, matrix.T, rtol=tolerance, atol=tolerance * variance.max()
    )
    _expect(rows, f"covariance of {name!r}", "symmetric, no variance below zero", holds=good)
    return matrix


def _value(value: Any, scale: Scale, name: str) -> Value:
    """Read a value of a feature, which must be on its scale."""
    if scale.kind == "number":
        return _finite(value, name)
    good = isinstance(value, str | int | float) and scale.holds(value)
    _expect(value, name, f"a value of the feature ({scale.kind})", holds=good)
    try:
        return scale.value(scale.number(value))
    except OverflowError:
        # The last microseconds of the year 9999 cannot be represented: the nearest float64 is in the year 10000.
        _expect(value, name, "a time up to 9999-12-31 23:59:59", holds=False)
        raise


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
