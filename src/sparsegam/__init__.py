"""Sparse additive and linear models for classification, regression and scorecards.

Public names and sub-packages are imported on first use, so that `import sparsegam` is fast and loads no dependency.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsegam import compat as compat
    from sparsegam import dask as dask
    from sparsegam import datasets as datasets
    from sparsegam import deploy as deploy
    from sparsegam import export as export
    from sparsegam import inspection as inspection
    from sparsegam import plots as plots
    from sparsegam import report as report
    from sparsegam._io.files import scan
    from sparsegam._models.additive import Model
    from sparsegam._models.linear import LinearModel
    from sparsegam.binner import ThresholdBinner
    from sparsegam.comparison import compare
    from sparsegam.gam import SparseGAMClassifier, SparseGAMRegressor
    from sparsegam.gam_cv import SparseGAMClassifierCV, SparseGAMRegressorCV
    from sparsegam.linear import SparseLinearClassifier, SparseLinearRegressor
    from sparsegam.linear_cv import SparseLinearClassifierCV, SparseLinearRegressorCV
    from sparsegam.path import LinearPath, Path, gam_path, linear_path

    __version__: str

__all__ = [
    "LinearModel",
    "LinearPath",
    "Model",
    "Path",
    "SparseGAMClassifier",
    "SparseGAMClassifierCV",
    "SparseGAMRegressor",
    "SparseGAMRegressorCV",
    "SparseLinearClassifier",
    "SparseLinearClassifierCV",
    "SparseLinearRegressor",
    "SparseLinearRegressorCV",
    "ThresholdBinner",
    "compare",
    "gam_path",
    "linear_path",
    "scan",
]

_HOME = {
    "LinearModel": "sparsegam._models.linear",
    "LinearPath": "sparsegam.path",
    "Model": "sparsegam._models.additive",
    "Path": "sparsegam.path",
    "SparseGAMClassifier": "sparsegam.gam",
    "SparseGAMClassifierCV": "sparsegam.gam_cv",
    "SparseGAMRegressor": "sparsegam.gam",
    "SparseGAMRegressorCV": "sparsegam.gam_cv",
    "SparseLinearClassifier": "sparsegam.linear",
    "SparseLinearClassifierCV": "sparsegam.linear_cv",
    "SparseLinearRegressor": "sparsegam.linear",
    "SparseLinearRegressorCV": "sparsegam.linear_cv",
    "ThresholdBinner": "sparsegam.binner",
    "compare": "sparsegam.comparison",
    "gam_path": "sparsegam.path",
    "linear_path": "sparsegam.path",
    "scan": "sparsegam._io.files",
}
_SUBPACKAGES = ("compat", "dask", "datasets", "deploy", "export", "inspection", "plots", "report")


def __getattr__(name: str) -> Any:
    value: Any
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _SUBPACKAGES:
        value = import_module(f"sparsegam.{name}")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("sparsegam")
    else:
        msg = f"module 'sparsegam' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBPACKAGES})
