"""Methods shared by the estimators: store the result of a fit, predict with it, score it and display it."""

from collections.abc import Callable
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import ClassifierTags, RegressorTags, estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegam._data.streams import as_stream, is_stream, read_columns
from sparsegam._data.table import Table, is_on_device, source_of_names
from sparsegam._data.target import rest_label
from sparsegam._fit.driver import FitResult
from sparsegam._fit.spec import AdditiveOptions
from sparsegam._fit.training import FitData
from sparsegam._models.scoring import positives
from sparsegam._models.training import score_pieces
from sparsegam.arrays import FloatArray

# The latest fit is kept for `latest_fit` unless its features, as float64, are larger than this.
KEPT_BYTES = 2**26
_latest: list[tuple["ReferenceType[Any]", FitResult]] = []


def store_feature_names(estimator: Any, data: FitData, y: Any) -> None:
    """Store the names and the number of features, as scikit-learn does."""
    features = data.features
    if isinstance(features, Table) and (isinstance(data.source, Table) or _is_plain(features)):
        _set_feature_names(estimator, features)
        return
    validate_data(estimator, source_of_names(data.source, features.source), y, reset=True, skip_check_array=True)


def _is_plain(table: Table) -> bool:
    """Return whether scikit-learn reads the same feature names: an array has none, and those of a frame are strings."""
    if table.names is None:
        return isinstance(table.source, np.ndarray)
    return set(map(type, table.names)) == {str}


def _set_feature_names(estimator: Any, table: Table) -> None:
    if table.names is not None:
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        # These are the names of an earlier fit.
        del estimator.feature_names_in_
    estimator.n_features_in_ = table.n_columns


def store_fit(estimator: Any, result: FitResult) -> None:
    """Set the fitted attributes of an estimator."""
    if hasattr(estimator, "estimators_"):
        del estimator.estimators_
    if result.classes is not None:
        estimator.classes_ = np.sort(result.classes)
    _store_model(estimator, result)
    estimator.loss_ = result.loss
    estimator.objective_ = result.objective
    estimator.n_iter_ = result.n_iter
    if result.parts:
        _store_classes(estimator, result)
    elif result.choice is not None:
        _store_choice(estimator, result)
    else:
        _store_search(estimator, result)
    _remember(estimator, result)


def _store_model(estimator: Any, result: FitResult) -> None:
    """Store the model and its parts; the parts belong to the score of the second class, as `decision_function`."""
    model = result.model
    estimator.model_ = model
    estimator.n_terms_ = model.n_terms
    is_reversed = result.classes is not None and _is_reversed(estimator)
    if result.spec.additive:
        estimator.terms_ = tuple(term.negated() for term in model.terms) if is_reversed else model.terms
        estimator.intercept_ = -model.intercept if is_reversed else model.intercept
    elif result.spec.is_classifier:
        estimator.coef_, estimator.intercept_ = np.atleast_2d(model.coef), np.atleast_1d(model.intercept)
        if is_reversed:
            estimator.coef_, estimator.intercept_ = -estimator.coef_, -estimator.intercept_
    else:
        estimator.coef_, estimator.intercept_ = model.coef, model.intercept


def _store_search(estimator: Any, result: FitResult) -> None:
    assert result.ridge is not None
    estimator.lambda0_ = result.lambda0
    estimator.lambda2_, estimator.standardize_ = result.ridge.lambda2, result.ridge.standardized
    estimator.search_stats_ = result.counts
    if result.spec.additive:
        estimator.certificate_ = result.certificate


