"""A table with every type of column: numbers, special and missing values, booleans, dates, times, text, categories."""

import numpy as np
import pandas as pd


def mixed_table(n, seed=0):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 60, n), unit="D")
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "debt": rng.choice([-9.0, 0.0, 1.5, 2.5, 7.0], n),
            "income": np.round(rng.normal(size=n), 2),
            "owner": rng.random(n) < 0.4,
            "since": days.date,
            "seen": days + pd.to_timedelta(rng.integers(0, 24, n), unit="h"),
            "job": rng.choice(["clerk", "baker", "smith", "judge"], n, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )
    frame["grade"] = pd.Categorical(
        rng.choice(["low", "mid", "top"], n), categories=["low", "mid", "top"], ordered=True
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.05, "job"] = None
    score = 0.05 * (frame["age"] - 40) - 1.5 * (frame["debt"] == -9.0) + 1.0 * frame["income"].isna()
    score += 1.2 * (frame["job"] == "smith") - 0.8 * frame["owner"] + 0.7 * (frame["grade"] == "top")
    frame["y"] = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "bad", "good")
    return frame


def with_outcomes(frame):
    """Return the table with a numeric target, weights and labels of three classes."""
    n, rng = len(frame), np.random.default_rng(5)
    frame["amount"] = frame["income"].fillna(2.0) + (frame["age"] > 40) + rng.normal(size=n)
    frame["w"] = rng.choice([0.0, 1.0, 2.5], n)
    frame["three"] = np.where(frame["age"] > 60, "old", np.where(frame["owner"], "owner", "other"))
    return frame
