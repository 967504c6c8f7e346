"""The JSON of a model: what was tampered with, cut off, newer or hostile is refused with a clear error."""

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
TEXT = Model(0.5, TERMS, ("a", "b"), "logistic", ("no", "yes")).remembering(PROFILE).to_json()
SEEN = {"upto": [[0.1, 0.5]], "above": 0.5, "alone": [], "missing": 0.0}
OF_FORMAT_2 = """
{"format": "sparsegam.Model", "version": 2, "loss": "squared", "classes": null, "intercept": 1.0,
 "feature_names": ["x", "c"], "scales": {"c": {"kind": "category", "levels": ["a", "b"]}},
 "special_values": {"x": [-9.0]}, "terms": [{"feature": "x", "kind": "<=", "value": 2.0, "coef": -0.5},
 {"feature": "c", "kind": "==", "value": "a", "coef": 0.25}], "edits": [],
 "profile": {"n_rows": 4, "shares": {"x": [0.0, 0.0, 0.5, 0.5], "c": [0.0, 0.5, 0.5]},
 "kinds": {"x": {"missing": 0.0, "special": 0.0, "unseen": 0.0}, "c": {"missing": 0.0, "special": 0.0, "unseen": 0.0}},
 "bands": [0.6], "score": [0.5, 0.5]}}
"""
OF_FORMAT_1 = (
    '{"format": "sparsegam.Model", "version": 1, "loss": "logistic", "classes": ["no", "yes"], "intercept": 0.5, '
    '"feature_names": ["a", "b", "c"], "scales": {"c": {"kind": "category", "levels": ["x", "y", "z"]}}, '
    '"special_values": {"a": [-9.0]}, "terms": [{"feature": "a", "kind": "<=", "value": 0.1, "coef": '
    '0.3333333333333333}, {"feature": "b", "kind": "missing", "value": null, "coef": -1.0}, {"feature": "c", '
    '"kind": "in", "value": ["x", "y"], "coef": 0.25}], "edits": [], "sha256": '
    '"4a25b975924d668a40f6fd75a359b77891fec1c102ae8cca59b5fd7598264434"}'
)


TIMED = {"feature": "a", "kind": "<=", "value": "0001-01-01T00:00:00+14:00", "coef": 1.0}
EDIT = {
    **dict.fromkeys(["what", "who", "why", "when"], ""),
    **dict.fromkeys(["auc_before", "auc_after"]),
    "action": "drop",
    "loss_before": 1.0,
    "loss_after": 1.0,
}


def changed(**changes):
    return json.dumps({**json.loads(TEXT), **changes})


def profiled(**changes):
    return changed(profile={**PROFILE.content(), **changes})


def test_it_comes_back():
    assert Model.from_json(TEXT).to_json() == TEXT


