"""The Python table of losses agrees with the core, the CUDA kernels and the names of the options."""

import re
from importlib.resources import files
from typing import get_args

import numpy as np
import pytest
from scipy.special import expit

from sparsegam import SparseLinearClassifier, choices, gam_path, linear_path
from sparsegam._cli.main import new_parser
from sparsegam.losses import LOSSES, PROBABILITY_LOSSES, REGRESSION, logistic


@pytest.mark.parametrize("name", LOSSES)
def test_total_agrees_with_the_core(name):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(80, 2)), rng.random(80)
    y = X[:, 0] + rng.normal(size=80)
    target = np.where(y > 0, 1.0, -1.0) if LOSSES[name].is_classifier else y
    path = gam_path(X, target, loss=name, max_terms=3, sample_weight=weight)
    totals = [LOSSES[name].total(target, model.decision_function(X), weight) for model in path]
    np.testing.assert_allclose(totals, path.loss)


def test_cuda_index_agrees_with_the_kernels():
    source = (files("sparsegam") / "_backends" / "cuda" / "kernels" / "loss.cuh").read_text()
    values = re.search(r"enum : i64 \{(.*?)\}", source)[1]
    indices = {name: int(index) for name, index in re.findall(r"(\w+) = (\d+)", values)}
    assert indices == {name: loss.cuda_index for name, loss in LOSSES.items()}


def test_typed_options_list_all_losses():
    assert get_args(choices.Loss) == tuple(LOSSES)
    assert get_args(choices.ClassLoss) == PROBABILITY_LOSSES


@pytest.mark.parametrize("name", PROBABILITY_LOSSES)
def test_probability_of_the_best_score_is_the_share_of_the_positive_class(name):
    """If a share p of the rows is positive, the score with the smallest loss has the probability p."""
    loss, p = LOSSES[name], 0.8
    scores = np.linspace(-3, 3, 60001)
    ones = np.ones(scores.size)
    best = scores[np.argmin(p * loss.per_row(ones, scores) + (1 - p) * loss.per_row(-ones, scores))]
    assert logistic(loss.slope * best) == pytest.approx(p, abs=1e-4)


def test_squared_loss_has_no_classes_and_squared_hinge_no_probabilities():
    assert [name for name, loss in LOSSES.items() if not loss.is_classifier] == [REGRESSION]
    assert [name for name, loss in LOSSES.items() if loss.probability_slope is None] == [REGRESSION, "squared_hinge"]
    with pytest.raises(ValueError, match="does not provide probabilities"):
        _ = LOSSES["squared_hinge"].slope


def test_squared_hinge_models_predict_classes_but_no_probabilities():
    X = np.random.default_rng(0).normal(size=(90, 4))
    y = np.where(X[:, 1] - X[:, 2] > 0, "yes", "no")
    model = linear_path(X, y, loss="squared_hinge", max_terms=2).at(n_terms=2)
    assert (model.predict(X) == y).mean() > 0.95
    assert str(model).endswith("yes where score > 0, else no")
    with pytest.raises(ValueError, match="does not provide probabilities"):
        model.predict_proba(X)
    with pytest.raises(ValueError, match="does not model probabilities"):
        SparseLinearClassifier(loss="squared_hinge").fit(X, y)


def test_logistic_does_not_overflow():
    scores = np.array([-800.0, -2.0, 0.0, 2.0, 800.0])
    np.testing.assert_allclose(logistic(scores), expit(scores), atol=1e-15)


def test_command_line_accepts_the_losses_with_probabilities():
    options = new_parser()._subparsers._group_actions[0].choices["fit"]._option_string_actions
    assert options["--loss"].choices == PROBABILITY_LOSSES
