"""Compute the objective of a model in NumPy from its predictions and terms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sparsegam._design.constraints import INTERACTION_COST
from sparsegam.losses import LOSSES

ROUNDING = 1e-13  # rounding error of a score, relative to the sum of absolute contributions


def loss_and_slack(case, view, score, size):
    """Return the loss of scores and the effect of rounding errors of the scores on it."""
    counted = view.weight > 0
    blur = ROUNDING * (size + np.abs(view.y if case.squared else 0.0))
    each = LOSSES[case.loss].per_row(view.y, score)
    slope = {"squared": np.abs(view.y - score) + blur, "logistic": 1.0, "exponential": each}[case.loss]
    each, slack = np.where(counted, each, 0.0), np.where(counted, slope * blur, 0.0)
    return float(view.weight @ each), float(view.weight @ slack)


def columns_of(case, view, X):
    """Return the centred column and the coefficient of each term."""
    if case.is_linear:
        model = view.model
        dense = dense_of(case, X)[:, list(model.columns)] - np.array(model.centres or 0.0)
        return [(dense[:, k], w) for k, w in enumerate(model.weights)]
    out = []
    for term in view.model.terms:
        alone = replace(
            view.model, intercept=0.0, terms=(replace(term, coef=1.0),), missing="last", pair_shares={}, statistics=None
        )
        out.append((alone.decision_function(X), term.coef))
    return out


def coefs_of(model):
    return model.weights if hasattr(model, "weights") else [term.coef for term in model.terms]


def constant_loss(case, view):
    """Return the approximate loss of the best constant model."""
    if not case.squared:
        return float(view.weight.sum() * np.log(2))
    mean = view.weight @ view.y / view.weight.sum() if case.options.get("fit_intercept", True) else 0.0
    return float(view.weight @ (view.y - mean) ** 2) / 2


def start_of(model):
    """Return the value to which the contributions are added."""
    return model.centre_score if getattr(model, "centres", ()) else model.intercept


def dense_of(case, X):
    if sp.issparse(X):
        return X.toarray().astype(np.float64)
    if isinstance(X, list):
        return np.array(X, dtype=np.float64)
    if isinstance(X, np.ndarray):
        return X.astype(np.float64)
    return np.column_stack([column.values for column in case.columns]).astype(np.float64)


def spread(column, weight):
    """Return sigma^2, the squared weighted norm of the centred column, which is exactly zero for a constant column."""
    held = column[weight > 0]
    if held.size and (held == held[0]).all():
        return 0.0  # the mean of equal numbers may have a rounding error, which lambda1=1e308 would amplify
    mean = weight @ column / weight.sum()
    return float(weight @ (column - mean) ** 2)


def penalty(case, view, columns):
    """Return the ridge and lasso penalties of the coefficients."""
    lambda1 = float(case.options.get("lambda1", 0.0))
    total = 0.0
    for term, (column, coef) in enumerate(columns):
        if coef == 0.0:
            continue  # it has no penalty
        unit = spread(column, view.weight) if view.standardized else 1.0
        if not view.standardized and not case.is_linear and view.model.terms[term].condition.is_ramp:
            unit = (
                4 * spread(column, view.weight) / view.weight.sum()
            )  # a ramp is penalised like a step that holds for half of the weight
        total += view.lambda2 * unit * np.square(coef) + lambda1 * np.sqrt(unit) * abs(coef)
    return total


def cost(case, view):
    """Return the total penalty in units of lambda0: the number of terms, adjusted for feature costs."""
    if case.is_linear:
        free = {case.position(key) for key in case.options.get("unpenalized") or ()}
        return sum(j not in free for j in view.model.columns)
    factors = {case.names[case.position(key)]: f for key, f in (case.options.get("feature_cost") or {}).items()}
    asked = case.options.get("interaction_cost", "auto")
    dearer = INTERACTION_COST if asked == "auto" else asked
    return sum(
        max(factors.get(name, 1.0) for name in term.features) * (dearer if term.is_interaction else 1.0)
        for term in view.model.terms
    )
