"""Simulated data have the documented distributions, and equal those of the original package for a seed."""

import numpy as np
import pytest

from sparsegam.compat.generators import cor_matrix, gen_synthetic, gen_synthetic_high_corr, gen_synthetic_logistic


def test_seeds_give_the_numbers_of_the_original():
    data = gen_synthetic(200, 50, 5, seed=1)
    np.testing.assert_allclose(data["X"][0, :3], [1.62434536, -0.61175641, -0.52817175])
    np.testing.assert_allclose(data["y"][:3], [0.01603538, -1.2669235, -0.07073268], rtol=1e-6)
    labels = gen_synthetic_logistic(200, 50, 5, seed=1)["y"]
    np.testing.assert_array_equal(labels[:10], [0, 0, 1, 0, 0, 1, 0, 1, 0, 1])


def test_global_random_state_is_not_used():
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    gen_synthetic(5, 3, 1, seed=1)
    assert np.random.random() == expected  # noqa: NPY002


@pytest.mark.parametrize("make", [gen_synthetic, gen_synthetic_high_corr])
def test_signal_to_noise_ratio(make):
    data = make(4000, 10, 3, seed=0, b0=2.0, snr=4.0)
    signal = data["X"] @ data["B"]
    assert data["B"].sum() == 3
    np.testing.assert_allclose(data["y"], signal + data["e"] + 2.0)
    assert signal.var() / data["e"].var() == pytest.approx(4.0, rel=0.1)
    assert not make(10, 4, 2, seed=0, snr=np.inf)["e"].any()
    cut = np.abs(make(50, 4, 2, seed=0, rho=0.5)["X"])
    assert ((cut >= 0.5) == (cut != 0)).all()
    assert (cut == 0).any()


def test_correlations_decrease_with_distance():
    """The original raises an error here."""
    data = gen_synthetic_high_corr(20000, 5, 2, seed=0, mu=3.0, base_cor=0.7)
    np.testing.assert_allclose(np.corrcoef(data["X"].T), cor_matrix(5, 0.7), atol=0.03)
    np.testing.assert_allclose(data["X"].mean(axis=0), 3.0, atol=0.05)
    np.testing.assert_array_equal(data["B"], [1, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="base_cor"):
        cor_matrix(3, 1.0)


def test_labels_depend_on_score_and_intercept():
    data = gen_synthetic_logistic(5000, 6, 2, seed=0, s=2.0, mu=0.0, base_cor=0.5)
    assert set(data) == {"X", "y", "B", "b0"}
    score = data["X"] @ data["B"]
    assert data["y"][score > 1].mean() > 0.85
    assert gen_synthetic_logistic(2000, 6, 2, seed=0, b0=3.0)["y"].mean() > 0.8
