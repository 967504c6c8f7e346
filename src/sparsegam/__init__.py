"""Sparse additive models of step functions: the public names, loaded when first asked for.

Nothing heavy is imported here, so `import sparsegam` costs next to nothing and changes nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
