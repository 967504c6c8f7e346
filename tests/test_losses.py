"""The table of the losses says the same as the core, and is the one that everything else asks."""

import numpy as np
import pytest
from scipy.special import expit

from sparsegam import SparseLinearClassifier, gam_path, linear_path
from sparsegam._cli.main import new_parser
from sparsegam.losses import CLASSIFIERS, LOSSES, REGRESSION, logistic


@pytest.mark.parametrize("name", LOSSES)
def test_each_loss_is_that_of_the_core(name):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(80, 2)), rng.random(80)
    y = X[:, 0] + rng.normal(size=80)
    target = np.where(y > 0, 1.0, -1.0) if LOSSES[name].is_classifier else y
    path = gam_path(X, target, loss=name, max_terms=3, sample_weight=weight)
    totals = [LOSSES[name].total(target, model.decision_function(X), weight) for model in path]
    np.testing.assert_allclose(totals, path.loss)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_probability_is_the_share_at_which_a_score_is_best(name):
    """Where a share p of rows is of the second class, the loss is least at the score whose probability is p."""
    loss, p = LOSSES[name], 0.8
    scores = np.linspace(-3, 3, 60001)
    ones = np.ones(scores.size)
    best = scores[np.argmin(p * loss.each(ones, scores) + (1 - p) * loss.each(-ones, scores))]
    assert logistic(loss.slope * best) == pytest.approx(p, abs=1e-4)


def test_only_the_regression_has_no_classes_and_the_hinge_no_probability():
    assert [name for name, loss in LOSSES.items() if not loss.is_classifier] == [REGRESSION]
    assert [name for name, loss in LOSSES.items() if loss.probability_slope is None] == [REGRESSION, "squared_hinge"]
    with pytest.raises(ValueError, match="not to probabilities"):
        _ = LOSSES["squared_hinge"].slope


def test_models_of_the_squared_hinge_have_classes_and_no_probabilities():
    X = np.random.default_rng(0).normal(size=(90, 4))
    y = np.where(X[:, 1] - X[:, 2] > 0, "yes", "no")
    model = linear_path(X, y, loss="squared_hinge", max_terms=2).at(n_terms=2)
    assert (model.predict(X) == y).mean() > 0.95
    assert str(model).endswith("yes where score > 0, else no")
    with pytest.raises(ValueError, match="not to probabilities"):
        model.predict_proba(X)
    with pytest.raises(ValueError, match="has no probabilities"):
        SparseLinearClassifier(loss="squared_hinge").fit(X, y)


def test_the_logistic_function_does_not_overflow():
    scores = np.array([-800.0, -2.0, 0.0, 2.0, 800.0])
    np.testing.assert_allclose(logistic(scores), expit(scores), atol=1e-15)


def test_the_command_line_offers_the_losses_of_classes():
    options = new_parser()._subparsers._group_actions[0].choices["fit"]._option_string_actions
    assert options["--loss"].choices == CLASSIFIERS
