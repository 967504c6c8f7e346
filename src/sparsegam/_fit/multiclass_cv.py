"""More than two classes where the size is chosen: one choice for each class against the rest, all on the same folds."""

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._fit.folds import DEFAULT_FOLDS, Fold, split
from sparsegam._fit.multiclass import JoinsClasses, ManyClasses, many_classes
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn


class ChoosesForEach(JoinsClasses):
    """Gives a classifier that chooses its size any number of classes; to stand first among its bases.

    With two classes nothing changes. With more, a size is chosen for each class against the rest. What a choice leaves
    behind is then kept by class: `path_` and `cv_results_` are tuples, `best_n_terms_`, `best_score_`, `best_lambda0_`
    and `lambda0_` arrays, in the order of `classes_`.
    """

    class_weight: Any
    positive: Any
    cv: Any
    path_: Any
    cv_results_: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        if y is None or self.positive is not None or not many_classes(y, sample_weight):
            vars(self).pop("estimators_", None)
            return super()._fit(X, y, sample_weight, groups)  # type: ignore[misc]
        many = ManyClasses.of(y, sample_weight, self.class_weight)
        folds = self._folds(X, many.labels, many.weight, groups)
        settings = self.get_params(deep=False) | {"class_weight": None, "n_repeats": 1}  # type: ignore[attr-defined]
        parts = []
        for label in many.classes:  # a fold that trains on no row of a class (it has a single one) says nothing of it
            mine = many.labels == label
            rows = mine & (many.weight > 0)
            part = type(self)(**settings | {"cv": [fold for fold in folds if rows[fold[0]].any()]})
            parts.append(part._choose(X, mine, sample_weight, fit_weight=many.fit_weight))  # type: ignore[attr-defined]
        self._join(parts, many.classes)
        return self

    def _folds(self, X: Any, labels: NDArray[Any], weight: FloatArray, groups: Any) -> list[Fold]:
        """Split once for all classes, so that stratified folds hold the same share of each."""
        splitter = self._splitter(labels, classifier=True)  # type: ignore[attr-defined]
        stratified = self.cv is None or isinstance(self.cv, Integral)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")  # ours names it
            folds = split(splitter, X, labels, groups)
        if stratified:
            _warn_of_few_rows(labels[weight > 0], DEFAULT_FOLDS if self.cv is None else int(self.cv))
        else:
            _check_folds(labels, weight, folds)
        return folds

    def _join(self, parts: Sequence[Any], classes: NDArray[Any]) -> None:
        super()._join(parts, classes)
        self.path_ = tuple(part.path_ for part in parts)
        self.cv_results_ = tuple(part.cv_results_ for part in parts)
        if hasattr(parts[0], "shapes_"):
            self.shapes_ = tuple(part.shapes_ for part in parts)
        for name in ("best_n_terms_", "best_score_", "best_lambda0_", "lambda0_", "best_lambda2_", "lambda2_"):
            setattr(self, name, np.array([getattr(part, name) for part in parts]))


def _warn_of_few_rows(labels: NDArray[Any], n_folds: int) -> None:
    """Warn where a class has fewer rows than there are stratified folds."""
    classes, counts = np.unique(labels, return_counts=True)
    label, n = min(zip(classes.tolist(), counts.tolist(), strict=True), key=lambda pair: pair[1])
    if n < n_folds:
        msg = (
            f"class {label!r} has {n} row{'s' * (n > 1)} of positive weight, fewer than the {n_folds} folds; its "
            "size is chosen by little. Use fewer folds, merge it with another class, or leave it out."
        )
        warn(msg, UserWarning)


def _check_folds(labels: NDArray[Any], weight: FloatArray, folds: Sequence[Fold]) -> None:
    """Refuse folds whose training rows lack a class: there is nothing to learn about it there."""
    classes = np.unique(labels[weight > 0])
    for number, (train, _) in enumerate(folds):
        missing = np.setdiff1d(classes, labels[train][weight[train] > 0])
        if missing.size:
            label = missing.tolist()[0]
            n = int(np.count_nonzero((labels == label) & (weight > 0)))
            msg = (
                f"the training rows of fold {number} have no row of class {label!r}, which has {n} in all: use fewer "
                "folds or a stratified splitter as cv, merge the class with another, or leave it out."
            )
            raise ValueError(msg)
