"""What all estimators share, and those that fit the model of one price per term.

Parameters are dataclass fields, each written down beside the code that reads it: the `__init__` of an estimator is made
of those of its bases, and scikit-learn, editors and type checkers see it whole.
"""

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegam import _core
from sparsegam._data.streams import as_stream, is_stream
from sparsegam._data.table import Table, is_on_device
from sparsegam._data.target import Target, read_target
from sparsegam._design.design import Data
from sparsegam._models.seen import score_pieces
from sparsegam._search.inputs import Inputs, from_device
from sparsegam._search.options import DEFAULT_MAX_TERMS, Options, n_threads
from sparsegam._search.price import check_lambda0, mean_weight, warn_of_weights
from sparsegam._search.problem import Problem, prepared
from sparsegam._search.progress import Progress, watched
from sparsegam._search.ridge import Ridge
from sparsegam._search.solver import Fit, fit
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn
from sparsegam.choices import Price
from sparsegam.parameters import documented, pick


@dataclass(kw_only=True, eq=False, repr=False)
class SparseModel(BaseEstimator):  # type: ignore[misc]
    """What all estimators share: reading, posing, keeping the model, scoring with it, showing it."""

    device: str = "cpu"
    n_jobs: int | None = None
    time_limit: float | None = None
    verbose: int = 0
    callback: Progress | None = None

    _stop: ClassVar[_core.Stop | None] = None  # set on a copy by whoever fits many of them, to end them all

    def _inputs(self) -> Inputs[Any, Any]:
        """Say what data the estimator takes, and what is demanded of its models."""
        raise NotImplementedError

    def _loss(self) -> str:
        """Return the name of the loss."""
        raise NotImplementedError

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Read what comes in pieces, once for all that is asked of it; return all else as it is."""
        if not is_stream(X):
            return from_device(self._inputs(), X, y, sample_weight, self.device)
        return self._inputs().take_in(X, y, sample_weight, n_threads(self.n_jobs))

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Data, Target]:
        """Read and check what `fit` is given; keep the classes."""
        data: Data = self._inputs().read(X)
        self._check_columns(X, data, y=y, reset=True)
        of_classes = {name: getattr(self, name, None) for name in ("class_weight", "positive")}
        target = read_target(y, self._loss(), data.n_rows, sample_weight=sample_weight, **of_classes)
        self._keep_classes(target.classes)
        return data, target

    def _keep_classes(self, classes: Any) -> None:
        """Keep the classes as the model has them, the one that it speaks of last, and sorted, as scikit-learn does."""
        self._model_classes = classes
        self.classes_: Any = None if classes is None else np.sort(classes)

    def _scores(self, X: Any) -> FloatArray:
        """Return the score of each row, after the checks that scikit-learn makes of names."""
        check_is_fitted(self)
        if is_on_device(X):
            from sparsegam._backends.cuda.predictions import device_scores

            return device_scores(self.model_, X)  # type: ignore[no-any-return]
        if is_stream(X):
            return score_pieces(self.model_, as_stream(X).pieces())
        data: Data = self._inputs().read(X)
        self._check_columns(X, data, reset=False)
        scores: FloatArray = self.model_.score_table(data.with_names(self.model_.feature_names))
        return scores

    def _check_columns(self, X: Any, data: Data, *, y: Any = "no_validation", reset: bool) -> None:
        """Check or learn names and number of columns, as scikit-learn does."""
        if isinstance(X, Table) and not reset:
            return
        if isinstance(data, Table) and (isinstance(X, Table) or (reset and y is not None and _are_plain(data))):
            self._keep_names(data)
            return
        source = data.source if isinstance(data.source, np.ndarray) else X
        validate_data(self, source, y, reset=reset, skip_check_array=True)

    def _keep_names(self, table: Table) -> None:
        """Keep names and number of the columns of a table that was read already."""
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        self.n_features_in_ = table.n_columns

    def _keep_model(self, model: Any) -> None:
        self.model_ = model
        self.n_terms_ = model.n_terms

    def _keep_ridge(self, ridge: Ridge) -> None:
        self.lambda2_ = ridge.lambda2
        self.standardize_ = ridge.standardized

    def _look_back(self) -> None:
        """Warn of what the user should know of a model that was found."""

    def _look_at(self, X: Any) -> None:
        """Warn of columns that are hardly meant as they were taken."""

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, once fitted, the model below it."""
        diagram: str = estimator_html_repr(self)
        return f"{diagram}{self.model_._repr_html_()}" if hasattr(self, "model_") else diagram

    def _repr_html_inner(self) -> str:
        return self._html_repr()


def _are_plain(table: Table) -> bool:
    """Tell whether scikit-learn would find just what was read: no names in an array, text alone in a frame."""
    if table.names is None:
        return isinstance(table.source, np.ndarray)
    return set(map(type, table.names)) == {str}


@dataclass(kw_only=True, eq=False, repr=False)
class FitsOne(SparseModel):
    """Fits the model of one price per term."""

    lambda0: Price = "bic"
    max_terms: int | None = None

    @documented
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Search the model, or one for each class where there are more than two.

        {fit}
        """
        in_pieces = is_stream(X)
        X, y, sample_weight = self._take_in(X, y, sample_weight)
        if in_pieces:  # only this fit has the codes: looked at first, they need not be there twice
            self._look_at(X)
            X = X.with_reusable_codes(allowed=True)
        data = self._fit(X, y, sample_weight)
        self._look_back()
        if not in_pieces:
            self._look_at(data)
        warn_of_weights(self.lambda0, mean_weight(sample_weight))
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Data:
        """Search the model, and return the data as they were read."""
        start = time.monotonic()
        check_lambda0(self.lambda0)
        problem, data = self._pose(X, y, sample_weight)
        with watched(self.callback, self.verbose, self.max_terms) as report:
            problem = prepared(problem, start, self.lambda0)
            found = self._search(problem, report)
        self._keep(problem, found)
        self._warn(found)
        return data

    def _pose(self, X: Any, y: Any, sample_weight: Any) -> tuple[Problem[Any], Data]:
        """Read the rows and hand them to the core; what only this needed of labels and weights is let go."""
        options = pick(Options, vars(self) | {"loss": self._loss()})
        data, target = self._read(X, y, sample_weight)
        return replace(self._inputs().pose(data, target.values, target.weight, options), stop=self._stop), data

    def _search(self, problem: Problem[Any], report: Progress | None) -> Fit:
        return fit(problem, self.lambda0, report)

    def _keep(self, problem: Problem[Any], found: Fit) -> None:
        """Keep what was found."""
        self._keep_model(problem.model(found.point, self._model_classes))
        self.lambda0_ = found.lambda0
        self._keep_ridge(problem.ridge)
        self.objective_ = found.objective
        self.loss_ = found.point.loss
        self.search_stats_ = found.counts
        self.n_iter_ = max(1, found.counts.get("moves", 1))

    def _warn(self, found: Fit) -> None:
        if not found.finished:
            msg = (
                f"the search was stopped by time_limit={self.time_limit} s and kept the best model found so far "
                f"({self.n_terms_} terms): raise time_limit, or make the search smaller with {self._inputs().smaller}."
            )
            warn(msg, ConvergenceWarning)
        elif self.max_terms is None and self.n_terms_ >= DEFAULT_MAX_TERMS:
            msg = f"the model reached {DEFAULT_MAX_TERMS} terms, the default limit: raise lambda0 or set max_terms."
            warn(msg, ConvergenceWarning)
