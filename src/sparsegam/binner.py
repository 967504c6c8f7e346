"""The transformer ThresholdBinner: a table in, the 0/1 columns that a model may choose from out, readably named."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegam._data.table import Table, read_table
from sparsegam._data.target import read_weights
from sparsegam._design.binning import Binning, Learner
from sparsegam.choices import Categorical, SpecialValues
from sparsegam.parameters import pick


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdBinner(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a table into 0/1 columns: `x <= t`, `x == level`, `x is missing` and the like.

    These are the columns that the additive models choose from, for those who want them for another purpose.

    Parameters
    ----------
    max_bins : int
        Thresholds are at every unique value of a column with at most so many, else at quantiles. Of a category, the
        most frequent levels are kept.
    thresholds : dict from column to list, optional
        The thresholds of a column, where they shall not be learned.
    categorical : "auto" or list of columns
        Columns to take as categories besides those that are text or categorical.
    min_category_count : int
        Levels with fewer rows, whatever these weigh, are merged into one.
    special_values : list, or dict from column to list, optional
        Values out of the order of their column, each a column of its own: for all numeric columns, or by column.

    Attributes
    ----------
    features_ : list of Feature
        The bins of each column.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Examples
    --------
    >>> from sparsegam import ThresholdBinner
    >>> binner = ThresholdBinner().fit([[1], [2], [3]])
    >>> binner.get_feature_names_out().tolist()
    ['x0 <= 1', 'x0 <= 2']
    >>> binner.transform([[2]]).tolist()
    [[0, 1]]
    """

    max_bins: int = 1000
    thresholds: Any = None
    categorical: Categorical = "auto"
    min_category_count: int = 5
    special_values: SpecialValues = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "ThresholdBinner":
        """Learn the bins of each column.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing.
        y : None
            Not used.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows, for the quantiles; a weight of 2 is the same as the row twice, 0 the same as no row.

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
        learner = Learner(table.labels, pick(Binning, vars(self)), weight)
        self.features_ = [learner.learn(table.column(j), j)[0] for j in range(table.n_columns)]
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return the 0/1 columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns that the bins were learned from. Levels not seen then are in no column.

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
        """Return what each 0/1 column says, as in `age <= 63`.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names for the columns of `fit`; those it saw by default.

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
        source = table.source if isinstance(table.source, np.ndarray) else X
        validate_data(self, source, reset=reset, skip_check_array=True)
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
