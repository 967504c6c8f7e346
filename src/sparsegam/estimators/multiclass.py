"""More than two classes: an estimator fitted for each class against the rest, and joined in one model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from sparsegam.data.targets import check_labels, weights
from sparsegam.models.multiclass import OneVsRestModel
from sparsegam.search.price import mean_weight, warn_of_weights

Vector = NDArray[np.float64]


class JoinsClasses:
    """What estimators share that fit one model for each class against the rest: `estimators_`, joined in `model_`.

    Then `n_terms_`, `loss_` and `objective_` are sums over the classes, `n_iter_` is the largest, and probabilities are
    normalised: each model's own, divided by their sum.
    """

    def _join(self, parts: Sequence[Any], classes: NDArray[Any]) -> None:
        """Keep what was fitted for each class as one model."""
        self.estimators_ = list(parts)
        self.classes_ = classes
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Search the model, or one for each class where there are more than two.

        Parameters
        ----------
        X : array-like, data frame or (linear models) scipy.sparse matrix of shape (n_rows, n_features)
            What the estimator takes.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; a weight of 2 is the same as the row twice, 0 the same as no row.
            "aic" and "bic" take their sum for the number of rows: divide weights of a survey by their mean.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        if y is None or not many_classes(y, sample_weight):
            vars(self).pop("estimators_", None)
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        labels = column_or_1d(y, warn=True)
        weight = weights(sample_weight, len(labels))
        classes = np.unique(labels[weight > 0])
        weight = class_weights(self.class_weight, classes, labels, weight)  # type: ignore[attr-defined]
        parts = [_part(self)._fit(X, labels == label, weight) for label in classes]
        self._join(parts, classes)
        warn_of_weights(self.lambda0, mean_weight(sample_weight))  # type: ignore[attr-defined]
        return self

    def _join(self, parts: Sequence[Any], classes: NDArray[Any]) -> None:
        super()._join(parts, classes)
        self.lambda0_ = parts[0].lambda0_
        self.search_stats_ = {name: sum(part.search_stats_[name] for part in parts) for name in parts[0].search_stats_}
        if hasattr(parts[0], "certificate_"):
            self.certificate_: Any = tuple(part.certificate_ for part in parts)


def _part(estimator: Any) -> Any:
    """Return an unfitted copy for one class; the weights of classes are in those of the rows already."""
    return clone(estimator).set_params(class_weight=None)


def many_classes(y: Any, sample_weight: Any) -> bool:
    """Tell whether rows of positive weight have more than two labels, without the sort that text makes slow."""
    labels = column_or_1d(y)
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


def class_weights(class_weight: Any, classes: NDArray[Any], labels: NDArray[Any], weight: Vector) -> Vector:
    """Multiply row weights by those of the classes: a mapping, or "balanced" for equal totals."""
    if class_weight is None:
        return weight
    position = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(position, weight, minlength=len(classes))
        factors = total.sum() / (len(classes) * total)
    elif isinstance(class_weight, Mapping):
        factors = _mapped(class_weight, classes)
    else:
        msg = f"class_weight must be None, 'balanced' or a dict from class to weight, got {class_weight!r}."
        raise ValueError(msg)
    out: Vector = weight * factors[position]
    return out


def _mapped(class_weight: Mapping[Any, float], classes: NDArray[Any]) -> Vector:
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        msg = f"class_weight names {unknown}, but the classes of y are {known}."
        raise ValueError(msg)
    factors = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    if not (np.isfinite(factors).all() and factors.min() > 0):
        msg = f"class_weight must hold positive numbers, got {dict(class_weight)!r}."
        raise ValueError(msg)
    return factors
