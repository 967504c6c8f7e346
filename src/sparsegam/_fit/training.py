"""Training data, read and checked once, and the problems built from them."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsegam._backends.local import LocalBackend
from sparsegam._backends.protocol import LabelledData
from sparsegam._data.matrix import NumericMatrix, read_matrix
from sparsegam._data.streams import as_stream, is_stream
from sparsegam._data.table import Table, is_on_device, native_frame, read_table
from sparsegam._data.target import (
    Target,
    apply_class_weights,
    encode_binary,
    encode_one_vs_rest,
    numeric_target,
    read_weights,
    target_vector,
)
from sparsegam._design.encoding import encode_stream
from sparsegam._design.linear import Coefficients
from sparsegam._fit.spec import AdditiveOptions, FitSpec, is_cuda
from sparsegam._fit.warnings import warn_about_columns, warn_of_merged_integers
from sparsegam._search.matrix_problem import build_matrix_problem
from sparsegam._search.options import NO_LIMIT, Deadline
from sparsegam._search.penalty import mean_weight
from sparsegam._search.problem import Problem
from sparsegam._search.table_problem import build_table_problem
from sparsegam.arrays import FloatArray
from sparsegam.checks import shown

if TYPE_CHECKING:
    from sparsegam._fit.scoring import TestSet


@dataclass(frozen=True, eq=False)
class FitData:
    """Features, target and weights of a fit.

    Attributes
    ----------
    features : Table or NumericMatrix
        The columns.
    labels : ndarray
        Labels or responses as given.
    target : Target
        The classes (None for a regression), the target as -1 and 1 or numbers, and the weights including class
        weights. With more than two classes, the values are the positions of the labels among the classes.
    source : Any
        X as given, for splitters and scorers.
    sample_weight : ndarray or None
        The weights as given.
    deadline : Deadline
        When the fit must end; the time limit includes reading the data.
    from_stream : bool
        Whether the features were read in pieces as codes, which this fit may then overwrite.
    """

    features: Any
    labels: NDArray[Any]
    target: Target
    source: Any
    sample_weight: FloatArray | None = None
    deadline: Deadline = NO_LIMIT
    from_stream: bool = False

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes, the positive class last; None for a regression."""
        return self.target.classes

    @property
    def n_models(self) -> int:
        """Number of models to fit: one per class if there are more than two."""
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    @property
    def labelled(self) -> Any:
        """The data in the format of the backends."""
        return LabelledData(self.features, self.target.values, self.target.weight)

    def make_backend(self, spec: FitSpec) -> Any:
        """Return a backend for the data, on the device of the fit."""
        if not is_cuda(spec.device):
            return LocalBackend(spec.options.n_threads)
        from sparsegam._backends.cuda.backend import CudaBackend

        return CudaBackend()

    @property
    def mean_weight(self) -> float:
        """Mean weight of the rows with positive weight, without class weights."""
        return mean_weight(self.sample_weight)

    def take(self, rows: NDArray[Any]) -> "FitData":
        """Return the data with these rows only, without X as given."""
        target = Target(self.classes, self.target.values[rows], self.target.weight[rows])
        given = None if self.sample_weight is None else self.sample_weight[rows]
        return replace(
            self,
            features=self.features.take(rows),
            labels=self.labels[rows],
            target=target,
            source=None,
            sample_weight=given,
        )

    def loaded(self) -> "FitData":
        """Return the data with all columns loaded, for repeated selection of rows."""
        return replace(self, features=self.features.load())

    def check_training(self) -> None:
        """Raise ValueError unless the training rows of a fold have a weight and, for a classifier, two classes."""
        seen = self.target.values[self.target.weight > 0]
        if seen.size == 0:
            msg = "all training rows of a fold have weight zero: use other folds."
            raise ValueError(msg)
        if self.classes is not None and seen.min() == seen.max():
            msg = "the training rows of a fold contain one class only: use fewer folds, or a stratified splitter as cv."
            raise ValueError(msg)

    def test_set(self, rows: NDArray[np.intp], scoring: Any) -> "TestSet":
        """Return those of the given rows that have positive weight, to score models on."""
        from sklearn.utils import _safe_indexing, indexable

        from sparsegam._fit.scoring import TestSet

        rows = rows[self.target.weight[rows] > 0]
        if rows.size == 0:
            msg = "all test rows of a fold have weight zero: use fewer folds."
            raise ValueError(msg)
        features = self.features.take(rows).load()
        return TestSet(
            features=features,
            X=features if isinstance(self.source, Table) else _safe_indexing(indexable(self.source)[0], rows),
            labels=self.labels[rows],
            target=self.target.values[rows],
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            classes=self.classes,
            scoring=scoring,
        )

    def warn_about_columns(self, spec: FitSpec) -> None:
        """Warn about columns that are probably misread."""
        warn_about_columns(spec, self.features)
        if spec.additive is None and self.source is not None and not sp.issparse(self.source):
            warn_of_merged_integers(read_table(self.source))

    def release(self, problem: Problem[Any]) -> None:
        """Release the remote data of a problem; do nothing for data in memory."""

    def against_rest(self, k: int) -> "FitData":
        """Return the data with one of more than two classes as the positive class, and all others as the negative."""
        is_class = self.target.values == k
        target = Target(np.array([False, True]), np.where(is_class, 1.0, -1.0), self.target.weight)
        return replace(self, labels=is_class, target=target)


