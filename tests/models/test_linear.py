"""JSON of linear models: round trips, and a ValueError for each kind of invalid content."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from sparsegam._models.linear import LinearModel

MODEL = LinearModel(0.5, (0, 2), (1.0, -2.0), 3, "logistic", ("no", "yes"), ("a", "b", "c"))
TEXT = MODEL.to_json()

FAR = LinearModel(-1e15, (0, 2), (1e3, -2.0), 3, "squared", centres=(1e12, 0.0), centre_score=0.25)


def changed(**changes):
    return json.dumps({**json.loads(TEXT), **changes})


def test_json_round_trips():
    assert LinearModel.from_json(TEXT) == MODEL
    assert LinearModel.from_json(FAR.to_json()) == FAR


def test_centres_are_taken_from_the_columns_first():
    X = np.array([[1e12 + 2.0**-10, 5.0, 1.0], [1e12, 5.0, 0.0]])
    assert FAR.decision_function(X).tolist() == [0.25 + 1e3 * 2.0**-10 - 2.0, 0.25]
    assert FAR.decision_function(sp.csc_array(X)).tolist() == FAR.decision_function(X).tolist()
    assert FAR.equation() == "prediction = 0.25\n    +1000 x (x0 - 1000000000000.0)\n    -2 x x2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(intercept=10**400), "intercept and weights must be finite numbers"),
        (changed(weights=[1.0, -(10**400)]), "intercept and weights must be finite numbers"),
        (changed(intercept=True), "intercept and weights must be finite numbers"),
        (TEXT.replace("0.5", "1e999"), "intercept and weights must be finite numbers"),
        (TEXT.replace("0.5", "NaN"), "a number must be finite"),
        (
            changed(n_features=10**400, feature_names=None),
            r"n_features must be an integer .* got n_features=10{150,199}\.\.\.",
        ),
        (changed(columns=[0, 10**400]), "columns must be positions below 3"),
        (changed(columns=[0, [2]]), "columns must be positions below 3"),
        (changed(columns="x" * 100_000), r"columns must be positions .{,300}\.\.\."),
        (changed(classes=[["a"], "b"]), "classes must be two labels"),
        (changed(loss=["logistic"]), "loss must be one of"),
        (changed(loss="x" * 100_000), r"loss must be one of .{,400}\.\.\.\."),
        (FAR.to_json().replace("0.25", "1e999"), "centres and centre_score must be finite numbers"),
        (changed(centres=[1.0], centre_score=0.0), "one centre per column"),
        (changed(centres={}, centre_score=0.0), "one centre per column"),
        (changed(centres=[1.0, 2.0]), "its keys must be"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ("[" * 900 + "]" * 900, "nested too deeply"),
        (TEXT[:-30], "the file may be truncated"),
        (TEXT.replace('"loss"', '"loss": "squared", "loss"'), "keys must be unique"),
        ("5", "format must be"),
        ("{}", "format must be"),
    ],
)
def test_from_json_rejects_invalid_content(text, message):
    with pytest.raises(ValueError, match=message):
        LinearModel.from_json(text)
