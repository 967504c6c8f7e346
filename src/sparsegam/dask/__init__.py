"""Additive models on a Dask cluster: rows stay with the workers, the search asks them for sums.

Estimators and `gam_path` take Dask data frames, Dask arrays or lists of delayed parts, and give the models that they
give of one frame. `pip install 'sparsegam[dask]'`.
"""

from sparsegam.checks import optional

optional("distributed", "models on Dask", extra="dask")

from sparsegam.dask.estimators import DaskSparseGAMClassifier, DaskSparseGAMRegressor  # noqa: E402
from sparsegam.dask.estimators_cv import DaskSparseGAMClassifierCV, DaskSparseGAMRegressorCV  # noqa: E402
from sparsegam.dask.path import gam_path  # noqa: E402

__all__ = [
    "DaskSparseGAMClassifier",
    "DaskSparseGAMClassifierCV",
    "DaskSparseGAMRegressor",
    "DaskSparseGAMRegressorCV",
    "gam_path",
]
