"""Estimators that choose their own size: the frontier per fold, scored, and the smallest size that is good enough."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from sparsegam import _core
from sparsegam.arrays import Vector
from sparsegam.checks import check_choice, check_integer, warn
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
from sparsegam.estimators.fitting import SparseModel
from sparsegam.parameters import documented, pick
from sparsegam.search.options import Options
from sparsegam.search.path import Path, new_axes
from sparsegam.search.progress import serialized


@dataclass(kw_only=True, eq=False, repr=False)
class ChoosesSize(SparseModel):
    """Fits the frontier and chooses a size by cross-validation."""

    max_terms: int = 40
    cv: Any = None
    scoring: Any = None
    rule: str = "one_se"

    _path_kind: ClassVar[type[Path[Any]]] = Path

    @documented
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Search the frontier of all rows and of each fold, and choose a size: one, or one for each of several classes.

        {choose}
        """
        self._fit(X, y, sample_weight, groups)
        self._look_back(X)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        return self._choose(X, y, sample_weight, groups=groups)

    @documented
    def plot(self, ax: Any = None) -> Any:
        """Draw the mean score against the number of terms, its standard error as a band, and the size chosen.

        With more than two classes, there is a line for each.

        {draw}
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
        data, target = self._read(X, y, sample_weight)
        labels = np.asarray(y).ravel()
        folds = list(check_cv(self.cv, labels, classifier=self.classes_ is not None).split(X, labels, groups))
        n_threads = threads_per_search(self.n_jobs, len(folds) + 1)
        stop = _core.Stop() if self._stop is None else self._stop
        task = Task(
            X=indexable(X)[0],
            y=labels,
            data=data.loaded(),
            target=target.values,
            weight=target.weight if fit_weight is None else fit_weight,
            score_weight=None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
            classes=self.classes_,
            solve=lambda *rows: self._solve(*rows, n_threads=n_threads, stop=stop),
            scorer=scorer_named(self.scoring or self._default_scoring, self.classes_),
        )
        self._keep_choice(*cross_validate(task, folds, n_jobs=self.n_jobs, verbose=self.verbose, stop=stop))
        return self

    def _solve(self, data: Any, target: Vector, weight: Vector, *, n_threads: int, stop: _core.Stop) -> Path[Any]:
        options = pick(Options, vars(self) | {"loss": self._loss(), "n_jobs": n_threads})
        problem = replace(self._inputs().pose(data, target, weight, options), stop=stop)
        return self._path_kind.search(problem, self.classes_, serialized(self.callback))

    def _keep_choice(self, path: Path[Any], scores: Vector) -> None:
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
            warn(msg, ConvergenceWarning)


def drawn_choice(ax: Any, scores: dict[str, Any], chosen: int, name: str) -> None:
    """Draw the mean score of each size, its standard error as a band, and the size chosen."""
    sizes, mean, error = (scores[key] for key in ("n_terms", "mean_test_score", "se_test_score"))
    (line,) = ax.plot(sizes, mean, marker="o", markersize=3, label=f"{name}mean over folds, and one standard error")
    ax.fill_between(sizes, mean - error, mean + error, alpha=0.25, color=line.get_color())
    ax.axvline(chosen, color=line.get_color(), linestyle="--", label=f"{name}chosen: {chosen} terms")
