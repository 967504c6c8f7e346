"""Bins of columns on a card: thresholds from a sort there, the very ones that the core would find, and codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.codes import padded
from sparsegam._backends.cuda.inputs import CardColumn
from sparsegam._backends.cuda.target import THREADS
from sparsegam._data.columns import Column
from sparsegam._data.table import Table
from sparsegam._design.binning import MAX_BINS_UINT8, Feature, Learner, ValueCounts
from sparsegam._design.encoding import learn_coded
from sparsegam.arrays import FloatArray


def bin_column(card: Card, learner: Learner, table: Table, j: int, weight: Any) -> tuple[Feature, Any]:
    """Learn and code column j, on the card where it is there or holds ordered numbers.

    Parameters
    ----------
    card : Card
        The card.
    learner : Learner
        Knows what the user chose.
    table : Table
        The table.
    j : int
        Which column.
    weight : array of the card or None
        Weights of the rows, where thresholds depend on them.

    Returns
    -------
    Feature, array of the card
        What was learned, and the codes, with room for `padded` rows.
    """
    coded = table.coded_column(j)
    if coded is not None:
        feature, codes = learn_coded(learner, coded, j)
        return feature, _padded(card, codes)
    column = table.column(j)
    if column.scale.kind == "category" or j in learner.forced:
        here = column.host() if isinstance(column, CardColumn) else column
        feature, values = learner.learn(here, j)
        return feature, _padded(card, feature.codes(values))
    numbers = numbers_of(card, column)
    special = np.array(learner.special_of(column, j))
    values, times = summary(card, numbers, special, int(learner.binning.max_bins), weight)
    feature, _ = learner.learn(Column(column.name, column.scale, values), j, times)
    return feature, codes_of(card, feature, numbers)


def numbers_of(card: Card, column: Column) -> Any:
    """Return the numbers of a column as doubles on the card, in memory of this card's own stream.

    Some rows of a column may be there for this question alone, in memory of the stream that their table came by: once
    they are let go of, that stream fills it anew without waiting for this one.
    """
    if not isinstance(column, CardColumn):
        return card.upload(column.values)
    numbers = card.xp.array(column.values, dtype=np.float64)
    card.wait()
    return numbers


def codes_of(card: Card, feature: Feature, numbers: Any) -> Any:
    """Return the bin of each number, on the card."""
    xp, n_rows = card.xp, int(numbers.size)
    narrow = feature.n_bins <= MAX_BINS_UINT8
    codes = xp.zeros(padded(n_rows), dtype=np.uint8 if narrow else np.uint16)
    edges, special = (card.upload(np.append(part, 0.0)) for part in (feature.edges, feature.special))
    missing = feature.n_bins - 1 if feature.missing else feature.n_ordered - 1
    blocks = min(-(-n_rows // THREADS), 64 * card.n_processors)
    given = (numbers, n_rows, edges, feature.edges.size, special, len(feature.special), missing, codes)
    card.launch("bin_values_8" if narrow else "bin_values_16", (blocks,), THREADS, given)
    return codes


def summary(
    card: Card, numbers: Any, special: FloatArray, max_bins: int, weight: Any
) -> tuple[FloatArray, ValueCounts]:
    """Return a few values that thresholds are learned from as from all, and what each counts for.

    These are all distinct values or, beyond max_bins, those at the quantiles that `learn_edges` would choose, and the
    largest; special values and NaN, where there are any, stand behind them.
    """
    xp = card.xp
    apart = xp.isnan(numbers)
    extra = [(np.nan, apart)] if bool(apart.any()) else []
    for value in special.tolist():
        mine = numbers == value
        extra += [(value, mine)] if bool(mine.any()) else []
        apart = apart | mine
    ordered = numbers[~apart] if extra else numbers
    held = weight if weight is None or not extra else weight[~apart]
    values, rows, weights = _ordered_summary(card, ordered, held, max_bins)
    for value, mine in extra:
        values, rows = np.append(values, value), np.append(rows, float(xp.count_nonzero(mine)))
        if weight is not None:
            weights = np.append(weights, float(weight[mine].sum()))
    return values, ValueCounts(rows if weight is None else weights, rows)


def _ordered_summary(card: Card, numbers: Any, weight: Any, max_bins: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return values to learn from, and the rows and the weight up to each and above the one before it."""
    xp = card.xp
    if numbers.size == 0:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    order = None if weight is None else xp.argsort(numbers)
    ranked = xp.sort(numbers) if order is None else numbers[order]
    last = xp.flatnonzero(xp.append(ranked[1:] != ranked[:-1], True))  # row of each distinct value
    below = (last + 1).astype(np.float64) if order is None else xp.cumsum(weight[order])[last]
    picked = _picked(card, below, max_bins)
    at = last[picked]
    upto = card.fetch(below[picked])
    rows = np.diff(card.fetch(at) + 1.0, prepend=0.0)
    return card.fetch(ranked[at]), rows, np.diff(upto, prepend=0.0)


def _picked(card: Card, below: Any, max_bins: int) -> Any:
    """Return which distinct values are kept: all, or those at quantiles and the largest (see `learn_edges`)."""
    n_distinct = int(below.size)
    if n_distinct <= max_bins:
        return card.xp.arange(n_distinct)
    wanted = np.arange(1, max_bins)
    share = float(below[-1]) / max_bins
    found: NDArray[np.int64] = card.fetch(card.xp.searchsorted(below, card.upload(share * wanted)))
    found = np.maximum.accumulate(found - wanted) + wanted  # a value is one threshold only
    return card.upload(np.append(found[found < n_distinct - 1], n_distinct - 1))


def _padded(card: Card, codes: NDArray[Any]) -> Any:
    room = np.zeros(padded(codes.size), dtype=codes.dtype)
    room[: codes.size] = codes
    return card.upload(room)
