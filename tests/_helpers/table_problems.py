"""Problems of additive models, built by the fit driver."""

from sparsegam._fit.spec import additive_spec
from sparsegam._fit.training import build_problem, read_data


def table_problem(X, y, sample_weight=None, **options):
    """Return the problem of a table; steps may be based on a single row unless min_samples_bin is given."""
    spec = additive_spec(**{"min_samples_bin": 1} | options)
    return build_problem(spec, read_data(spec, X, y, sample_weight))
