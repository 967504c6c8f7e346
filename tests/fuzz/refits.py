"""Properties that compare a fit with a second one: with other threads, row orders, column orders and units."""

from __future__ import annotations

import numpy as np

from fuzz import recompute
from fuzz.calls import fitted

NEARLY = 0.01  # relative difference of objectives for the same data in another order
# With fewer rows per term many models fit equally well, and the result of a search depends on rounding. For 125 rows
# and
# 11 terms, two models that were both proved to be swap 1-OPT had objectives that differ by 1.03 percent.
ROWS_PER_TERM = 12


def same_bits_for_threads(run, rng):
    """One and two threads give identical models."""
    one, two = (fitted(run.case, n_jobs=n) for n in (1, 2))
    return _models_differ(one, two)


def same_bits_repeated(run, rng):
    """The same call gives identical models."""
    return _models_differ(run, fitted(run.case))


def row_order(run, rng):
    """The order of the rows does not matter, except for ties."""
    run = _at_found_lambda0(run)
    return _objectives_differ(run, fitted(run.case, rows=rng.permutation(run.case.n), **_price_of(run)))


def column_order(run, rng):
    """The order of the columns does not matter, except for ties."""
    run, case = _at_found_lambda0(run), run.case
    order = rng.permutation(len(case.columns))
    return _objectives_differ(run, fitted(case, order=order, **_reordered(case, order), **_price_of(run)))


def _at_found_lambda0(run):
    """Return the call with the numeric lambda0 that was found, because a second search could converge to another one.

    With several classes, the lambda0 of the first class is used for all.
    """
    named = isinstance(getattr(run.thing, "lambda0", None), str) and not run.case.is_cv
    return fitted(run.case, lambda0=run.views[0].lambda0) if named else run


def _price_of(run):
    return {"lambda0": run.call.options["lambda0"]} if "lambda0" in run.call.options else {}


def _reordered(case, order):
    """Return the options for columns in another order."""
    place = {int(j): i for i, j in enumerate(order)}
    moved = {}
    for name, value in case.options.items():
        if name in ("features_always", "features_never", "unpenalized", "categorical") and isinstance(value, list):
            moved[name] = [place[case.position(key)] for key in value]
        elif name in ("feature_cost", "thresholds", "special_values", "monotone", "shapes") and isinstance(value, dict):
            moved[name] = {place[case.position(key)]: v for key, v in value.items()}
        elif name == "interactions" and isinstance(value, list):
            moved[name] = [tuple(place[case.position(key)] for key in pair) for pair in value]
        elif name == "monotone" and value is not None:
            moved[name] = [value[j] for j in order]
        elif name == "coef_bounds" and value is not None:
            moved[name] = tuple(b[order] if isinstance(b, np.ndarray) else b for b in value)
    return moved


def weights_are_rows(run, rng):
    """An integer weight is equivalent to repeating the row."""
    case = run.case
    times = case.weight.astype(np.int64)
    rows = np.repeat(np.arange(case.n), times)
    one = {} if case.is_linear else {"min_samples_bin": 1}  # the default of min_samples_bin counts rows, not weights
    run = fitted(case, **one)
    weight, case.weight = case.weight, None
    try:
        repeated = fitted(case, rows=rows, **one)
    finally:
        case.weight = weight
    return _objectives_differ(run, repeated)


def units_of_y(run, rng):
    """Multiplying y by a power of two scales a regression model exactly."""
    case = run.case
    k = int(rng.choice([-20, -3, 5, 30]))
    options = _in_units(case.options, 2.0**k)
    if not np.isfinite(np.hstack([np.ravel(options.get(name, 0.0)) for name in ("lambda0", "lambda1")])).all():
        return None  # the penalty overflows in these units
    y, case.y = case.y, case.y * 2.0**k
    try:
        scaled = fitted(case, **options)
    finally:
        case.y = y
    for one, other in zip(run.views, scaled.views, strict=False):
        ours, theirs = _numbers(one.model), _numbers(other.model)
        if ours.shape != theirs.shape or not np.array_equal(ours * 2.0**k, theirs):
            return f"with y times 2**{k}: {theirs}, expected {ours * 2.0**k}"
    return None if len(run.views) == len(scaled.views) else "another number of models"


def _in_units(options, unit):
    out = {}
    for name, power in (("lambda0", 2), ("lambda1", 1)):
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            out[name] = np.multiply(value, unit**power).tolist()
    if options.get("coef_bounds") is not None:
        out["coef_bounds"] = tuple(np.multiply(bound, unit) for bound in options["coef_bounds"])
    return out


def _numbers(model):
    return np.array([model.intercept, *recompute.coefs_of(model)])


def _models_differ(one, two):
    for a, b in zip(one.views, two.views, strict=False):
        if a.objective != b.objective or a.model != b.model:
            return f"objective {a.objective!r} and {b.objective!r}, {a.model.n_terms} and {b.model.n_terms} terms"
    return None if len(one.views) == len(two.views) else f"{len(one.views)} and {len(two.views)} models"


def _objectives_differ(one, two):
    """Compare the objectives of models with the same penalty or the same size."""
    case = one.case
    by_size = (case.is_path and "swap" not in case.kind) or case.is_cv
    others = {view.model.n_terms if by_size else k: view for k, view in enumerate(two.views)}
    for k, view in enumerate(one.views):
        other = others.get(view.model.n_terms if by_size else k)
        if other is None or view.model.n_terms * ROWS_PER_TERM > case.n_positive_weight:
            continue
        a, b = view.objective, other.objective
        one_row = recompute.constant_loss(case, view) / case.n  # local optima may differ by the loss of one row
        slack = one_row + _rounding(one, view)
        if abs(a - b) > NEARLY * max(abs(a), abs(b)) + slack:
            return f"objective {a!r} and {b!r}, {view.model.n_terms} and {other.model.n_terms} terms"
    return None


def _rounding(run, view):
    """Return the effect of rounding errors on the loss, which matters for columns far from zero."""
    columns = recompute.columns_of(run.case, view, run.call.X)
    size = abs(recompute.start_of(view.model)) + sum(np.abs(column * coef) for column, coef in columns)
    with np.errstate(over="ignore"):
        return recompute.loss_and_slack(run.case, view, view.model.decision_function(run.call.X), size)[1]
