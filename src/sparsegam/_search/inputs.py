"""What tables and matrices answer alike when they become a problem, so that paths and estimators are written once."""

import time
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from sparsegam._data.streams import is_stream
from sparsegam._data.table import is_on_device
from sparsegam._data.target import read_target
from sparsegam._design.design import Data, Design
from sparsegam._search.options import Options
from sparsegam._search.path import Path
from sparsegam._search.problem import Problem, prepared
from sparsegam._search.progress import watched
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice
from sparsegam.parameters import pick

CUDA = "cuda"
DEVICES = ("cpu", CUDA)

T = TypeVar("T", bound=Data)
D_co = TypeVar("D_co", bound=Design[Any], covariant=True)
P = TypeVar("P", bound=Path[Any])


class Inputs(Protocol[T, D_co]):
    """One kind of data with all that is demanded of its models: how it is read, and how it becomes a problem."""

    smaller: ClassVar[str]

    def read(self, X: Any) -> T:
        """Look at what the user passes, and copy it only where there is no other way."""

    def take_in(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> tuple[T, Any, Any]:
        """Read what comes in pieces, where y and sample_weight are names of columns."""

    def pose(self, data: T, y: FloatArray, weight: FloatArray, options: Options) -> Problem[D_co]:
        """Hand data, labels (-1 and 1, or responses) and weights to the core."""


def is_cuda(device: Any) -> bool:
    """Tell whether a fit shall run on a CUDA device; refuse other names than the two there are."""
    check_choice("device", device, DEVICES)
    return bool(device == CUDA)


def from_device(inputs: Any, X: Any, y: Any, sample_weight: Any, device: Any) -> tuple[Any, Any, Any]:
    """Take what is on a device as a fit on it reads it; return all else as it is."""
    if is_cuda(device):
        from sparsegam._backends.cuda.inputs import to_host

        return inputs.from_device(X) if is_on_device(X) else X, to_host(y), to_host(sample_weight)
    if is_on_device(X):
        found = f"{type(X).__module__}.{type(X).__name__}"
        msg = f"X is on a CUDA device ({found}): use device='cuda', or copy it to the host."
        raise ValueError(msg)
    return X, y, sample_weight


def search_inputs(kind: type[P], inputs: Inputs[Any, Any], X: Any, y: Any, given: Mapping[str, Any]) -> tuple[P, Any]:
    """Read the data, pose the problem and search its frontier; return the data with it."""
    start, options = time.monotonic(), pick(Options, given)
    sample_weight = given["sample_weight"]
    X, y, sample_weight = from_device(inputs, X, y, sample_weight, given["device"])
    if is_stream(X):
        X, y, sample_weight = inputs.take_in(X, y, sample_weight, options.n_threads)
    data = inputs.read(X)
    of_classes = {name: given.get(name) for name in ("class_weight", "positive")}
    target = read_target(y, options.loss, data.n_rows, sample_weight=sample_weight, **of_classes)
    problem = inputs.pose(data, target.values, target.weight, options)
    with watched(given["callback"], given["verbose"], problem.max_terms) as report:
        return kind.search(prepared(problem, start), target.classes, report), data
