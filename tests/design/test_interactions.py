"""Which pairs of features may have products, and what is refused."""

import pytest

from sparsegam._design.interactions import COST, Interactions
from sparsegam._design.rules import Rules

NAMES = ("a", "b", "c")


def test_pairs_in_play():
    assert Interactions("auto").pairs(NAMES, [], []) == [(0, 1), (0, 2), (1, 2)]
    assert Interactions(2).pairs(NAMES, [1], []) == [(0, 2)]
    assert Interactions(2).pairs(NAMES, [], [(0, 2)]) == [(0, 1), (1, 2)]
    assert Interactions([("c", "a"), (0, 2), ["a", "b"]]).pairs(NAMES, [], []) == [(0, 1), (0, 2)]


def test_off_by_default():
    assert not Interactions().is_on
    assert not Interactions([]).is_on
    assert Interactions("auto").is_on
    assert Interactions([("a", "b")]).is_on
    assert Interactions(3).most_pairs == 3
    assert Interactions("auto").cost == COST
    assert Interactions(interaction_cost=1).cost == 1.0


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
def test_wrong_options_are_refused(options, wrong):
    with pytest.raises(ValueError, match=wrong):
        Interactions(**options)


@pytest.mark.parametrize(
    ("pair", "wrong"),
    [
        ("ab", "must hold pairs of columns"),
        (("a", "a"), "pairs of different columns"),
        (("a", "b", "c"), "must hold pairs of columns"),
        (("a", "z"), "'z'"),
    ],
)
def test_wrong_pairs_are_refused(pair, wrong):
    with pytest.raises(ValueError, match=wrong):
        Interactions([pair]).pairs(NAMES, [], [])


def test_features_never_may_name_pairs():
    rules = Rules(features_never=["b", ("c", "a")])
    assert rules.never(NAMES) == [1]
    assert rules.never_pairs(NAMES) == [(0, 2)]
    with pytest.raises(ValueError, match="features_never must hold pairs of columns"):
        Rules(features_never=[["a"]]).never_pairs(NAMES)
    with pytest.raises(ValueError, match="features_never must hold pairs of columns"):  # without products, too
        Rules(features_never=[["a"]]).never(NAMES)