def _store_choice(estimator: Any, result: FitResult) -> None:
    choice, spec = result.choice, result.spec
    assert choice is not None
    assert result.ridge is not None
    scores = choice.scores
    estimator.path_ = choice.path
    estimator.cv_results_ = scores.results(choice.path, choice.ridge)
    estimator.best_n_terms_ = int(choice.path.n_terms[choice.index])
    estimator.best_score_ = float(scores.mean[choice.ridge, choice.size])
    estimator.best_lambda0_ = estimator.lambda0_ = result.lambda0
    estimator.best_lambda2_ = estimator.lambda2_ = result.ridge.lambda2
    estimator.standardize_ = result.ridge.standardized
    designs = [design for design in spec.designs if isinstance(design, AdditiveOptions)]
    if not designs:
        return
    shapes = [design.constraints.shapes for design in designs]
    n_scores = len(spec.ridges) * len(scores.n_terms)
    estimator.shapes_ = shapes[choice.ridge // len(spec.ridges)]
    if spec.n_plain > 1:
        estimator.cv_results_["shapes"] = np.repeat([str(one) for one in shapes], n_scores)
    if len(spec.designs) > spec.n_plain:
        with_interactions = [design.interactions.is_on for design in designs]
        estimator.cv_results_["interactions"] = np.repeat(with_interactions, n_scores)


def _store_classes(estimator: Any, result: FitResult) -> None:
    """Store the fits of more than two classes: one estimator each, and the attributes of all of them together."""
    parts = []
    for part_result in result.parts:
        part = type(estimator)(**estimator.get_params(deep=False))
        part.class_weight = None
        store_fit(part, part_result)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(part, name, getattr(estimator, name))
        parts.append(part)
    estimator.estimators_ = parts
    names = ["lambda0_", "lambda2_"]
    if result.spec.selection is None:
        estimator.search_stats_ = result.counts
        if result.spec.additive:
            estimator.certificate_ = tuple(part.certificate_ for part in parts)
    else:
        estimator.path_ = tuple(part.path_ for part in parts)
        estimator.cv_results_ = tuple(part.cv_results_ for part in parts)
        if result.spec.additive:
            estimator.shapes_ = tuple(part.shapes_ for part in parts)
        names += ["best_n_terms_", "best_score_", "best_lambda0_", "best_lambda2_"]
    for name in names:
        setattr(estimator, name, np.array([getattr(part, name) for part in parts]))


def _remember(estimator: Any, result: FitResult) -> None:
    features = result.data.features
    size = 8 * getattr(features, "n_rows", KEPT_BYTES) * getattr(features, "n_columns", KEPT_BYTES)
    _latest[:] = [(ref(estimator), result)] if size <= KEPT_BYTES else []


def latest_fit(estimator: Any, X: Any) -> FitResult | None:
    """Return the result of the latest fit in this process if it is the one of this estimator on this X, else None.

    A report right after a fit takes design, problem and path from it instead of building and searching them again. Only
    the latest fit is kept, and only if its features are small (KEPT_BYTES).
    """
    for owner, result in _latest:
        if owner() is estimator and result.data.source is X:
            return result
    return None


def scores_of(estimator: Any, X: Any, read: Callable[[Any], Any]) -> FloatArray:
    """Validate X as scikit-learn does and return the score of each row under the model of a fitted estimator."""
    check_is_fitted(estimator)
    model = estimator.model_
    if is_on_device(X):
        from sparsegam._backends.cuda.predictions import device_scores

        return device_scores(model, X)  # type: ignore[no-any-return]
    if is_stream(X):
        return score_pieces(model, as_stream(X).pieces())
    data = read(X)
    if not isinstance(X, Table):
        validate_data(estimator, source_of_names(X, data.source), reset=False, skip_check_array=True)
    scores: FloatArray = model.score_table(data.with_names(model.feature_names))
    return scores


def predictions(estimator: Any, scores: FloatArray) -> NDArray[Any]:
    """Return labels for the scores of a classifier, and the scores of a regression."""
    model = estimator.model_
    if model.classes is None:
        return scores
    best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    classes = estimator.classes_[::-1] if _is_reversed(estimator) else estimator.classes_
    if is_on_device(best):
        from sparsegam._backends.cuda.predictions import device_labels

        return device_labels(classes, best)  # type: ignore[no-any-return]
    labels: NDArray[Any] = classes[best]
    return labels


def class_scores(estimator: Any, scores: FloatArray) -> FloatArray:
    """Return scores of the second of `classes_`; the positive class of the model may be the first."""
    return -scores if _is_reversed(estimator) else scores


def class_probabilities(estimator: Any, scores: FloatArray) -> FloatArray:
    """Return probabilities in the order of `classes_`."""
    probabilities: FloatArray = estimator.model_.probabilities(scores)
    return probabilities[:, ::-1] if _is_reversed(estimator) else probabilities


def _is_reversed(estimator: Any) -> bool:
    """Return whether the positive class of the model is the first of the sorted `classes_`."""
    classes = estimator.model_.classes
    return len(classes) == 2 and bool(classes[1] == estimator.classes_[0])


def score_predictions(estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the accuracy of a classifier, or R squared of a regression."""
    from sklearn.metrics import accuracy_score, r2_score

    if is_stream(X):
        y, sample_weight = read_columns(as_stream(X), y=y, sample_weight=sample_weight)
    model, predicted = estimator.model_, estimator.predict(X)
    if model.classes is None:
        return float(r2_score(y, predicted, sample_weight=sample_weight))
    if len(model.classes) == 2 and model.classes[0] == rest_label(model.classes[1]):
        # The labels other than the positive one were merged into one class.
        y = np.asarray(model.classes)[positives(model, y).astype(np.intp)]
    return float(accuracy_score(y, predicted, sample_weight=sample_weight))


def html_with_model(estimator: Any) -> str:
    """Return the diagram of scikit-learn and, once fitted, the model below it."""
    diagram: str = estimator_html_repr(estimator)
    return f"{diagram}{estimator.model_._repr_html_()}" if hasattr(estimator, "model_") else diagram


def tags_of(estimator: Any, tags: Any) -> Any:
    """Add the kind of estimator to the tags of scikit-learn."""
    tags.target_tags.required = True
    if hasattr(estimator, "predict_proba"):
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
    else:
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
    return tags
