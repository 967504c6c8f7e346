"""Data and models for the tests of plots; importing it selects the non-interactive backend of matplotlib."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from sparsegam import gam_path


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module", name="mixed_data")
def make_mixed_data():
    """Return a table with numbers, missing and special values, a category, a date and a boolean."""
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame({f"x{j}": rng.integers(0, 30, n).astype(float) for j in range(12)})
    frame["city"] = rng.choice(["Rome", "Oslo", "Lima", "Bern"], n)
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, n), unit="D")
    frame["flag"] = rng.random(n) < 0.5
    frame.loc[::9, "x0"] = np.nan
    frame.loc[::7, "x1"] = -9
    score = (frame["x0"] <= 12) * 2 + (frame["city"] == "Rome") - (frame["x1"] == -9) + frame["flag"] - 1.5
    return frame, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


@pytest.fixture(scope="module", name="path")
def make_path(mixed_data):
    frame, y = mixed_data
    return gam_path(frame, y, max_terms=60, special_values={"x1": [-9]})
