"""Corrupt the arguments of a valid call in one way, so that the call must raise."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

BAD = {
    "lambda0": (-1.0, np.nan, np.inf, "cic", "", None, True, 10**400, b"bic", complex(1, 1)),
    "lambda1": (-1.0, np.nan, np.inf, "a", None, 10**400),
    "lambda2": (-1e-300, np.nan, np.inf, "a", None, [], 10**400),
    "max_terms": (-1, 1.5, "3", True, np.nan, [3]),
    "max_features": (0, -1, 1.5, "a", True),
    "max_terms_per_feature": (0, -1, 1.5, "a"),
    "features_always": ("x0", ["no such column"], [99], [-1], [1.5], 3, [None], [True]),
    "features_never": ("x0", ["no such column"], [99], [-1], [1.5], 3, [[0]]),
    "feature_cost": ({0: -1}, {0: np.nan}, {"no such column": 1}, [1.0], {0: "a"}, {0: None}, 3.0),
    "monotone": ({0: "up"}, {99: 1}, "increasing", [1] * 99, 1, {0: 2}, {0: []}),
    "max_bins": (1, 0, -5, 65537, 2.5, "a", None, 10**30),
    "thresholds": ([0.5], {99: [1]}, {0: 1.0}, {0: ["no level"]}, {0: [np.inf]}, "a"),
    "min_samples_bin": (0, -1, 1.5, None, "few"),
    "min_events_bin": (-1, 1.5, None),
    "missing": ("median", None, 1),
    "shapes": ("curves", None, 1, {0: "curves"}),
    "interactions": (-1, 1.5, "all", None, [("x0", "x0")], ["x0"], [("no such column", 0)], [(0, 0)], [(0, 1, 2)]),
    "interaction_cost": (-1.0, np.nan, "dear", None),
    "hierarchy": ("none", 1, "both"),
    "max_terms_per_pair": (0, 1.5, "a"),
    "n_repeats": (0, 1.5, None, "often"),
    "categorical": ("all", [99], ["no such column"], 7),
    "min_category_count": (0, 1.5, None),
    "special_values": ({99: [1]}, {0: 1.0}, [object()], {0: [object()]}, 5, [np.inf]),
    "coef_bounds": ((1, 2), (-2, -1), (0,), 3, "ab", (np.nan, 1), ([0], [1, 2, 3] * 40), (None, None)),
    "unpenalized": ("x0", [99], ["no such column"], 3, [1.5], [None]),
    "standardize": ("yes", 2, []),
    "fit_intercept": ("yes", None, 2),
    "loss": ("hinge", "", None, 3, ["logistic"]),
    "search": ("annealing", None, 1, ["swap"]),
    "certify": ("yes", None, 2),
    "cuts": ("all", None, 3),
    "order": ("random", None, 3),
    "candidates": (-1, 1.5, None),
    "line_steps": (0, -1, 1.5, None),
    "n_jobs": (1.5, "two", 0),
    "time_limit": (-1.0, np.nan, np.inf, "a"),
    "class_weight": ("even", {"no such class": 1.0}, 3, {0: -1.0}),
    "cv": (1, -2, "five", 10**6),
    "scoring": ("no such score", 3),
    "rule": ("two_se", None, 1),
}
"""Values that an option must reject."""

ONLY_FOR = {"cuts": "search", "order": "search"}  # options that are only used together with another option


def wrong_option(rng, call):
    names = [name for name in BAD if name in call.known and (name not in ONLY_FOR or ONLY_FOR[name] in call.options)]
    name = names[rng.integers(len(names))]
    value = BAD[name][rng.integers(len(BAD[name]))]
    call.options[name] = value
    call.note = f"{name}={value!r:.60}"
    return call


def _spoil_cell(call, value):
    values = np.array(np.random.default_rng(0).normal(size=(call.n, 3)), dtype=object)
    values[call.n // 2, 1] = value
    call.X = values.astype(float) if isinstance(value, float) else values
    call.note = f"cell {value!r:.60}"
    call.plain_options()
    return call


def infinite_cell(rng, call):
    return _spoil_cell(call, np.inf if rng.random() < 0.5 else -np.inf)


def missing_cell_for_numbers(rng, call):
    return _spoil_cell(call, np.nan)


def odd_cell(rng, call):
    odd = [object(), {"a": 1}, [1, 2], 1j, timedelta(1), b"bytes", 10**400]
    return _spoil_cell(call, odd[rng.integers(len(odd))])


def odd_shape(rng, call):
    n = call.n
    shapes = [np.zeros(n), np.zeros((n, 2, 2)), np.zeros((n, 0)), np.zeros((0, 3)), np.array(1.0), [], [[]], None, "X"]
    call.X = shapes[rng.integers(len(shapes))]
    call.plain_options()
    return call


def odd_container(rng, call):
    n = call.n
    frame = pd.DataFrame({"a": np.arange(n) * 1.0})
    made = [
        lambda: pl.LazyFrame({"a": np.arange(n)}),
        lambda: [{"a": 1.0}] * n,
        lambda: pd.concat([frame, frame], axis=1),
        lambda: pd.DataFrame({"a": pd.to_timedelta(np.arange(n), unit="s")}),
        lambda: np.zeros((n, 2), dtype="timedelta64[s]"),
        lambda: np.zeros((n, 2), dtype=complex) + 1j,
        lambda: np.zeros(n, dtype=[("a", float), ("b", float)]),
        lambda: np.array([[b"a", b"b"]] * n),
        lambda: {"a": list(range(n))},
        lambda: iter([[1.0]] * n),
        lambda: 3,
    ]
    call.X = made[rng.integers(len(made))]()
    call.plain_options()
    return call


def odd_target(rng, call):
    n = call.n
    spoiled = [np.nan, np.inf, None]
    first = np.arange(n) % 2 * 1.0
    cell = np.array(first, dtype=object)
    cell[n // 2] = spoiled[rng.integers(3)]
    mixed = np.array(first, dtype=object)
    mixed[0] = "a"
    made = [
        cell,
        mixed,
        np.append(first, 1.0),
        first[:-1],
        np.column_stack([first, first]),
        None,
        "y",
        [],
        np.zeros(n, dtype=complex) + 1j,
        np.array([object()] * n),
        1.0,
        {"a": first},
        sp.csr_matrix(first),
        first * np.nan,
    ]
    call.y = made[rng.integers(len(made))]
    return call


def odd_weights(rng, call):
    n = call.n
    ones = np.ones(n)
    made = [
        -ones,
        0 * ones,
        np.nan * ones,
        np.append(ones, 1.0),
        ones[:-1],
        np.inf * ones,
        np.full(n, "a"),
        1.0,
        np.column_stack([ones, ones]),
        [None] * n,
        ones * 1j,
        {"a": 1},
    ]
    call.weight = made[rng.integers(len(made))]
    return call


def corruptions_for(case):
    """Return the corruptions that apply to a case."""
    out = [wrong_option, wrong_option, wrong_option, infinite_cell, odd_cell, odd_shape, odd_container, odd_weights]
    if case.kind != "ThresholdBinner":
        out.append(odd_target)
    if case.is_linear:
        out.append(missing_cell_for_numbers)
    return out
