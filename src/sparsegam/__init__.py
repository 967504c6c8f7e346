"""Sparse additive models of step functions: the public names, loaded when first asked for.

Nothing heavy is imported here, so `import sparsegam` costs next to nothing and changes nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsegam.cli.compare import compare
    from sparsegam.data.scanning import scan
    from sparsegam.estimators.binner import ThresholdBinner
    from sparsegam.estimators.gam import SparseGAMClassifier, SparseGAMRegressor
    from sparsegam.estimators.gam_cv import SparseGAMClassifierCV, SparseGAMRegressorCV
    from sparsegam.estimators.linear import SparseLinearClassifier, SparseLinearRegressor
    from sparsegam.estimators.linear_cv import SparseLinearClassifierCV, SparseLinearRegressorCV
    from sparsegam.models.additive import Model
    from sparsegam.models.linear import LinearModel
    from sparsegam.search.matrices import LinearPath, linear_path
    from sparsegam.search.path import Path
    from sparsegam.search.tables import gam_path

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
    "LinearModel": "sparsegam.models.linear",
    "LinearPath": "sparsegam.search.matrices",
    "Model": "sparsegam.models.additive",
    "Path": "sparsegam.search.path",
    "SparseGAMClassifier": "sparsegam.estimators.gam",
    "SparseGAMClassifierCV": "sparsegam.estimators.gam_cv",
    "SparseGAMRegressor": "sparsegam.estimators.gam",
    "SparseGAMRegressorCV": "sparsegam.estimators.gam_cv",
    "SparseLinearClassifier": "sparsegam.estimators.linear",
    "SparseLinearClassifierCV": "sparsegam.estimators.linear_cv",
    "SparseLinearRegressor": "sparsegam.estimators.linear",
    "SparseLinearRegressorCV": "sparsegam.estimators.linear_cv",
    "ThresholdBinner": "sparsegam.estimators.binner",
    "compare": "sparsegam.cli.compare",
    "gam_path": "sparsegam.search.tables",
    "linear_path": "sparsegam.search.matrices",
    "scan": "sparsegam.data.scanning",
}
_MODULES = ("datasets",)


def __getattr__(name: str) -> Any:
    """Load a public name from its module, once."""
    if name not in _HOME and name not in _MODULES and name != "__version__":
        msg = f"module 'sparsegam' has no attribute {name!r}"
        raise AttributeError(msg)
    value = _load(name)
    globals()[name] = value
    return value


def _load(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("sparsegam")
    if name in _MODULES:
        return import_module(f"sparsegam.{name}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
