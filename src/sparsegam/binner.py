"""The transformer ThresholdBinner, which converts a table to the 0/1 columns that additive models choose from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegam._data.table import Table, read_table, source_of_names
from sparsegam._data.target import read_weights
from sparsegam._design.binning import Binning, Feature, Learner
from sparsegam.choices import Categorical, SpecialValues


class ThresholdBinner(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert a table to 0/1 columns: `x <= t`, `x == level`, `x is missing` and the like.

    These are the columns that the additive models choose from, for use in other models.

    Parameters
    ----------
    max_bins : int, default=1000
        Largest number of bins of a feature. Thresholds are at all unique values of a column with at most this many,
        otherwise at (weighted) quantiles. Of a categorical feature, the most frequent levels are kept.
    thresholds : dict or None, default=None
        Thresholds by column, instead of learned ones.
    categorical : "auto" or list of columns, default="auto"
        Columns to treat as categorical in addition to text and categorical columns.
    min_category_count : int, default=5
        Levels with fewer rows are merged into one, regardless of weights.
    special_values : list, dict or None, default=None
        Special codes: values that are not part of the order of their column, each with a column of its own, for all
        numeric columns (list) or by column (dict).

    Attributes
    ----------
    features_ : list of Feature
        The bins of each column.
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseGAMClassifier : Chooses few of these columns.

    Examples
    --------
    >>> from sparsegam import ThresholdBinner
    >>> binner = ThresholdBinner().fit([[1], [2], [3]])
    >>> binner.get_feature_names_out().tolist()
    ['x0 <= 1', 'x0 <= 2']
    >>> binner.transform([[2]]).tolist()
    [[0, 1]]
    """

    features_: list[Feature]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        *,
        max_bins: int = 1000,
        thresholds: Mapping[Any, Sequence[Any]] | None = None,
        categorical: Categorical = "auto",
        min_category_count: int = 5,
        special_values: SpecialValues = None,
    ) -> None:
        self.max_bins = max_bins
        self.thresholds = thresholds
        self.categorical = categorical
        self.min_category_count = min_category_count
        self.special_values = special_values

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "ThresholdBinner":
        """Learn the bins of each column.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, for the quantiles; a weight of 2 is the same as the row twice.

        Returns
        -------
        ThresholdBinner
            The fitted transformer.
        """
        table = self._read(X, reset=True)
        weight = read_weights(sample_weight, table.n_rows)
        kept = weight > 0
        if not kept.all():
            table, weight = table.take(kept), weight[kept]
        binning = Binning(
            max_bins=self.max_bins,
            categorical=self.categorical,
            min_category_count=self.min_category_count,
            special_values=self.special_values,
            thresholds=self.thresholds,
            min_samples_bin=1,
        )
        learner = Learner(table.labels, binning, weight)
        self.features_ = [learner.learn(table.column(j), j)[0] for j in range(table.n_columns)]
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return the 0/1 columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns of the training data. All columns of a feature are 0 for a new level.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), or a frame as set by `set_output`
            One column per condition.
        """
        check_is_fitted(self)
        table = self._read(X, reset=False)
        blocks = [
            feature.indicators(table.column(j).on_scale(feature.scale)) for j, feature in enumerate(self.features_)
        ]
        return np.concatenate(blocks, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the condition of each 0/1 column, such as `age <= 63`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features; None for those of the training data.

        Returns
        -------
        ndarray of str
            One name per column.
        """
        check_is_fitted(self)
        names = [feature.name for feature in self.features_] if input_features is None else list(input_features)
        self._check_input_names(names)
        texts = [
            condition.text(name)
            for name, feature in zip(names, self.features_, strict=True)
            for condition in feature.conditions().values()
        ]
        return np.array(texts, dtype=object)

    def _read(self, X: Any, *, reset: bool) -> Table:
        table = read_table(X)
        validate_data(self, source_of_names(X, table.source), reset=reset, skip_check_array=True)
        return table

    def _check_input_names(self, names: list[str]) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and names != list(known):
            msg = "input_features is not equal to feature_names_in_"
            raise ValueError(msg)
        if len(names) != self.n_features_in_:
            expected = f"length equal to number of features ({self.n_features_in_})"
            msg = f"input_features should have {expected}, got {len(names)}"
            raise ValueError(msg)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags
