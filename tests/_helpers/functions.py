"""Builds shape functions of one feature from terms."""

from sparsegam._data.columns import NUMBER
from sparsegam._models.functions import bins_of, feature_function


def function_of(terms, special_values=(), scale=NUMBER, distribution=None):
    """Return the sum of the terms of one feature."""
    conditions = [term.condition for term in terms]
    return feature_function(terms, bins_of(terms[0].feature, conditions, special_values, scale, distribution))
