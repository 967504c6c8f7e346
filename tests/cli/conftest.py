"""Data for the tests of the command line."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a file with numbers, text, missing values, an identifier, and a target with two labels."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "id": [f"row{i}" for i in range(n)],
            "age": rng.integers(18, 80, n),
            "income": rng.normal(50, 15, n).round(1),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
        }
    )
    score = 2.0 * (frame["age"] <= 40) + 1.5 * (frame["city"] == "Rome") - 1.5
    frame["answer"] = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    frame["amount"] = (score + rng.normal(size=n)).round(3)
    frame.loc[::17, "income"] = np.nan
    file = tmp_path_factory.mktemp("cli") / "data.csv"
    frame.to_csv(file, index=False)
    return file
