"""Pairs of features that may interact, and invalid options."""

import pytest

from sparsegam._design.constraints import INTERACTION_COST, Constraints, InteractionOptions

NAMES = ("a", "b", "c")


def test_pairs_that_may_interact():
    assert InteractionOptions("auto").pairs(NAMES, [], []) == [(0, 1), (0, 2), (1, 2)]
    assert InteractionOptions(2).pairs(NAMES, [1], []) == [(0, 2)]
    assert InteractionOptions(2).pairs(NAMES, [], [(0, 2)]) == [(0, 1), (1, 2)]
    assert InteractionOptions([("c", "a"), (0, 2), ["a", "b"]]).pairs(NAMES, [], []) == [(0, 1), (0, 2)]


def test_interactions_are_off_by_default():
    assert not InteractionOptions().is_on
    assert not InteractionOptions([]).is_on
    assert InteractionOptions("auto").is_on
    assert InteractionOptions([("a", "b")]).is_on
    assert InteractionOptions(3).max_pairs == 3
    assert InteractionOptions("auto").cost == INTERACTION_COST
    assert InteractionOptions(interaction_cost=1).cost == 1.0


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"interactions": -1}, "interactions must be an integer >= 0, got -1"),
        ({"interactions": 1.5}, "interactions must be an integer >= 0, got 1.5"),
        ({"interactions": None}, "interactions must be an integer"),
        ({"interactions": "all"}, "interactions must be one of 'auto'"),
        ({"hierarchy": "none"}, "hierarchy must be"),
        ({"interaction_cost": -1.0}, "interaction_cost must be"),
        ({"interaction_cost": "dear"}, "interaction_cost must be one of 'auto'"),
        ({"max_terms_per_pair": 0}, "max_terms_per_pair must be an integer >= 1"),
    ],
)
def test_invalid_options_raise(options, wrong):
    with pytest.raises(ValueError, match=wrong):
        InteractionOptions(**options)


@pytest.mark.parametrize(
    ("pair", "wrong"),
    [
        ("ab", "must contain pairs of columns"),
        (("a", "a"), "pairs of different columns"),
        (("a", "b", "c"), "must contain pairs of columns"),
        (("a", "z"), "'z'"),
    ],
)
def test_invalid_pairs_raise(pair, wrong):
    with pytest.raises(ValueError, match=wrong):
        InteractionOptions([pair]).pairs(NAMES, [], [])


def test_features_never_may_contain_pairs():
    rules = Constraints(features_never=["b", ("c", "a")])
    assert rules.forbidden(NAMES) == [1]
    assert rules.forbidden_pairs(NAMES) == [(0, 2)]
    with pytest.raises(ValueError, match="features_never must contain pairs of columns"):
        Constraints(features_never=[["a"]]).forbidden_pairs(NAMES)
    with pytest.raises(ValueError, match="features_never must contain pairs of columns"):  # even without interactions
        Constraints(features_never=[["a"]]).forbidden(NAMES)
