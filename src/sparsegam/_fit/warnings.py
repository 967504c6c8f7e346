"""Warnings that any fit may emit."""

from collections.abc import Container
from typing import Any

import numpy as np

from sparsegam._data.columns import Column
from sparsegam._data.table import Table
from sparsegam._fit.spec import FitSpec
from sparsegam._io.special_codes import warn_of_special_codes
from sparsegam._io.type_inference import warn_of_numbers_in_text
from sparsegam._search.options import DEFAULT_MAX_TERMS
from sparsegam._search.penalty import warn_about_weights
from sparsegam._search.statistics import warn_of_few_rows
from sparsegam.checks import quoted, warn


def warn_about_columns(spec: FitSpec, features: Any) -> None:
    """Warn about columns that are probably misread: numbers stored as text, special codes, merged integers."""
    if spec.additive is None:
        return
    binning = spec.additive.binning
    categorical = binning.forced(features.labels)
    warn_of_merged_integers(features, declared=categorical)
    warn_of_numbers_in_text(features, kept_as_text=categorical)
    if binning.special_values is None:
        warn_of_special_codes(features, declared=categorical)


def warn_of_merged_integers(table: Any, *, declared: Container[int] = ()) -> None:
    """Warn about numeric columns whose distinct integers beyond 2^53 become the same float64."""
    if not isinstance(table, Table):
        return
    array = table.array
    if array is not None and (array.dtype.kind not in "iuO" or array.dtype.itemsize < 8):
        return
    merged = []
    for j in table.integer_columns():
        column = None if j in declared else table.column(j)
        if isinstance(column, Column) and column.integers is not None:
            present = ~np.isnan(column.values)
            if np.unique(column.integers[present]).size > np.unique(column.values[present]).size:
                merged.append(column.name)
    if merged:
        msg = (
            f"column{'s' * (len(merged) > 1)} {quoted(merged)} contain{'s' * (len(merged) == 1)} integers beyond 2^53, "
            "of which float64 merges neighbours: name identifiers in categorical or drop them, and rescale numbers."
        )
        warn(msg, UserWarning)


def warn_about_models(spec: FitSpec, models: Any, mean_weight: float) -> None:
    """Warn about steps that are based on few rows, and about criteria with weights that cannot count rows."""
    # An explicit min_samples_bin means that the user has considered this.
    if spec.additive is not None and spec.additive.binning.min_samples_bin == "auto":
        warn_of_few_rows(models)
    if spec.selection is None:
        warn_about_weights(spec.lambda0, mean_weight)


def warn_about_end(spec: FitSpec, n_terms: int, *, finished: bool) -> None:
    """Warn if the time limit or the default limit of terms ended the search."""
    if not finished:
        smaller = "fewer max_terms"
        if spec.selection is None:
            smaller = "a larger lambda0, fewer max_terms or fewer max_bins" if spec.additive else "a larger lambda0"
        _warn_of_convergence(
            f"the search was stopped by time_limit={spec.options.time_limit} s and returned the best model found so "
            f"far ({n_terms} terms): raise time_limit, or make the search smaller with {smaller}."
        )
    elif spec.options.max_terms is None and n_terms >= DEFAULT_MAX_TERMS:
        _warn_of_convergence(
            f"the model reached {DEFAULT_MAX_TERMS} terms, the default limit: raise lambda0 or set max_terms."
        )


def _warn_of_convergence(message: str) -> None:
    # scikit-learn is imported only if it is needed: it takes longer than most fits of the command line.
    from sklearn.exceptions import ConvergenceWarning

    warn(message, ConvergenceWarning)
