"""Generate random labels, numeric targets and weights, both ordinary and degenerate."""

from __future__ import annotations

import numpy as np
import pandas as pd

LABELS = {
    "integers": [0, 1, 2, 3],
    "signs": [-1, 1, 2, 3],
    "floats": [0.0, 1.0, 2.0, 3.0],
    "text": ["no", "yes", "perhaps", "O'Fallon"],
    "booleans": [False, True],
}


def signal(rng, columns, n):
    """Return a score that depends on a few of the columns."""
    score = np.zeros(n)
    for column in columns[:3]:
        codes = np.unique(column.values.astype(str), return_inverse=True)[1].astype(np.float64)
        score += rng.normal() * (codes > np.median(codes))
    return 3 * (score - score.mean())


def draw_labels(rng, score, n_classes):
    """Return class indices: noisy, separable, random, or with a rare class."""
    how = str(rng.choice(["noisy", "separable", "random", "rare"], p=[0.6, 0.2, 0.1, 0.1]))
    n = score.size
    if how == "random":
        index = rng.integers(0, n_classes, n)
    elif how == "rare":
        index = np.zeros(n, dtype=np.intp)
        index[rng.integers(n)] = 1
    else:
        noise = rng.logistic(size=n) if how == "noisy" else 0.0
        edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
        index = np.searchsorted(edges, score + noise, side="left")
    return how, index


def name_labels(rng, index, n_classes):
    """Return class labels of a random type."""
    kinds = [kind for kind, labels in LABELS.items() if len(labels) >= n_classes]
    kind = str(rng.choice(kinds))
    return kind, np.array(LABELS[kind])[index]


def draw_numeric_target(rng, score):
    """Return a numeric target: noisy, exact, constant, scaled, shifted or rounded."""
    how = str(rng.choice(["noisy", "exact", "constant", "scaled", "offset", "whole"], p=[0.4, 0.1, 0.1, 0.2, 0.1, 0.1]))
    n = score.size
    y = score + rng.normal(size=n)
    if how == "exact":
        y = score.copy()
    elif how == "constant":
        y = np.full(n, rng.choice([0.0, 1.0, 1e40, -0.3]))
    elif how == "scaled":
        y *= 10.0 ** rng.integers(-50, 51)
    elif how == "offset":
        y += 10.0 ** rng.integers(3, 13)
    return how, np.round(y).astype(np.int64) if how == "whole" else y


def draw_weights(rng, n):
    """Return sample weights, or None."""
    kinds = ["none", "uniform", "whole", "zeros", "huge", "tiny", "wide", "same"]
    how = str(rng.choice(kinds, p=[0.5, 0.1, 0.15, 0.05, 0.05, 0.05, 0.05, 0.05]))
    made = {
        "none": lambda: None,
        "uniform": lambda: rng.uniform(0.1, 2.0, n),
        "whole": lambda: rng.integers(0, 4, n).astype(np.float64),
        "zeros": lambda: (rng.random(n) < 0.5) * 1.0,
        "huge": lambda: rng.uniform(1, 2, n) * 1e20,
        "tiny": lambda: rng.uniform(1, 2, n) * 1e-20,
        "wide": lambda: 10.0 ** rng.uniform(-10, 10, n),
        "same": lambda: np.full(n, rng.choice([0.5, 3.0])),
    }
    return how, made[how]()


def wrapped(rng, values):
    """Return a random container for y: an array, a list or a series."""
    how = str(rng.choice(["array", "list", "series", "column"], p=[0.7, 0.1, 0.1, 0.1]))
    return how if how != "column" else "array"


def wrap(values, how):
    if values is None or how == "array":
        return values
    return values.tolist() if how == "list" else pd.Series(values)
