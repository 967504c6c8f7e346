"""Additive models fitted on a Dask cluster: the rows stay on the workers, which compute sums over them.

The estimators and `gam_path` take Dask data frames, Dask arrays or lists of delayed parts, and return the models that
the estimators without Dask fit to the same rows. Requires `pip install 'sparsegam[dask]'`.
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
