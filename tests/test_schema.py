"""The JSON of a model: what was tampered with, cut off, newer or hostile is refused with a clear error."""

import json
from pathlib import Path

import pytest

import sparsegam.export
from sparsegam import Model
from sparsegam.terms import Condition, Term

TERMS = (Term("a", Condition("<=", 0.1), 1 / 3), Term("b", Condition("missing"), -1.0))
TEXT = Model(0.5, TERMS, ("a", "b"), "logistic", ("no", "yes")).to_json()


def changed(**changes):
    return json.dumps({**json.loads(TEXT), **changes})


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
        (changed(terms=[]), "its content was changed later"),
        (changed(sha256="0" * 64), "its content was changed later"),
        (TEXT[:-40], "is the file whole"),
        ("", "is the file whole"),
        (changed(version=2), "a newer one wrote it"),
        (changed(version=10**30), "a newer one wrote it"),
        (changed(version="1"), "version must be 1"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        (TEXT.replace('"loss"', '"loss": "squared", "loss"'), "keys must be unique"),
        (TEXT.replace("0.5", "NaN"), "a number must be finite"),
        (TEXT.replace("0.5", "1e999"), "intercept must be a finite number"),
        (TEXT.replace("0.5", "1" + "0" * 400), "intercept must be a finite number"),
        (changed(feature_names=["a", "b", {"__class__": "os.system"}]), "feature_names must be unique names"),
        (changed(edits=[{"action": "run"}]), "an edit must be an object"),
        (changed(intercept="__import__('os').system('false')"), "intercept must be a finite number"),
        (changed(loss="x" * 100_000), r"loss must be one of .{,400}\.\.\.\."),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Model.from_json(text)


def test_published_schema_describes_it():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(sparsegam.export.__file__).parent / "model.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(TEXT), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(changed(loss="hinge")), schema)
