"""JSON of models: content that was changed, truncated, or is of another version or hostile raises a clear error."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sparsegam.export
from sparsegam import Model, SparseGAMRegressor
from sparsegam._models.profile import Profile
from sparsegam._models.terms import Condition, Term

TERMS = (Term("a", Condition("<=", 0.1), 1 / 3), Term("b", Condition("missing"), -1.0))
KINDS = {"missing": 0.25, "special": 0.0, "unseen": 0.0}
PROFILE = Profile(
    8,
    {"a": np.array([0.25, 0.5, 0.25]), "b": np.array([0.25, 0.75])},
    {"a": KINDS, "b": KINDS},
    np.array([0.7]),
    np.array([0.5, 0.5]),
)
TEXT = Model(0.5, TERMS, ("a", "b"), "logistic", ("no", "yes"), stored_profile=PROFILE).to_json()
SHARES = {"upto": [[0.1, 0.5]], "above": 0.5, "single": [], "missing": 0.0}
TIMED = {"feature": "a", "kind": "<=", "value": "0001-01-01T00:00:00+14:00", "coef": 1.0}
STEP = {"feature": "a", "kind": "<=", "value": 1.0, "coef": 1.0}
RAMP = {**STEP, "kind": "ramp"}
EDIT = {
    **dict.fromkeys(["what", "who", "why", "when"], ""),
    **dict.fromkeys(["auc_before", "auc_after"]),
    "action": "drop",
    "loss_before": 1.0,
    "loss_after": 1.0,
}


def changed(**changes):
    return json.dumps({**json.loads(TEXT), **changes})


def without_hash(**changes):
    content = {**json.loads(TEXT), "scales": {}, **changes}
    return json.dumps({name: part for name, part in content.items() if name not in ("sha256", "profile")})


def profiled(**changes):
    return changed(profile={**PROFILE.content(), **changes})


def test_to_json_is_the_inverse_of_from_json():
    assert Model.from_json(TEXT).to_json() == TEXT


def test_from_json_reads_files_without_hash_or_edits():
    content = json.loads(TEXT)
    del content["sha256"], content["edits"]
    assert Model.from_json(json.dumps(content)).terms == TERMS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(intercept=0.6), "was changed after it was written"),
        (changed(terms=[]), "the features of its profile must be"),
        (changed(sha256="0" * 64), "was changed after it was written"),
        (TEXT[:-40], "the file may be truncated"),
        ("", "the file may be truncated"),
        (changed(version=6), "format version 6, and this release reads version 1"),
        (changed(rows=[[1, 2]]), "its keys must be"),
        (changed(missing="median"), "missing must be one of"),
        (changed(missing=["mean"]), "missing must be one of"),
        (changed(missing="mean"), r"missing must be 'last', as distributions lacks \['a', 'b'\]"),
        (changed(distributions=[]), "distributions must be an object whose keys are features in use"),
        (changed(distributions={"c": SHARES}), "distributions must be an object whose keys are features in use"),
        (changed(distributions={"a": {**SHARES, "rows": [1, 2]}}), "a distribution must be an object with upto"),
        (
            changed(distributions={"a": {**SHARES, "upto": [0.1]}}),
            "a part of a distribution must be a pair of value and share",
        ),
        (
            changed(distributions={"a": {**SHARES, "upto": [["0.1", 0.5]]}}),
            "a value of a distribution must be a finite number",
        ),
        (
            changed(distributions={"a": {**SHARES, "above": 0.75}}),
            "the shares of a distribution must be from 0 to 1",
        ),
        (
            changed(distributions={"a": {**SHARES, "above": 1.5, "missing": -1.0}}),
            "the shares of a distribution must be from 0 to 1",
        ),
        (changed(distributions={"a": {**SHARES, "above": True}}), "above must be a finite number"),
        (changed(version="1"), "format version '1', and this release reads version 1"),
        (changed(version=True), "format version True"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        (TEXT.replace('"loss"', '"loss": "squared", "loss"'), "keys must be unique"),
        (TEXT.replace("0.5", "NaN"), "a number must be finite"),
        (TEXT.replace("0.5", "1e999"), "intercept must be a finite number"),
        (TEXT.replace("0.5", "1" + "0" * 400), "intercept must be a finite number"),
        ('{"a":' + "[" * 900 + "]" * 900 + "}", "nested too deeply"),
        (changed(scales={"a": "[" * 900}, edits=json.loads("[" * 30 + "]" * 30)), "nested too deeply"),
        ("5", "the text must be one JSON object"),
        (changed(scales={"a": {"kind": "category", "levels": [1, 10**400]}}), "levels must be unique texts, finite"),
        (
            changed(scales={"a": {"kind": "category", "levels": [1, 2]}}).replace("[1, 2]", "[1, 1e999]"),
            "finite numbers",
        ),
        (changed(scales={"a": {"kind": "datetime"}}, terms=[TIMED]), "value must be a value of the feature"),
        (
            changed(scales={"a": {"kind": "datetime"}}, terms=[{**TIMED, "value": "9999-12-31T23:59:59.999999"}]),
            "value must be a time up to 9999-12-31 23:59:59",
        ),
        (
            changed(scales={"a": {"kind": "date"}}, terms=[{**TIMED, "value": "9999-12-31T23:59:59.999999"}]),
            "value must be a (time|value)",
        ),
        (
            changed(classes=["no", 0.25]).replace("0.25", "1e400", 1),
            "classes must be two labels: texts, finite numbers",
        ),
        (changed(classes=["no", 10**400]), "classes must be two labels: texts, finite numbers"),
        (
            without_hash(terms=[{**STEP, "coef": c} for c in (1e308, 1e308)]),
            r"scores up to inf, .* above 1e\+290",
        ),
        (without_hash(terms=[{**STEP, "coef": -1e308}]), r"allow scores up to 1e\+308"),
        (
            without_hash(terms=[{**STEP, "kind": "ramp", "low": -1e200, "value": 1e200, "coef": 1e150}]),
            "allow scores up to",
        ),
        (
            without_hash(terms=[{**STEP, "kind": "ramp", "low": -1.5e308, "value": 1.5e308, "coef": 1}]),
            "scores up to inf",
        ),
        (without_hash(intercept=1.5e308), "allow scores up to"),
        (changed(terms=[{"feature": ["a"], "kind": "missing", "value": None, "coef": 1}]), "feature must be one of"),
        (changed(terms=[{"feature": "a", "kind": "<=", "value": 10**400, "coef": 1}]), "value must be a finite number"),
        (
            changed(terms=[{"feature": "a", "kind": "<=", "value": 1, "coef": -(10**400)}]),
            "coef must be a finite number",
        ),
        (changed(edits=[{**EDIT, "loss_before": 10**400}]), "loss_before of an edit has the invalid value"),
        (changed(feature_names=["a", "b", {"__class__": "os.system"}]), "feature_names must be unique names"),
        (changed(edits=[{"action": "run"}]), "an edit must be an object"),
        (changed(intercept="__import__('os').system('false')"), "intercept must be a finite number"),
        (changed(loss="x" * 100_000), r"loss must be one of .{,400}\.\.\.\."),
        (profiled(n_rows=9), "was changed after it was written"),
        (changed(profile=None), "in its profile, a profile must be an object"),
        (profiled(n_rows=0), "in its profile, n_rows must be a count"),
        (profiled(n_rows=True), "n_rows must be a count"),
        (profiled(n_rows="os.system"), "n_rows must be a count"),
        (profiled(rows=[[1, 2]]), "a profile must be an object with"),
        (profiled(bands=[0.7, 0.7]), "bands must be finite numbers in increasing order"),
        (profiled(bands=[10**400]), "bands must be finite numbers in increasing order"),
        (profiled(bands=[0.7, 0.8]), "number of shares of the score must be 3"),
        (profiled(score=[0.5, "0.5"]), "shares of the score must be numbers"),
        (profiled(score={}), "score must be a list"),
        (profiled(shares={"a": [0.5, 0.6], "b": [0.25, 0.75]}), "shares of 'a' must be numbers from 0 to 1 whose sum"),
        (profiled(shares={"a": [-1, 2], "b": [1]}), "shares of 'a' must be numbers"),
        (profiled(shares=[]), "shares must be lists by feature"),
        (profiled(kinds={"a": KINDS}), "the features of kinds must be those of shares"),
        (profiled(kinds={"a": KINDS, "b": {"missing": 2.0, "special": 0, "unseen": 0}}), "kinds of 'b' must be"),
        (profiled(kinds={}, shares={}), r"the features of its profile must be \['a', 'b'\]"),
    ],
)
def test_from_json_rejects_invalid_content(text, message):
    with pytest.raises(ValueError, match=message):
        Model.from_json(text)


@pytest.mark.timeout(30)  # it took minutes where names were looked up one by one
def test_from_json_is_linear_in_the_number_of_names_and_terms():
    names = tuple(f"feature number {i}" for i in range(200_000))
    terms = tuple(Term(name, Condition("<=", 1.0), 1.0) for name in names[-50_000:])
    model = Model(0.0, terms, names, "squared")
    assert Model.from_json(model.to_json()) == model


def test_json_keeps_training_distributions_to_the_bit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(list("abc"), 300)})
    y = np.where(X.x > 0.3, 1.7, 0.1) + (X.c == "b") + rng.normal(scale=0.1, size=300)
    model = SparseGAMRegressor(missing="mean").fit(X, y, sample_weight=rng.uniform(0.1, 3.0, 300)).model_
    back = Model.from_json(model.to_json())
    assert (back.missing, back.distributions) == ("mean", model.distributions)
    new = pd.DataFrame({"x": [np.nan, 0.0], "c": ["a", None]})
    with pytest.warns(UserWarning, match="which did not occur in training"):
        np.testing.assert_array_equal(back.decision_function(new), model.decision_function(new))


def test_drift_rejects_the_profile_of_another_model():
    content = json.loads(profiled(shares={"a": [0.5, 0.5], "b": [0.25, 0.75]}))
    del content["sha256"]
    with pytest.raises(ValueError, match="the profile belongs to another model"):
        Model.from_json(json.dumps(content)).drift(pd.DataFrame({"a": [1.0], "b": [2.0]}))


def test_json_matches_the_published_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(sparsegam.export.__file__).parent / "model.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for text in (TEXT, changed(distributions={"a": SHARES})):
        jsonschema.validate(json.loads(text), schema)
    for text in (
        changed(version=2),
        profiled(n_rows=0),
        profiled(score=[2.0]),
        changed(missing="no"),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(changed(loss="hinge")), schema)
