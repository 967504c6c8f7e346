"""The best model of every size, searched on a Dask cluster."""

from typing import Any

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._search.options import Options
from sparsegam._search.path import Path
from sparsegam._search.progress import watched
from sparsegam._search.solver import at_noise
from sparsegam.checks import check_choice
from sparsegam.dask.cluster import Cluster, client_of
from sparsegam.dask.parts import parts_of
from sparsegam.dask.tables import RemoteTable, RemoteTables
from sparsegam.losses import LOSSES
from sparsegam.parameters import pick

DEFAULTS = {
    "loss": "logistic",
    "lambda2": "auto",
    "standardize": None,
    "max_terms": 50,
    "min_samples_bin": "auto",
    "verbose": 0,
    "callback": None,
}


def gam_path(X: Any, y: Any, *, sample_weight: Any = None, client: Any = None, **options: Any) -> Path[Model]:
    """Find the best additive model of every size on a Dask cluster: `sparsegam.gam_path` for what is there.

    Parameters
    ----------
    X : Dask DataFrame, Dask Array or list of delayed parts
        Numbers, booleans, dates, text and categories; values may be missing.
    y, sample_weight : Dask Series, Array, list of delayed parts or str
        Labels or responses, and weights of the rows, in the same parts; of frames also names of columns.
    client : distributed.Client, optional
        The cluster; by default the client that is there.
    **options
        Those of `sparsegam.gam_path`.

    Returns
    -------
    Path
        The models by size.
    """
    given = DEFAULTS | _known(options)
    check_choice("loss", given["loss"], tuple(LOSSES))
    classifies = LOSSES[given["loss"]].is_classifier
    inputs: Any = RemoteTables.of(given)
    cluster = Cluster(client_of(client), parts_of(X, y, sample_weight), inputs.binning, classifies=classifies)
    try:
        classes = cluster.classes
        if classes is not None and len(classes) != 2:
            msg = f"y must hold two classes, got {len(classes)} ({classes[:5]}): a classifier takes more, one by one."
            raise ValueError(msg)
        table = RemoteTable(cluster, upper=None if classes is None else 1)
        nothing = np.zeros(0)
        problem = at_noise(inputs.pose(table, nothing, nothing, pick(Options, given)))
        with watched(given["callback"], given["verbose"], problem.max_terms) as report:
            return Path[Model].search(problem, classes, report)
    finally:
        cluster.close()


def _known(options: dict[str, Any]) -> dict[str, Any]:
    """Refuse options that `sparsegam.gam_path` does not have, as Python would."""
    from inspect import signature

    from sparsegam._search.tables import gam_path as local

    unknown = [name for name in options if name not in signature(local).parameters]
    if unknown:
        msg = f"gam_path() got an unexpected keyword argument {unknown[0]!r}"
        raise TypeError(msg)
    return options
