"""Small scorecards in one call: the terms, their points and the line from points to risk, searched from a table."""

from typing import Any

from sparsegam._data.table import read_table
from sparsegam._search.tables import gam_path
from sparsegam.checks import check_integer
from sparsegam.deploy._scorecard import Scorecard, best_scorecard

SPARE_TERMS = 5  # by how many terms the models are larger that a card may give up terms of


def small_scorecard(
    X: Any,
    y: Any,
    *,
    max_terms: int = 5,
    sample_weight: Any = None,
    scaling: dict[str, Any] | None = None,
    **search: Any,
) -> Scorecard:
    """Search a scorecard of few terms and small whole points, to be added up by hand.

    The best models of `max_terms` terms and of a few more are searched; each is rounded, giving up the terms that
    matter least to whole points, and the card with the lowest log loss on the rows is kept.

    Parameters
    ----------
    X, y : table and labels
        The rows; labels of two classes.
    max_terms : int
        Largest number of terms.
    sample_weight : array-like, optional
        Weights of the rows.
    scaling : dict, optional
        Further attributes of `Scaling`: `max_points` (5 unless told), `direction`, `nonnegative`, `base`.
    **search
        Further options of `gam_path`: `special_values`, `monotone`, `features_never`, `lambda2` and others.

    Returns
    -------
    Scorecard
        The card.

    Examples
    --------
    >>> from sparsegam.deploy import small_scorecard
    >>> ages = [[a] for a in range(20, 60)]
    >>> card = small_scorecard(ages, [int(a > 40) ^ (a % 7 == 0) for (a,) in ages], max_terms=1)
    >>> [(row["step"], row["points"]) for row in card.table()]
    [('missing: no such row was seen', -1), ('<= 42', -1), ('> 42', 0)]
    """
    check_integer("max_terms", max_terms, at_least=1)
    if search.get("features_always") is not None:
        msg = "features_always cannot be kept, as a small card gives up terms: leave it out, or use model.scorecard."
        raise ValueError(msg)
    table = read_table(X).load()
    path = gam_path(table, y, max_terms=max_terms + SPARE_TERMS, sample_weight=sample_weight, **search)
    models = path.models[max_terms:] or path.models[-1:]
    options = {"method": "small", "max_terms": max_terms, **(scaling or {})}
    return best_scorecard(models, table, y, sample_weight=sample_weight, **options)
