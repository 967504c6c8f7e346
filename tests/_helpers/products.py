"""Models with interactions: written by hand, and with the statistics of a fit."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sparsegam._data.columns import NUMBER, Scale
from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.functions import joint_shares, score_function
from sparsegam._models.statistics import FitStatistics
from sparsegam._models.terms import Clause, Condition, Term
from sparsegam._models.training import distribution_of
from sparsegam.inspection._drift import profile
from sparsegam.losses import logistic

COLOURS = Scale("category", ("red", "green", "blue"))


def product(first, second, coef):
    """Return an interaction of two conditions, each a pair of feature and condition."""
    return Term(*first, coef, Clause(*second))


def upto(value):
    return Condition("<=", value)


def above(value):
    return Condition(">", value)


TERMS = (
    Term("age", upto(30.0), 0.5),
    Term("priors", upto(2.0), -0.7),
    product(("age", upto(25.0)), ("priors", above(3.0)), 0.9),
    product(("age", above(40.0)), ("priors", upto(1.0)), -0.4),
    product(("age", upto(35.0)), ("hours", upto(20.0)), 0.6),
    product(("hours", Condition("missing")), ("colour", Condition("in", ("red", "blue"))), 0.8),
)


def table(n=600, seed=0):
    """Return rows and labels that depend on the interactions."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 61, n).astype(float),
            "priors": rng.integers(0, 9, n).astype(float),
            "colour": rng.choice(["red", "green", "blue"], n),
            "unused": rng.normal(size=n),
            "hours": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 50, n)),
        }
    )
    risk = logistic(written().decision_function(frame))
    return frame, np.where(rng.random(n) < risk, "yes", "no")


def written():
    """Return a model without statistics of training data."""
    names = ("age", "priors", "colour", "unused", "hours")
    return Model(-0.3, TERMS, names, "logistic", ("no", "yes"), scales={"colour": COLOURS})


def fitted():
    """Return a model with the statistics of a fit, and its data."""
    frame, y = table()
    return as_fitted(written(), frame, y), frame


def as_fitted(model, frame, y=None, *, missing="mean", weight=None):
    """Return the model with the statistics of a fit to these rows."""
    weight = np.ones(len(frame)) if weight is None else weight
    numbers = score_function(model).columns(read_table(frame))
    seen = {
        name: distribution_of(
            [one.condition for t in model.terms for one in t.clauses if one.feature == name],
            model.special_values.get(name, ()),
            model.scales.get(name, NUMBER),
            column,
            weight,
        )
        for name, column in numbers.items()
    }
    known = replace(model, missing="last", distributions=seen)
    shares = {
        pair: joint_shares(known.pair_bins(pair), tuple(numbers[name] for name in pair), weight) for pair in model.pairs
    }
    known = replace(known, missing=missing, pair_shares=shares)
    known = known if y is None else with_statistics(known, statistics_of(known, numbers, y))
    return replace(known, stored_profile=profile(known, frame))


def with_statistics(model, statistics):
    """Return the model with term statistics."""
    return replace(model, terms=statistics.attached_to(model.terms), statistics=statistics)


def statistics_of(model, numbers, y):
    """Return the term statistics of a logistic model, with Wald covariances."""
    event = np.asarray(y) == model.classes[1]
    columns = np.column_stack([np.ones(event.size), *(model.column_of(t, numbers) for t in model.terms)])
    risk = logistic(columns @ np.array([model.intercept, *(t.coef for t in model.terms)]))
    covariance = np.linalg.inv(columns.T @ (columns * (risk * (1 - risk))[:, None]))
    parts = [t.part for t in model.terms]
    mine = {part: [i + 1 for i, other in enumerate(parts) if other == part] for part in parts}
    holds = columns[:, 1:] > 0
    return FitStatistics(
        n_rows=event.size,
        n_events=int(event.sum()),
        rows=tuple(holds.sum(axis=0).tolist()),
        events=tuple(holds[event].sum(axis=0).tolist()),
        intercept_error=float(np.sqrt(covariance[0, 0])),
        covariance={part: covariance[np.ix_(at, at)] for part, at in mine.items()},
        unshrunken=tuple(term.coef for term in model.terms),
    )
