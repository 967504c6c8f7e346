"""Models with interactions: scores, contributions, JSON and equations."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _helpers.products import above, product, upto

from sparsegam._data.columns import Scale
from sparsegam._models.additive import Model
from sparsegam._models.functions import score_function
from sparsegam._models.terms import Condition, Term
from sparsegam._models.training import TrainingDistribution

COLOURS = Scale("category", ("red", "green", "blue"))


TERMS = (
    Term("age", upto(30.0), 0.5),
    product(("age", upto(25.0)), ("priors", above(3.0)), 0.25),
    product(("age", above(40.0)), ("priors", upto(1.0)), -0.125),
    product(("priors", Condition("missing")), ("colour", Condition("in", ("red", "blue"))), 2.0),
    product(("priors", Condition("==", -9.0)), ("colour", Condition("==", "green")), -3.0),
)


def model(**changes):
    names = ("age", "priors", "colour", "unused")
    made = Model(
        1.0, TERMS, names, "logistic", (0, 1), special_values={"priors": (-9.0, -8.0)}, scales={"colour": COLOURS}
    )
    return replace(made, **changes)


def known():
    """The same, fitted to rows that had no missing age, no -8 among priors and no new colour."""
    seen = {
        "age": TrainingDistribution(upto=((25.0, 0.25), (30.0, 0.25), (40.0, 0.25)), above=0.25),
        "priors": TrainingDistribution(
            upto=((1.0, 0.25), (3.0, 0.25)), above=0.25, single=((-9.0, 0.125),), missing=0.125
        ),
        "colour": TrainingDistribution(single=(("red", 0.5), ("green", 0.5))),
    }
    shares = {pair: np.zeros(tuple(map(len, model(distributions=seen).pair_bins(pair)))) for pair in model().pairs}
    for table in shares.values():
        table[0, 0] = table[1, 1] = 0.5
    return model(missing="mean", distributions=seen, pair_shares=shares)


ROWS = pd.DataFrame(
    {
        "age": [20.0, 25.0, 26.0, 41.0, 60.0, np.nan, 20.0, 50.0],
        "priors": [4.0, 3.0, 9.0, 1.0, 0.0, 9.0, np.nan, -9.0],
        "colour": ["red", "green", "blue", "red", "green", "green", "blue", "green"],
        "unused": np.zeros(8),
    }
)


def by_hand(rows):
    age, priors, colour = rows["age"], rows["priors"], rows["colour"]
    plain = ~priors.isin([-9.0, -8.0])
    score = 1.0 + 0.5 * (age <= 30)
    score += 0.25 * ((age <= 25) & plain & (priors > 3))
    score += -0.125 * ((age > 40) & plain & (priors <= 1))
    score += 2.0 * (priors.isna() & colour.isin(["red", "blue"]))
    return score + -3.0 * ((priors == -9) & (colour == "green"))


def test_interactions_contribute_where_both_conditions_hold():
    np.testing.assert_array_equal(model().decision_function(ROWS), by_hand(ROWS))


def test_score_function_gives_the_same_bits():
    for each in (model(), known()):
        rows = ROWS.iloc[[0, 1, 2, 3, 4, 6, 7]]
        np.testing.assert_array_equal(score_function(each).score(rows), each.decision_function(rows))


def test_parts_lists_features_with_own_terms_and_pairs():
    made = model()
    assert made.features == ("age", "priors", "colour")
    assert made.parts == ("age", ("age", "priors"), ("priors", "colour"))
    assert list(made.shape_functions()) == ["age"]
    contributions = made.contributions(ROWS)
    assert contributions.shape == (8, 3)
    np.testing.assert_allclose(contributions.sum(axis=1) + made.baseline(), by_hand(ROWS))


def test_centred_contributions_add_up_to_the_score():
    made = known()
    rows = ROWS.iloc[[0, 1, 2, 3, 4, 6, 7]]
    total = made.contributions(rows).sum(axis=1) + made.baseline()
    np.testing.assert_allclose(total, by_hand(rows))
    for pair in made.pair_functions(centred=True).values():
        assert pair.mean == pytest.approx(0.0, abs=1e-15)


def test_pairs_with_a_new_value_contribute_their_mean():
    made = known()
    rows = pd.DataFrame({"age": [np.nan, 20.0], "priors": [9.0, -8.0], "colour": ["green", "grey"], "unused": 0.0})
    with pytest.warns(UserWarning, match="did not occur in training"):
        score = made.decision_function(rows)
    means = [pair.mean for pair in made.pair_functions().values()]
    age = made.shape_functions()["age"].mean
    assert score[0] == pytest.approx(1.0 + age + means[0])  # no interaction holds for priors=9 and green
    assert score[1] == pytest.approx(1.0 + 0.5 + means[0] + means[1])


def test_rule_last_scores_as_if_no_condition_held():
    rows = pd.DataFrame({"age": [np.nan], "priors": [9.0], "colour": ["green"], "unused": [0.0]})
    assert model().decision_function(rows)[0] == 1.0


def test_json_keeps_interactions():
    for each in (model(), known()):
        back = Model.from_json(each.to_json())
        assert back == each
        rows = ROWS.iloc[[0, 1, 2, 3, 4, 6, 7]]
        np.testing.assert_array_equal(back.decision_function(rows), each.decision_function(rows))


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('"kind": ">"', '"kind": "ramp"', "low must be a number for ramps only"),
        ('"also": {', '"also": [{', "not valid JSON"),
        ('"feature": "priors"', '"feature": "age"', "two conditions on different features"),
        ('"kind": "in"', '"kind": "is"', "kind must be one of"),
    ],
)
def test_from_json_rejects_invalid_interactions(old, new, wrong):
    text = model().to_json()
    content = json.loads(text)
    del content["sha256"]
    text = json.dumps(content, indent=2)
    with pytest.raises(ValueError, match=wrong):
        Model.from_json(text.replace(old, new, 1))


def test_pair_shares_must_have_the_shape_of_the_bins():
    with pytest.raises(ValueError, match="a share for each bin"):
        model(pair_shares={("age", "priors"): np.ones((1, 1))})
    with pytest.raises(ValueError, match="age & priors"):
        model(missing="mean", distributions=known().distributions)


def test_equation_has_a_line_per_interaction():
    lines = model().equation().splitlines()
    assert "    +0.25 x 1[A <= 25 and B > 3]" in lines[2]
    assert lines[2].endswith("# B: priors")
    assert lines[4].endswith("# C: colour")
    assert str(TERMS[2]) == "-0.125 x 1[age > 40 and priors <= 1]"
    assert "age <= 25 and priors > 3" in model().summary()
    assert model().to_frame()["feature"].tolist()[1] == "age & priors"


def test_invalid_interactions_are_rejected():
    with pytest.raises(ValueError, match="different features"):
        product(("age", upto(1.0)), ("age", above(2.0)), 1.0)
    with pytest.raises(ValueError, match="and no ramp"):
        product(("age", Condition("ramp", 3.0, 1.0)), ("priors", upto(1.0)), 1.0)
    with pytest.raises(ValueError, match="use <= with the negative coefficient"):
        Term("age", above(3.0), 1.0)


def test_conditions_on_booleans_are_written_as_words():
    assert Condition("<=", value=False).text("x") == "x is False"
    assert Condition(">", value=False).text("x") == "x is True"
