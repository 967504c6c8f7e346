"""More than two classes: an estimator fitted for each class against the rest, and joined in one model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from sparsegam._data.columns import fill_masked
from sparsegam._data.table import Table
from sparsegam._data.target import apply_class_weights, as_vector, check_labels, read_weights
from sparsegam._models.multiclass import OneVsRestModel
from sparsegam.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class ManyClasses:
    """Labels of more than two classes.

    Attributes
    ----------
    labels, classes : ndarray
        The labels, and the different ones of rows with positive weight.
    weight, fit_weight : ndarray
        Weights of the rows, and the same times those of the classes.
    """

    labels: NDArray[Any]
    classes: NDArray[Any]
    weight: FloatArray
    fit_weight: FloatArray

    @classmethod
    def of(cls, y: Any, sample_weight: Any, class_weight: Any) -> "ManyClasses":
        """Read labels and weights."""
        labels = column_or_1d(fill_masked(y), warn=True)
        weight = read_weights(sample_weight, len(labels))
        classes = np.unique(labels[weight > 0])
        position = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)
        return cls(labels, classes, weight, apply_class_weights(class_weight, classes, position, weight))


class JoinsClasses:
    """What estimators share that fit one model for each class against the rest: `estimators_`, joined in `model_`.

    Then `n_terms_`, `loss_` and `objective_` are sums over the classes, `n_iter_` is the largest, and probabilities are
    normalised: each model's own, divided by their sum.
    """

    def _join(self, parts: Sequence[Any], classes: NDArray[Any]) -> None:
        """Keep what was fitted for each class as one model."""
        self.estimators_ = list(parts)
        self.classes_: Any = classes
        self._keep_model(OneVsRestModel(tuple(part.model_ for part in parts), tuple(classes.tolist())))  # type: ignore[attr-defined]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(parts[0], name):
                setattr(self, name, getattr(parts[0], name))
            else:
                vars(self).pop(name, None)
        self.loss_ = sum(part.loss_ for part in parts)
        self.objective_ = sum(part.objective_ for part in parts)
        self.n_iter_ = max(part.n_iter_ for part in parts)


class OneVsRest(JoinsClasses):
    """Gives a two-class estimator any number of classes; to stand first among its bases.

    With two classes nothing changes. With more, a copy of the estimator is fitted for each class against the rest, and
    the counts of `search_stats_` are sums over the classes.
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if y is None or self.positive is not None or not many_classes(y, sample_weight):  # type: ignore[attr-defined]
            vars(self).pop("estimators_", None)
            return super()._fit(X, y, sample_weight)  # type: ignore[misc]
        many = ManyClasses.of(y, sample_weight, self.class_weight)  # type: ignore[attr-defined]
        X = X.with_reusable_codes(allowed=False) if isinstance(X, Table) else X  # each class bins it anew
        parts = [_part(self) for _ in many.classes]
        data = [
            part._fit(X, many.labels == label, many.fit_weight) for part, label in zip(parts, many.classes, strict=True)
        ]
        self._join(parts, many.classes)
        return data[0]

    def _join(self, parts: Sequence[Any], classes: NDArray[Any]) -> None:
        super()._join(parts, classes)
        for name in ("lambda0_", "lambda2_"):
            setattr(self, name, np.array([getattr(part, name) for part in parts]))
        self.search_stats_ = {name: sum(part.search_stats_[name] for part in parts) for name in parts[0].search_stats_}
        if hasattr(parts[0], "certificate_"):
            self.certificate_: Any = tuple(part.certificate_ for part in parts)


def _part(estimator: Any) -> Any:
    """Return an unfitted copy for one class; the weights of classes are in those of the rows already."""
    return clone(estimator).set_params(class_weight=None)


def many_classes(y: Any, sample_weight: Any) -> bool:
    """Tell whether rows of positive weight have more than two labels, without the sort that text makes slow."""
    labels = as_vector(y)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_labels(labels)
    if labels.size == 0:
        return False
    if sample_weight is not None:
        weight = np.asarray(sample_weight)
        labels = labels[weight > 0] if weight.shape == labels.shape and weight.dtype.kind in "fiub" else labels
    others = labels[labels != labels[0]] if labels.size else labels
    if others.size == 0 or not np.any(others != others[0]):
        return False
    check_classification_targets(labels)
    return True
