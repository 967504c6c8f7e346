"""Settings: defaults, validation and grids of gamma."""

import numpy as np
import pytest

from sparsegam.compat.settings import Settings

WRONG = [
    {"loss": "logistic"},
    {"penalty": "L2"},
    {"algorithm": "BFGS"},
    {"max_support_size": 0},
    {"max_support_size": 2.5},
    {"num_lambda": 0},
    {"num_lambda": None},
    {"num_gamma": None},
    {"num_gamma": 2},  # L0 has no gamma
    {"gamma_max": -1.0},
    {"gamma_min": -1.0},
    {"gamma_min": 3.0, "gamma_max": 2.0},
    {"partial_sort": 1},
    {"max_iter": 0},
    {"rtol": 1.0},
    {"atol": -1.0},
    {"active_set": "yes"},
    {"active_set_num": 0},
    {"max_swaps": 0},
    {"scale_down_factor": 0.0},
    {"scale_down_factor": 1.0},
    {"screen_size": 0},
    {"exclude_first_k": -1},
    {"intercept": None},
    {"loss": "Exponential", "penalty": "L0L2"},
    {"lambda_grid": [[1.0, 0.5]]},  # conflicts with num_lambda and num_gamma
    {"lambda_grid": [[1.0, 0.5]], "num_lambda": None},
    {"lambda_grid": [[1.0], [0.5]], "num_lambda": None, "num_gamma": None},
    {"lambda_grid": [], "num_lambda": None, "num_gamma": None},
    {"lambda_grid": [[]], "num_lambda": None, "num_gamma": None},
    {"lambda_grid": [[0.5, 1.0]], "num_lambda": None, "num_gamma": None},
    {"lambda_grid": [[1.0, 1.0]], "num_lambda": None, "num_gamma": None},
    {"lambda_grid": [[1.0, 0.0]], "num_lambda": None, "num_gamma": None},
    {"lambda_grid": [[np.nan]], "num_lambda": None, "num_gamma": None},
    {"penalty": "L0L2", "num_gamma": 3, "gamma_min": 0.0},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_invalid_settings_are_rejected(wrong):
    with pytest.raises(ValueError, match=r"must|supports"):
        Settings(**wrong)


def test_single_gamma_of_a_regression_warns():
    with pytest.warns(UserWarning, match="only one value of L2") as told:
        Settings(penalty="L0L2")
    assert len(told) == 1


@pytest.mark.parametrize(
    ("given", "gammas"),
    [
        ({}, [0.0]),
        ({"loss": "Logistic"}, [1e-7]),
        ({"loss": "Logistic", "gamma_max": 5.0, "gamma_min": 5.0}, [1e-7]),  # "L0" has its own ridge
        ({"loss": "Exponential"}, [0.0]),
        ({"loss": "Logistic", "penalty": "L0L2"}, [10.0]),
        ({"loss": "Logistic", "penalty": "L0L2", "num_gamma": 3, "gamma_min": 0.001}, [10.0, 0.1, 0.001]),
        ({"loss": "Logistic", "penalty": "L0L1", "num_gamma": 3, "gamma_min": 0.01}, [7.0, 0.7, 0.07]),
        ({"loss": "Logistic", "penalty": "L0L1", "gamma_max": 2.0}, [2.0]),
    ],
    ids=str,
)
def test_gammas_decrease(given, gammas):
    assert Settings(**given).gammas(steepest=7.0) == pytest.approx(gammas)


def test_classification_with_l0_has_a_small_ridge():
    assert Settings(loss="SquaredHinge").penalty_in_use == "L0L2"
    assert Settings().penalty_in_use == "L0"
    assert Settings(loss="Logistic", penalty="L0L1").penalty_in_use == "L0L1"


class TestBounds:
    def test_bounds_from_numbers_and_arrays(self):
        low, high = Settings(lows=-1, highs=np.array([0.0, 2.0, np.inf])).bounds(3)
        np.testing.assert_array_equal(low, [-1, -1, -1])
        np.testing.assert_array_equal(high, [0, 2, np.inf])

    @pytest.mark.parametrize(
        "wrong",
        [
            {"lows": 0.1},
            {"highs": -0.1},
            {"lows": 0.0, "highs": 0.0},
            {"lows": np.zeros(2)},
            {"highs": "high"},
            {"lows": np.array([-1.0, -1.0, np.nan])},
            {"highs": np.array([1.0, -1.0, 1.0])},
        ],
        ids=str,
    )
    def test_invalid_bounds_are_rejected(self, wrong):
        with pytest.raises(ValueError, match=r"lows|highs"):
            Settings(**wrong).bounds(3)


def test_l0learn_grids_may_repeat_values_and_end_at_zero():
    free = {"num_lambda": None, "num_gamma": None, "strict": False}
    Settings(lambda_grid=[[1.0, 1.0, 0.0]], **free)
    with pytest.raises(ValueError, match="non-increasing"):
        Settings(lambda_grid=[[0.5, 1.0]], **free)
