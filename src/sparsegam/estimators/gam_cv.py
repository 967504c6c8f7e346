"""Estimators that choose their own size: the frontier per fold, scored, and the smallest size that is good enough."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from sparsegam.checks import check_choice, check_integer
from sparsegam.data.frames import Table
from sparsegam.estimators.crossval import (
    RULES,
    Task,
    choose,
    cross_validate,
    middle_price,
    results,
    scorer_named,
    threads_per_search,
)
from sparsegam.estimators.gam import Classifies, Regresses, SparseGAM, SparseModel
from sparsegam.estimators.multiclass_cv import ChoosesForEach
from sparsegam.parameters import SECTIONS, documented, keep_arguments, pick
from sparsegam.search.options import Options
from sparsegam.search.path import Path, new_axes, search_path
from sparsegam.search.problem import Problem
from sparsegam.search.progress import Progress, serialized

SECTIONS["{each_class}"] = """\
With more than two classes, a size is chosen for each class against the rest, on the same folds and by the same
scoring, which then sees True for the class and False for the rest. `estimators_` holds the choices; `path_` and
`cv_results_` are tuples, `best_n_terms_`, `best_score_`, `best_lambda0_` and `lambda0_` arrays, in the order of
`classes_`; `n_terms_`, `loss_` and `objective_` are sums. `predict_proba` divides the probabilities of the models
by their sum.
"""


class ChoosesSize(SparseModel):
    """Fits the frontier and chooses a size by cross-validation; `_pose` says how a table becomes a problem."""

    path_: Any
    cv_results_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Search the frontier of all rows and of each fold, and choose a size.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing.
        y : array-like of shape (n_rows,)
            Labels of two classes, or the responses of a regression.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows, in fitting and in scoring; 0 is the same as no row.
        groups : array-like of shape (n_rows,), optional
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        return self._choose(X, y, sample_weight, groups=groups)

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean score against the number of terms, its standard error as a band, and the size chosen.

        With more than two classes, there is a line for each.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        ax = new_axes() if ax is None else ax
        for part, name in self._choices():
            drawn_choice(ax, part.cv_results_, part.best_n_terms_, name)
        ax.set(xlabel="number of terms", ylabel=f"score ({self.scoring or self._default_scoring})")
        ax.legend()
        return ax

    def _choices(self) -> list[tuple[Any, str]]:
        """Return the estimators that chose a size, each with the start of its labels: this one, or one per class."""
        if not hasattr(self, "estimators_"):
            return [(self, "")]
        return [(part, f"{label}: ") for part, label in zip(self.estimators_, self.classes_, strict=True)]

    def _choose(self, X: Any, y: Any, sample_weight: Any, *, fit_weight: Any = None, groups: Any = None) -> Any:
        """Fit; weights of the classes may be in `fit_weight` already, which then stands for those of the rows."""
        check_choice("rule", self.rule, RULES)
        check_integer("max_terms", self.max_terms, at_least=0)
        table = self._read(X)
        self._check_columns(X, table, y=y, reset=True)
        target, weight = self._target(y, sample_weight, table.n_rows)
        labels = np.asarray(y).ravel()
        folds = list(check_cv(self.cv, labels, classifier=self.classes_ is not None).split(X, labels, groups))
        n_threads = threads_per_search(self.n_jobs, len(folds) + 1)
        task = Task(
            X=indexable(X)[0],
            y=labels,
            table=table.loaded(),
            target=target,
            weight=weight if fit_weight is None else fit_weight,
            score_weight=None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
            classes=self.classes_,
            solve=lambda *rows: self._solve(*rows, n_threads=n_threads),
            scorer=scorer_named(self.scoring or self._default_scoring, self.classes_),
        )
        self._keep_choice(*cross_validate(task, folds, self.n_jobs, self.verbose))
        return self

    def _solve(self, table: Table, target: Any, weight: Any, *, n_threads: int) -> Path:
        options = pick(Options, vars(self) | {"loss": self._loss(), "n_jobs": n_threads})
        return self._frontier(self._pose(table, target, weight, options), serialized(self.callback))

    def _frontier(self, problem: Problem, callback: Progress | None) -> Path:
        return search_path(problem, self.classes_, callback)

    def _keep_choice(self, path: Path, scores: NDArray[np.float64]) -> None:
        chosen = choose(scores, self.rule)
        self.path_ = path
        self.cv_results_ = results(path, scores)
        self.best_n_terms_ = int(path.n_terms[chosen])
        self.best_score_ = float(scores[chosen].mean())
        self.best_lambda0_ = self.lambda0_ = middle_price(path, chosen)
        self.loss_ = float(path.loss[chosen])
        self.objective_ = float(path.objective[chosen])
        self.n_iter_ = max(1, path.search_stats.get("moves", 1))
        self._keep_model(path.models[chosen])
        if not path.finished:
            msg = f"the search was stopped by time_limit={self.time_limit} s: raise it, or lower max_terms."
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)


def drawn_choice(ax: Any, scores: dict[str, Any], chosen: int, name: str) -> None:
    """Draw the mean score of each size, its standard error as a band, and the size chosen."""
    sizes, mean, error = (scores[key] for key in ("n_terms", "mean_test_score", "se_test_score"))
    (line,) = ax.plot(sizes, mean, marker="o", markersize=3, label=f"{name}mean over folds, and one standard error")
    ax.fill_between(sizes, mean - error, mean + error, alpha=0.25, color=line.get_color())
    ax.axvline(chosen, color=line.get_color(), linestyle="--", label=f"{name}chosen: {chosen} terms")


@documented
class SparseGAMClassifierCV(ChoosesForEach, Classifies, ChoosesSize, SparseGAM):
    """Sparse additive classifier of step functions that chooses its number of terms by cross-validation.

    The frontier (the best model of each size up to `max_terms`) is searched on all rows and on the training rows of
    each fold, bins included; every size is scored on the rows left out.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows.
    {search}
    cv : int, splitter or iterable, optional
        The folds, as scikit-learn takes them; None is five.
    scoring : str or callable, optional
        What a good model is, as scikit-learn takes it; None is "neg_log_loss".
    rule : {"one_se", "best"}
        "one_se" takes the smallest size whose mean score is within one standard error of the best.
    {table}
    class_weight : dict or "balanced", optional
        Weights of the classes in fitting (not in scoring), multiplied with `sample_weight`; "balanced" gives all the
        same total.
    n_jobs : int, optional
        Number of threads, shared by the folds; None is one, -1 is all cores. The result does not depend on it.
    time_limit : float, optional
        Seconds after which each of the searches keeps the best found so far, with a ConvergenceWarning.
    {report}

    Attributes
    ----------
    path_ : Path
        The frontier of all rows.
    cv_results_ : dict of ndarray
        By size: n_terms, lambda0, mean_test_score, std_test_score, se_test_score, rank_test_score and the score on
        each fold, split0_test_score and so on.
    best_n_terms_, best_score_ : int, float
        The size chosen and its mean score.
    best_lambda0_, lambda0_ : float
        A price per term at which the frontier's best size is the one chosen; NaN where no price does that.
    model_, intercept_, terms_, n_terms_ : Model, float, tuple of Term, int
        The model of that size, fitted to all rows, and its parts.
    loss_, objective_ : float
        Its loss, and its loss with the ridge penalty.
    classes_ : ndarray
        The labels; with two of them, scores above zero stand for the second.
    n_iter_ : int
        Number of moves that the search on all rows made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Notes
    -----
    {each_class}
    """

    _default_scoring = "neg_log_loss"

    def __init__(  # noqa: PLR0913
        self,
        *,
        loss: str = "logistic",
        lambda2: float = 1e-3,
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "one_se",
        max_features: int | None = None,
        max_terms_per_feature: int | None = None,
        features_always: Any = None,
        features_never: Any = None,
        feature_cost: Any = None,
        monotone: Any = None,
        max_bins: int = 1000,
        thresholds: Any = None,
        min_samples_bin: int = 1,
        categorical: Any = "auto",
        min_category_count: int = 5,
        special_values: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        keep_arguments(self, locals())


@documented
class SparseGAMRegressorCV(Regresses, ChoosesSize, SparseGAM):
    """Sparse additive regression of step functions that chooses its number of terms by cross-validation.

    The frontier (the best model of each size up to `max_terms`) is searched on all rows and on the training rows of
    each fold, bins included; every size is scored on the rows left out.

    Parameters
    ----------
    {search}
    cv : int, splitter or iterable, optional
        The folds, as scikit-learn takes them; None is five.
    scoring : str or callable, optional
        What a good model is, as scikit-learn takes it; None is "neg_mean_squared_error".
    rule : {"one_se", "best"}
        "one_se" takes the smallest size whose mean score is within one standard error of the best.
    {table}
    n_jobs : int, optional
        Number of threads, shared by the folds; None is one, -1 is all cores. The result does not depend on it.
    time_limit : float, optional
        Seconds after which each of the searches keeps the best found so far, with a ConvergenceWarning.
    {report}

    Attributes
    ----------
    path_ : Path
        The frontier of all rows.
    cv_results_ : dict of ndarray
        By size: n_terms, lambda0, mean_test_score, std_test_score, se_test_score, rank_test_score and the score on
        each fold, split0_test_score and so on.
    best_n_terms_, best_score_ : int, float
        The size chosen and its mean score.
    best_lambda0_, lambda0_ : float
        A price per term at which the frontier's best size is the one chosen; NaN where no price does that.
    model_, intercept_, terms_, n_terms_ : Model, float, tuple of Term, int
        The model of that size, fitted to all rows, and its parts.
    loss_, objective_ : float
        Its loss, and its loss with the ridge penalty.
    n_iter_ : int
        Number of moves that the search on all rows made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.
    """

    _default_scoring = "neg_mean_squared_error"

    def __init__(  # noqa: PLR0913
        self,
        *,
        lambda2: float = 1e-3,
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "one_se",
        max_features: int | None = None,
        max_terms_per_feature: int | None = None,
        features_always: Any = None,
        features_never: Any = None,
        feature_cost: Any = None,
        monotone: Any = None,
        max_bins: int = 1000,
        thresholds: Any = None,
        min_samples_bin: int = 1,
        categorical: Any = "auto",
        min_category_count: int = 5,
        special_values: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        keep_arguments(self, locals())
