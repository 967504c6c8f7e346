"""Estimators that choose their own size and ridge: frontiers per fold, scored, and a rule that picks one of them."""

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import indexable

from sparsegam import _core
from sparsegam._data.table import Table
from sparsegam._fit.crossval import Task, cross_validate, threads_per_search
from sparsegam._fit.fitting import SparseModel
from sparsegam._fit.folds import Fold, split, splitter_of
from sparsegam._fit.surface import RULES, Surface, middle_price
from sparsegam._search.options import Options, n_threads
from sparsegam._search.path import Path
from sparsegam._search.problem import Problem, at_ridge, prepared
from sparsegam._search.progress import serialized
from sparsegam._search.ridge import AUTO, Ridge, ridges_of
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, warn
from sparsegam.choices import Repeats, Rule
from sparsegam.parameters import documented, pick


@dataclass(kw_only=True, eq=False, repr=False)
class ChoosesSize(SparseModel):
    """Fits the frontier and chooses a size by cross-validation."""

    max_terms: int = 40
    cv: Any = None
    scoring: Any = None
    rule: Rule = "steady"
    n_repeats: Repeats = "auto"
    random_state: Any = 0

    _path_kind: ClassVar[type[Path[Any]]] = Path

    @documented
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Search the frontiers of each fold, and choose a ridge and a size: once, or for each of several classes.

        {choose}
        """
        X, y, sample_weight = self._take_in(X, y, sample_weight)
        self._fit(X, y, sample_weight, groups)
        self._look_back()
        self._look_at(X)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        return self._choose(X, y, sample_weight, groups=groups)

    @documented
    def plot(self, ax: Any = None) -> Any:
        """Draw the mean score against the number of terms, its standard error as a band, and the size chosen.

        Ridges that were not chosen are thin lines. With more than two classes, there is a line for each.

        {draw}
        """
        from sparsegam.plots._figure import get_axes, style_axes

        ax = get_axes(ax)[1]
        for part, name in self._choices():
            drawn_choice(ax, part.cv_results_, part, name)
        ax.set(xlabel="number of terms", ylabel=f"score ({self.scoring or self._default_scoring})")
        ax.legend(frameon=False)
        style_axes(ax)
        return ax

    def _choices(self) -> list[tuple[Any, str]]:
        """Return the estimators that chose a size, each with the start of its labels: this one, or one per class."""
        if not hasattr(self, "estimators_"):
            return [(self, "")]
        return [(part, f"{label}: ") for part, label in zip(self.estimators_, self.classes_, strict=True)]

    def _choose(self, X: Any, y: Any, sample_weight: Any, *, fit_weight: Any = None, groups: Any = None) -> Any:
        """Fit; weights of the classes may be in `fit_weight` already, which then stands for those of the rows."""
        self._check_choice()
        data, target = self._read(X, y, sample_weight)
        labels = np.asarray(y).ravel() if getattr(self, "positive", None) is None else target.values > 0
        folds = split(self._splitter(labels, classifier=self.classes_ is not None), X, labels, groups)
        given = {
            "X": X if isinstance(X, Table) else indexable(X)[0],
            "y": labels,
            "data": data.load(),
            "target": target.values,
            "weight": target.weight if fit_weight is None else fit_weight,
            "score_weight": None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
        }
        return self._choose_by(Task, given, folds)

    def _check_choice(self) -> None:
        check_choice("rule", self.rule, RULES)
        check_integer("max_terms", self.max_terms, at_least=0)

    def _choose_by(self, kind: type[Task], given: dict[str, Any], folds: list[Fold]) -> Any:
        """Score every ridge and size on the folds, wherever the rows of a task are, and keep what a rule picks."""
        ridges = ridges_of(vars(self)["lambda2"], self._loss(), standardize=vars(self)["standardize"])
        stop = _core.Stop() if self._stop is None else self._stop
        callback = serialized(self.callback)
        designs = self._designs()
        options = self._options(ridges[0], n_searches=len(folds) + 1, n_designs=len(designs))

        def pose(inputs: Any, ridge: Ridge, data: Any, target: FloatArray, weight: FloatArray) -> Problem[Any]:
            start = time.monotonic()
            problem = replace(inputs.pose(data, target, weight, options), stop=stop)
            return prepared(at_ridge(problem, ridge), start)

        poses = tuple(partial(pose, inputs, ridges[len(ridges) // 2]) for inputs in designs)

        def path(design: int, ridge: Ridge) -> Path[Any]:
            problem = pose(designs[design], ridge, given["data"], given["target"], given["weight"])
            return self._path_kind.search(problem, self._model_classes, callback)

        task = kind(
            **given,
            classes=self._scored_classes(),
            poses=poses,
            ridges=ridges,
            scoring=self.scoring or self._default_scoring,
            callback=callback,
        )
        surface, path_of = cross_validate(task, folds, path, n_jobs=self.n_jobs, verbose=self.verbose, stop=stop)
        chosen, size = surface.choose(self.rule, n_plain=self._n_plain() * len(ridges))
        self._keep_choice(surface, chosen, size, path_of(chosen))
        surface.warn_of_choice(size, self.max_terms)
        return self

    def _scored_classes(self) -> Any:
        """Return what scorers see: the labels, or True and False where a positive one is named."""
        return self.classes_ if getattr(self, "positive", None) is None else np.array([False, True])

    def _splitter(self, labels: Any, *, classifier: bool) -> Any:
        n_repeats = 1 if self.n_repeats == AUTO and self.time_limit is not None else self.n_repeats
        return splitter_of(self.cv, labels, n_repeats=n_repeats, random_state=self.random_state, classifier=classifier)

    def _designs(self) -> list[Any]:
        """Return the inputs to choose from."""
        return [self._inputs()]

    def _n_plain(self) -> int:
        """Return how many of these, the first ones, are without products."""
        return 1

    def _options(self, ridge: Ridge, n_searches: int, n_designs: int) -> Options:
        """Return the options of one search of several, which share threads and time."""
        limit = self.time_limit
        if limit is not None:
            limit = limit * min(n_threads(self.n_jobs), n_searches) / n_searches / n_designs
        given = {"loss": self._loss(), "n_jobs": threads_per_search(self.n_jobs, n_searches), "time_limit": limit}
        ridge_given = {"lambda2": ridge.amount, "standardize": ridge.standardized}
        return pick(Options, vars(self) | given | ridge_given)

    def _keep_choice(self, surface: Surface, ridge: int, size: int, path: Path[Any]) -> None:
        """Keep what was chosen, the ridge by its position among those of all designs."""
        chosen = int(np.searchsorted(path.n_terms, surface.n_terms[size], side="right")) - 1
        self.path_ = path
        self.cv_results_ = surface.results(path, ridge)
        self.best_n_terms_ = int(path.n_terms[chosen])
        self.best_score_ = float(surface.mean[ridge, size])
        self.best_lambda0_ = self.lambda0_ = middle_price(path, chosen)
        self._keep_ridge(surface.ridges[ridge].at(path.total_weight))
        self.best_lambda2_ = self.lambda2_
        self.loss_ = float(path.loss[chosen])
        self.objective_ = float(path.objective[chosen])
        self.n_iter_ = max(1, path.search_stats.get("moves", 1))
        self._keep_model(path.models[chosen])
        if not path.finished:
            msg = f"the search was stopped by time_limit={self.time_limit} s: raise it, or lower max_terms."
            warn(msg, ConvergenceWarning)


def drawn_choice(ax: Any, scores: dict[str, Any], chosen: Any, name: str) -> None:
    """Draw the mean score of each size, its standard error as a band, the size chosen, and other ridges thinly."""
    shown = (
        scores["shapes"] == str(chosen.shapes_) if "shapes" in scores else np.ones(scores["lambda2"].size, dtype=bool)
    )
    ridges = np.unique(scores["lambda2"])
    for n, lambda2 in enumerate(ridges):
        mine = shown & (scores["lambda2"] == lambda2)
        sizes, mean, error = (scores[key][mine] for key in ("n_terms", "mean_test_score", "se_test_score"))
        if lambda2 != chosen.lambda2_:
            shade = 0.35 + 0.45 * n / len(ridges)
            ax.plot(sizes, mean, linewidth=0.8, color=str(shade), label=f"{name}lambda2 = {lambda2:.3g}")
            continue
        label = (
            f"{name}lambda2 = {lambda2:.3g}, and one standard error"
            if len(ridges) > 1
            else (f"{name}mean over folds, and one standard error")
        )
        (line,) = ax.plot(sizes, mean, marker="o", markersize=3, label=label, zorder=3)
        ax.fill_between(sizes, mean - error, mean + error, alpha=0.25, color=line.get_color())
        ax.axvline(
            chosen.best_n_terms_,
            color=line.get_color(),
            linestyle="--",
            label=f"{name}chosen: {chosen.best_n_terms_} terms",
        )