def test_files_without_a_hash_or_edits_are_read():
    content = json.loads(TEXT)
    del content["sha256"], content["edits"]
    assert Model.from_json(json.dumps(content)).terms == TERMS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(intercept=0.6), "its content was changed later"),
        (changed(terms=[]), "the features of its profile must be"),
        (changed(sha256="0" * 64), "its content was changed later"),
        (TEXT[:-40], "is the file whole"),
        ("", "is the file whole"),
        (changed(version=6), "a newer one wrote it"),
        (changed(version=2), "its keys must be"),
        (changed(missing="median"), "missing must be one of"),
        (changed(missing=["mean"]), "missing must be one of"),
        (changed(missing="mean"), r"missing must be 'last' where seen lacks \['a', 'b'\]"),
        (changed(seen=[]), "seen must be objects by feature in use"),
        (changed(seen={"c": SEEN}), "seen must be objects by feature in use"),
        (changed(seen={"a": {**SEEN, "rows": [1, 2]}}), "a part of seen must be an object with upto"),
        (changed(seen={"a": {**SEEN, "upto": [0.1]}}), "a part of seen must be a pair of value and share"),
        (changed(seen={"a": {**SEEN, "upto": [["0.1", 0.5]]}}), "a value of seen must be a finite number"),
        (changed(seen={"a": {**SEEN, "above": 0.75}}), "the shares of seen must be from 0 to 1"),
        (changed(seen={"a": {**SEEN, "above": 1.5, "missing": -1.0}}), "the shares of seen must be from 0 to 1"),
        (changed(seen={"a": {**SEEN, "above": True}}), "above must be a finite number"),
        (changed(version=10**30), "a newer one wrote it"),
        (changed(version="1"), "version must be one of"),
        (changed(version=True), "version must be one of"),
        (changed(version=0), "version must be one of"),
        (changed(version=1), "its keys must be"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        (TEXT.replace('"loss"', '"loss": "squared", "loss"'), "keys must be unique"),
        (TEXT.replace("0.5", "NaN"), "a number must be finite"),
        (TEXT.replace("0.5", "1e999"), "intercept must be a finite number"),
        (TEXT.replace("0.5", "1" + "0" * 400), "intercept must be a finite number"),
        ('{"a":' + "[" * 900 + "]" * 900 + "}", "nested too deeply"),
        (changed(scales={"a": "[" * 900}, edits=json.loads("[" * 30 + "]" * 30)), "nested too deeply"),
        ("5", "the text must be one JSON object"),
        (changed(scales={"a": {"kind": "category", "levels": [1, 10**400]}}), "levels must be texts, finite numbers"),
        (
            changed(scales={"a": {"kind": "category", "levels": [1, 2]}}).replace("[1, 2]", "[1, 1e999]"),
            "finite numbers",
        ),
        (changed(scales={"a": {"kind": "datetime"}}, terms=[TIMED]), "value must be a value of the feature"),
        (changed(terms=[{"feature": ["a"], "kind": "missing", "value": None, "coef": 1}]), "feature must be one of"),
        (changed(terms=[{"feature": "a", "kind": "<=", "value": 10**400, "coef": 1}]), "value must be a finite number"),
        (
            changed(terms=[{"feature": "a", "kind": "<=", "value": 1, "coef": -(10**400)}]),
            "coef must be a finite number",
        ),
        (changed(edits=[{**EDIT, "loss_before": 10**400}]), "loss_before of an edit is wrong"),
        (changed(feature_names=["a", "b", {"__class__": "os.system"}]), "feature_names must be unique names"),
        (changed(edits=[{"action": "run"}]), "an edit must be an object"),
        (changed(intercept="__import__('os').system('false')"), "intercept must be a finite number"),
        (changed(loss="x" * 100_000), r"loss must be one of .{,400}\.\.\.\."),
        (profiled(n_rows=9), "its content was changed later"),
        (changed(profile=None), "in its profile, a profile must be an object"),
        (profiled(n_rows=0), "in its profile, n_rows must be a count"),
        (profiled(n_rows=True), "n_rows must be a count"),
        (profiled(n_rows="os.system"), "n_rows must be a count"),
        (profiled(rows=[[1, 2]]), "a profile must be an object with"),
        (profiled(bands=[0.7, 0.7]), "bands must be finite numbers that rise"),
        (profiled(bands=[10**400]), "bands must be finite numbers that rise"),
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
def test_anything_else_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Model.from_json(text)


@pytest.mark.timeout(30)  # it took minutes where names were looked up one by one
def test_many_terms_of_many_names_take_linear_time():
    names = tuple(f"feature number {i}" for i in range(200_000))
    terms = tuple(Term(name, Condition("<=", 1.0), 1.0) for name in names[-50_000:])
    model = Model(0.0, terms, names, "squared")
    assert Model.from_json(model.to_json()) == model


def test_format_1_stays_readable():
    model = Model.from_json(OF_FORMAT_1)
    assert [term.condition.value for term in model.terms] == [0.1, None, ("x", "y")]
    with pytest.raises(ValueError, match="does not contain the training distribution"):
        model.drift(pd.DataFrame({"a": [1.0], "b": [2.0], "c": ["x"]}))
    assert Model.from_json(model.to_json()) == model


def test_models_of_format_2_keep_their_scores():
    model = Model.from_json(OF_FORMAT_2)
    rows = pd.DataFrame({"x": [1.0, 3.0, np.nan, -9.0, 1.0], "c": ["a", "b", None, "a", "z"]})
    assert (model.missing, model.is_centred()) == ("last", False)
    with pytest.warns(UserWarning, match="1 row has a new level in 'c', which no training row had: these add nothing"):
        assert model.decision_function(rows).tolist() == [0.75, 1.0, 1.0, 1.25, 0.5]
    assert model.drift(rows).n_reference == 4
    assert Model.from_json(model.to_json()) == model
    with pytest.raises(ValueError, match=r"centred=True needs the mean of column 'x'.*use centred=False"):
        model.contributions(rows, centred=True)


def test_what_the_rows_had_comes_back_to_the_bit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(list("abc"), 300)})
    y = np.where(X.x > 0.3, 1.7, 0.1) + (X.c == "b") + rng.normal(scale=0.1, size=300)
    model = SparseGAMRegressor(missing="mean").fit(X, y, sample_weight=rng.uniform(0.1, 3.0, 300)).model_
    back = Model.from_json(model.to_json())
    assert (back.missing, back.seen) == ("mean", model.seen)
    new = pd.DataFrame({"x": [np.nan, 0.0], "c": ["a", None]})
    with pytest.warns(UserWarning, match="which no training row had"):
        np.testing.assert_array_equal(back.decision_function(new), model.decision_function(new))


def test_profiles_of_other_steps_are_refused_when_they_are_used():
    content = json.loads(profiled(shares={"a": [0.5, 0.5], "b": [0.25, 0.75]}))
    del content["sha256"]
    with pytest.raises(ValueError, match="the profile belongs to another model"):
        Model.from_json(json.dumps(content)).drift(pd.DataFrame({"a": [1.0], "b": [2.0]}))


def test_published_schema_describes_it():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(sparsegam.export.__file__).parent / "model.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for text in (TEXT, changed(seen={"a": SEEN}), OF_FORMAT_2, OF_FORMAT_1):
        jsonschema.validate(json.loads(text), schema)
    for text in (
        changed(version=1),
        profiled(n_rows=0),
        profiled(score=[2.0]),
        changed(version=2),
        changed(missing="no"),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(changed(loss="hinge")), schema)
