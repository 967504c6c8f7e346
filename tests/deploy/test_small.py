"""Small scorecards in one call: few terms, small points, no worse than a rounded model of the same size."""

import numpy as np
import pytest

from sparsegam import gam_path
from sparsegam.datasets import make_credit
from sparsegam.deploy import scorecard, small_scorecard

SPECIAL = [-7, -8, -9]


@pytest.fixture(scope="module")
def credit():
    data = make_credit(2000)
    return data.frame, data.target


def n_terms(card):
    """Number of changes of points from step to step, beside those of missing and special values that rows had."""
    return sum(
        int(np.count_nonzero(np.diff([s.adds for s in t.steps if s.kind in ("upto", "rest")])))
        + sum(s.adds != 0 for s in t.steps if s.kind in ("missing", "equal") and not s.new)
        for t in card.steps.tables
    )


@pytest.mark.parametrize("max_terms", [1, 3, 5])
def test_it_is_small(credit, max_terms):
    card = small_scorecard(*credit, max_terms=max_terms, scaling={"max_points": 3}, special_values=SPECIAL)
    assert 1 <= n_terms(card) <= max_terms
    assert card.rounding.n_rows == 2000
    steps = [np.diff([s.adds for s in t.steps if s.kind in ("upto", "rest")]) for t in card.steps.tables]
    assert max(abs(np.concatenate(steps)), default=0) <= 3


def test_it_is_no_worse_than_a_rounded_model(credit):
    card = small_scorecard(*credit, max_terms=4, lambda2=1e-2, special_values=SPECIAL)
    model = gam_path(*credit, max_terms=4, lambda2=1e-2, special_values=SPECIAL).at(n_terms=4)
    rounded = scorecard(model, *credit, method="small", max_terms=4)
    assert card.rounding.log_loss_after <= rounded.rounding.log_loss_after + 1e-9


def test_options_reach_the_search_and_the_card(credit):
    X, y = credit
    first = small_scorecard(X, y, special_values=SPECIAL).features[0]
    card = small_scorecard(X, y, special_values=SPECIAL, features_never=[first], scaling={"nonnegative": True})
    assert first not in card.features
    assert min(row["points"] for row in card.table()) == 0
    safer = small_scorecard(X, y, max_terms=1, scaling={"direction": "higher_is_safer"})
    assert np.corrcoef(safer.score(X), safer.predict_proba(X)[:, 1])[0, 1] < 0


def test_weights_are_rows(credit):
    X, y = credit
    twice = small_scorecard(X, y, max_terms=2, sample_weight=np.full(len(y), 2.0))
    assert twice.table()[0]["points"] == small_scorecard(X, y, max_terms=2).table()[0]["points"]
    assert sum(line.rows for line in twice.risks) == 2 * len(y)


def test_tables_that_allow_fewer_terms():
    card = small_scorecard([[0], [0], [1], [1], [1], [0]], [0, 0, 1, 1, 0, 1], max_terms=5)
    assert n_terms(card) == 1


def test_what_it_cannot_keep_is_refused(credit):
    with pytest.raises(ValueError, match="features_always cannot be kept"):
        small_scorecard(*credit, features_always=[0])
    with pytest.raises(ValueError, match="max_terms must be"):
        small_scorecard(*credit, max_terms=0)
    with pytest.raises(ValueError, match="needs a classification model"):
        small_scorecard(*credit, loss="squared")


def test_nothing_to_be_told_apart():
    card = small_scorecard([[1], [1], [1], [1]], [0, 1, 0, 1], max_terms=2)
    assert card.features == ()
    assert card.predict_proba([[1]])[0].tolist() == [0.5, 0.5]
