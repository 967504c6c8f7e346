"""What does not hold yet: a run leaves it out, and says so, unless `--everything` is asked for. To be emptied."""

from __future__ import annotations

import numpy as np

PROPERTIES_TO_COME = {
    "units_of_y": "models of y times a power of two differ in more than units",
}


def more_features_always_than_terms(case, call):
    """max_terms is exceeded by features that must be in."""
    most = case.options.get("max_terms")
    return most is not None and len(case.options.get("features_always") or ()) > most


def integers_beyond_floats(case, call):
    """Options and cells of 10**400 end in an OverflowError."""
    return (call.note.startswith("lambda") and "0000000" in call.note) or call.note == f"cell {10**400!r:.60}"


def counts_beyond_64_bits(case, call):
    """Limits of 10**30 are refused by the binding, in its own words."""
    names = ("max_features", "max_terms_per_feature", "candidates", "line_steps")
    return any(call.options.get(name) == 10**30 for name in names)


def axes_of_length_one(case, call):
    """Linear models refuse x[:, None], whose second stride is zero."""
    return case.is_linear and case.layout == "odd strides" and 1 in (len(case.columns), case.n)


def durations_in_matrices(case, call):
    """Linear models take durations for numbers."""
    return case.is_linear and getattr(getattr(call.X, "dtype", None), "kind", "") == "m"


def broken_numbers_of_threads(case, call):
    """CV estimators take n_jobs=1.5."""
    return case.is_cv and call.options.get("n_jobs") == 1.5


def class_weights_of_regressions(case, call):
    """linear_path has no use for class_weight with the squared loss, and does not say so."""
    return case.kind == "linear_path" and case.squared and call.note.startswith("class_weight")


def certificates_without_a_price(case, call):
    """With lambda0=0 and certify, a search may go on without end."""
    return bool(call.options.get("certify")) and call.options.get("lambda0") in (0.0, 1e-12)


def coefficients_without_end(case, call):
    """Frontiers of the exponential loss on raw columns, without ridge, hold coefficients of 1e307."""
    return case.is_linear and case.loss == "exponential" and call.options.get("lambda2") == 0.0


def far_columns_without_intercept(case, call):
    """Without an intercept, the norm of a centred column far from zero is rounding."""
    if not case.is_linear or case.options.get("fit_intercept", True):
        return False
    values = np.array([column.values for column in case.columns])
    return bool((np.abs(values.mean(axis=1)) > 1e3 * values.std(axis=1)).any())


CASES_TO_COME = (
    more_features_always_than_terms,
    integers_beyond_floats,
    counts_beyond_64_bits,
    axes_of_length_one,
    durations_in_matrices,
    broken_numbers_of_threads,
    class_weights_of_regressions,
    certificates_without_a_price,
    coefficients_without_end,
    far_columns_without_intercept,
)


def left_out(case, call):
    """The name of what is known not to hold and would come up in a case; nothing where there is none."""
    return next((function.__name__ for function in CASES_TO_COME if function(case, call)), None)