def read_data(spec: FitSpec, X: Any, y: Any, sample_weight: Any = None, *, max_classes: int | None = None) -> FitData:
    """Read and check the data of a fit; its time limit starts now.

    Parameters
    ----------
    spec : FitSpec
        Options of the fit.
    X : array-like, data frame, stream or (linear models) sparse matrix
        The features.
    y, sample_weight : array-like, or str for a stream
        Labels or responses, and weights; for a stream, names of columns.
    max_classes : int, default=None
        2 if one model is to be fitted.

    Returns
    -------
    FitData
        The data.
    """
    deadline = Deadline.after(spec.options.time_limit)
    from_stream = is_stream(X)
    if from_stream:
        X, y, sample_weight = _read_stream(spec, X, y, sample_weight)
    features, source = _read_features(spec, X)
    if is_cuda(spec.device):
        from sparsegam._backends.cuda.inputs import to_host

        y, sample_weight = to_host(y), to_host(sample_weight)
    if y is None:
        msg = "A fit requires y to be passed, but the target y is None."
        raise ValueError(msg)
    labels, weight = target_vector(y, features.n_rows), read_weights(sample_weight, features.n_rows)
    data = FitData(
        features=features,
        labels=labels,
        target=read_labels(spec, labels, weight, max_classes=max_classes),
        source=source,
        sample_weight=None if sample_weight is None else weight,
        deadline=deadline,
        from_stream=from_stream,
    )
    if isinstance(features, Table) and from_stream:
        # The codes may be overwritten by their bins, so that they need not be held twice.
        warn_about_columns(spec, features)
        data = replace(
            data,
            features=features.with_reusable_codes(
                allowed=spec.selection is None and (data.n_models == 1 or not is_cuda(spec.device))
            ),
        )
    return data


def read_labels(spec: FitSpec, labels: NDArray[Any], weight: FloatArray, *, max_classes: int | None = None) -> Target:
    """Return the target of a fit: the classes, -1 and 1 or class positions or responses, and all weights."""
    if not spec.is_classifier:
        for option, value in (("class_weight", spec.class_weight), ("positive", spec.positive)):
            if value is not None:
                loss = spec.options.loss
                msg = f"{option} requires a classification loss, got {shown(value)} with {loss=}."
                raise ValueError(msg)
        return Target(None, numeric_target(labels), weight)
    if spec.positive is not None:
        classes, values = encode_one_vs_rest(labels, weight, spec.positive)
    elif max_classes == 2 or not _has_several_classes(labels, weight):
        classes, values = encode_binary(labels, weight)
    else:
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(labels)
        classes = np.unique(labels[weight > 0])
        position = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)
        return Target(
            classes, position.astype(np.float64), apply_class_weights(spec.class_weight, classes, position, weight)
        )
    return Target(
        classes, values, apply_class_weights(spec.class_weight, classes, (values > 0).astype(np.intp), weight)
    )


def build_problem(
    spec: FitSpec, data: FitData, design: AdditiveOptions | Coefficients | None = None, backend: Any = None
) -> Problem[Any]:
    """Build the problem of a fit for one target.

    Parameters
    ----------
    spec, data : FitSpec, FitData
        Options and data.
    design : AdditiveOptions or Coefficients, default=None
        One of the designs of `spec`; None is the first.
    backend : Backend, default=None
        Where the data are stored and summed; None creates one. Problems that share a backend share their bins.
    """
    design = spec.designs[0] if design is None else design
    backend = data.make_backend(spec) if backend is None else backend
    if isinstance(design, AdditiveOptions):
        problem: Problem[Any] = build_table_problem(
            backend, data.labelled, design.binning, design.constraints, design.interactions, spec.options
        )
    else:
        problem = build_matrix_problem(backend, data.labelled, design, spec.options)
    return replace(problem, deadline=data.deadline, stop=spec.stop)


def _has_several_classes(labels: NDArray[Any], weight: FloatArray) -> bool:
    """Return whether rows of positive weight have more than two labels, without a sort, which is slow for text."""
    seen = labels if weight.all() else labels[weight > 0]
    others = seen[seen != seen[0]]
    return bool(others.size and np.any(others != others[0]))


def _read_stream(spec: FitSpec, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Read a stream as codes; y and sample_weight are names of its columns."""
    if spec.additive is None:
        msg = (
            f"linear models do not support streams, got {type(X).__name__}: read the data into memory, or use an "
            "additive model."
        )
        raise ValueError(msg)
    return encode_stream(as_stream(X), y, sample_weight, spec.additive.binning, spec.options.n_threads)


def _read_features(spec: FitSpec, X: Any) -> tuple[Table | NumericMatrix, Any]:
    """Return the features, where a fit needs them, and X for splitters and scorers, which need it on the host."""
    if not is_cuda(spec.device):
        if is_on_device(X):
            kind = f"{type(X).__module__}.{type(X).__name__}"
            msg = f"X is on a CUDA device ({kind}): use device='cuda', or copy it to the host."
            raise ValueError(msg)
        return (read_matrix(X) if spec.additive is None else read_table(X)), native_frame(X)
    from sparsegam._backends.cuda.inputs import read_to_device, to_host

    if spec.additive is None:
        X = to_host(X)
        return read_matrix(X), X
    features = read_to_device(X)
    return features, features if is_on_device(X) else X
