"""Properties of every fitted case. Each function returns an error message or None."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pandas as pd

from fuzz import recompute, refits
from fuzz.exports import check_counterfactual, check_exports, edge_rows, ordered_values
from fuzz.options import NOT_ORDERED
from sparsegam._models.terms import SENSE

EXACT = 1e-6  # relative difference of objectives due to the order of summation
TERMS_TO_CHANGE = 25  # counterfactuals of larger models with hundreds of levels are slow
NOTHING = 1e-9  # relative to the loss of a constant model


def finite_outputs(run, rng):
    """Coefficients, objectives, scores and probabilities are finite."""
    X = run.call.X
    for view in run.views:
        numbers = [view.objective, view.loss, view.model.intercept, *recompute.coefs_of(view.model)]
        if not np.isfinite(numbers).all():
            return f"objective, loss, intercept or coefficients are not finite: {numbers}"
        if not np.isfinite(view.model.decision_function(X)).all():
            return "scores are not finite"
    if hasattr(run.thing, "predict_proba"):
        found = run.thing.predict_proba(X)
        if not (np.isfinite(found).all() and found.min() >= 0 and np.allclose(found.sum(axis=1), 1)):
            return "probabilities are not finite, negative or do not add up to one"
    return None


def objective_recomputed(run, rng):
    """`objective_` and `loss_` equal the values that NumPy computes from scores, terms and options."""
    X = run.call.X
    for view in run.views:
        columns = recompute.columns_of(run.case, view, X)
        size = abs(recompute.start_of(view.model)) + sum(np.abs(column * coef) for column, coef in columns)
        with np.errstate(over="ignore"):
            loss, slack = recompute.loss_and_slack(run.case, view, view.model.decision_function(X), size)
        objective = loss + recompute.penalty(run.case, view, columns)
        objective += view.lambda0 * recompute.cost(run.case, view)
        slack += NOTHING * recompute.constant_loss(run.case, view)
        for name, found, expected in (("loss", view.loss, loss), ("objective", view.objective, objective)):
            if not abs(found - expected) <= EXACT * abs(expected) + slack:
                return f"{name} is {found!r}, NumPy finds {expected!r} ({view.model.n_terms} terms)"
    return None


def limits_kept(run, rng):
    """Models respect the maximum numbers of terms and features and contain no excluded feature."""
    given, case = run.call.options, run.case
    for view in run.views:
        most = given.get("max_terms")
        if most is not None and view.model.n_terms > most:
            return f"{view.model.n_terms} terms, max_terms is {most}"
        if case.is_linear:
            continue
        wrong = _beyond_limits(given, case, view.model.terms)
        if wrong:
            return wrong
    return None


def _beyond_limits(given, case, terms):
    """Return an error message if features or pairs of a model violate a limit; interactions count for their pair."""
    used = {name for term in terms for name in term.features}
    if len(used) > (given.get("max_features") or np.inf):
        return f"{len(used)} features, max_features is {given['max_features']}"
    own = Counter(term.feature for term in terms if not term.is_interaction)
    of_pairs = Counter(term.part for term in terms if term.is_interaction)
    for counted, option in ((own, "max_terms_per_feature"), (of_pairs, "max_terms_per_pair")):
        if counted and max(counted.values()) > (given.get(option) or np.inf):
            return f"{max(counted.values())} terms, {option} is {given[option]}"
    never = {case.names[case.position(key)] for key in given.get("features_never") or ()}
    if never & used:
        return f"{never & used} must never be in"
    asked = {"weak": any, "strong": all}.get(given.get("hierarchy"), lambda found: True)
    alone = [pair for pair in of_pairs if not asked([name in own for name in pair])]
    return f"products of {alone[0]} without the terms that hierarchy={given['hierarchy']!r} requires" if alone else None


def constraints_met(run, rng):
    """Required features are included, directions and bounds are respected, and terms hold for enough rows."""
    case = run.case
    for view in run.views:
        wrong = _wrong_of_columns(run, view) if case.is_linear else _wrong_of_features(run, view)
        if wrong:
            return wrong
    return None


def _wrong_of_columns(run, view):
    given, case = run.call.options, run.case
    if given.get("coef_bounds") is not None:
        low, high = (np.broadcast_to(bound, (len(case.columns),)) for bound in given["coef_bounds"])
        for j, coef in zip(view.model.columns, view.model.weights, strict=True):
            if not low[j] <= coef <= high[j]:
                return f"coefficient {coef!r} of column {j} is out of its bounds"
    free = {case.position(key) for key in given.get("unpenalized") or ()}
    absent = free - set(view.model.columns)
    return f"columns {absent} are not in, but unpenalized" if absent else None


def _wrong_of_features(run, view):
    given, case = run.call.options, run.case
    features = {term.feature for term in view.model.terms if not term.is_interaction}
    always = {case.names[case.position(key)] for key in given.get("features_always") or ()}
    if always - features:
        return f"{always - features} must always be in"
    directions = _directions(case, given.get("monotone"))
    for term in view.model.terms:
        for one in term.clauses:
            if SENSE.get(one.condition.kind, 0) * term.coef * directions.get(one.feature, 0) < 0:
                return f"{term} is against the direction of {one.feature}"
    least = given.get("min_samples_bin", 1)
    counted = view.weight > 0
    for term, (column, _) in zip(view.model.terms, recompute.columns_of(case, view, run.call.X), strict=True):
        holds = int(np.count_nonzero(column[counted]))
        others = int(counted.sum()) - holds
        if (holds if term.condition.is_ramp else min(holds, others)) < least:
            return f"a term holds for {holds} of {counted.sum()} rows, min_samples_bin is {least}"
    return None


def _directions(case, monotone):
    named = enumerate(monotone) if isinstance(monotone, list) else (monotone or {}).items()
    words = {"increasing": 1, "decreasing": -1, None: 0}
    return {case.names[case.position(key)]: words.get(value, value) for key, value in named}


def counterfactuals_reach_target(run, rng):
    """Counterfactual changes lead to the other class."""
    models = [view.model for view in run.views if view.model.features and view.model.n_terms <= TERMS_TO_CHANGE]
    return check_counterfactual(models[rng.integers(len(models))], rng) if models else None


def exactly_monotone(run, rng):
    """Scores are exactly monotone in every feature with a direction."""
    model = run.views[rng.integers(len(run.views))].model
    for name, way in _directions(run.case, run.call.options.get("monotone")).items():
        ladder = ordered_values(model, name) if name in model.features and way else []
        for row in edge_rows(model, rng)[:8] if len(ladder) > 1 else ():
            frame = pd.DataFrame([row | {name: value} for value in ladder], dtype=object)
            steps = way * np.diff(model.decision_function(frame))
            if steps.min() < 0:
                return f"the score changes by {steps.min()} against the direction of {name} in {row}"
    return None


def predicts_by_score(run, rng):
    """`predict` is consistent with the scores, and `n_terms_` and similar attributes with the model."""
    thing, X = run.thing, run.call.X
    if run.case.is_path:
        sizes = [view.model.n_terms for view in run.views]
        if sizes != list(thing.n_terms):
            return f"n_terms of the path is {thing.n_terms}, models have {sizes}"
        return None if "swap" in run.case.kind or sizes == sorted(set(sizes)) else f"sizes are {sizes}"
    if run.case.squared:
        same = np.array_equal(thing.predict(X), thing.model_.decision_function(X))
    else:
        score = thing.decision_function(X)
        best = (score > 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)
        same = np.array_equal(thing.predict(X), thing.classes_[best])
    return None if same else "predict is not what the scores say"


def inputs_unchanged(run, rng):
    """The input data are not modified."""
    again = run.case.table()
    if (
        isinstance(again, np.ndarray)
        and again.dtype != object
        and not np.array_equal(again, run.call.X, equal_nan=True)
    ):
        return "X was changed"
    same = run.case.weight is None or np.array_equal(run.call.weight, run.case.weight)
    return None if same else "sample_weight was changed"


def pickles(run, rng):
    """Pickled and restored estimators predict the same."""
    again = pickle.loads(pickle.dumps(run.thing))
    if run.case.is_path:
        return None if again.models == run.thing.models else "models differ after a pickle"
    same = np.array_equal(again.predict(run.call.X), run.thing.predict(run.call.X))
    return None if same else "predictions differ after a pickle"


def exports_agree(run, rng):
    """JSON, Python, SQL and JavaScript give the same scores as decision_function, also at thresholds."""
    model = run.views[rng.integers(len(run.views))].model
    return check_exports(run.case, model, rng)


def binner_columns(run, rng):
    """Every 0/1 column has a name and contains only zeros and ones."""
    found = run.thing.transform(run.call.X)
    names = run.thing.get_feature_names_out()
    if found.shape != (run.case.n, len(names)):
        return f"{found.shape} columns, {len(names)} names"
    return None if set(np.unique(found).tolist()) <= {0, 1} else "values other than 0 and 1"


ALWAYS = (finite_outputs, objective_recomputed, limits_kept, constraints_met, predicts_by_score, inputs_unchanged)
SOMETIMES = (
    refits.same_bits_for_threads,
    refits.same_bits_repeated,
    pickles,
    refits.row_order,
    refits.column_order,
    refits.weights_are_rows,
    refits.units_of_y,
    exports_agree,
    counterfactuals_reach_target,
    exactly_monotone,
)
EVERY = {function.__name__: function for function in (*ALWAYS, *SOMETIMES, binner_columns)}


def apply_to(case):
    """Return the properties that apply to a case."""
    if case.kind == "ThresholdBinner":
        return [binner_columns, inputs_unchanged]
    timed = case.is_timed
    conditions = {
        "same_bits_for_threads": not timed,
        "same_bits_repeated": not timed,
        # The search of the paper depends strongly on its first gradients and is not invariant to the order.
        "row_order": not timed and not case.is_cv and not case.is_swap and case.is_well_conditioned,
        "column_order": not timed and not case.is_cv and not case.is_swap and case.is_well_conditioned,
        "weights_are_rows": _repeats(case) and not timed and not case.is_swap and case.is_bounded,
        "units_of_y": case.squared and not timed and not case.is_cv and case.how["y"] != "whole",
        "exports_agree": not case.is_linear,
        "counterfactuals_reach_target": not case.is_linear and not case.squared,
        "exactly_monotone": not case.is_linear and bool(case.options.get("monotone")),
    }
    return [function for function in (*ALWAYS, *SOMETIMES) if conditions.get(function.__name__, True)]


def _repeats(case):
    """Return whether weights are equivalent to repeated rows."""
    counts_rows = {"min_samples_bin", "min_category_count", "categorical", "class_weight"}
    categories = any(column.kind in NOT_ORDERED for column in case.columns)
    rows_count = bool(counts_rows & set(case.options)) or categories
    return case.how.get("weight") == "whole" and not case.is_cv and not rows_count
