"""Checking in use: how far new rows have moved from those of the fit, feature by feature and in the score.

population stability index = sum over steps (new share - old share) * log(new share / old share)

Straight pieces are cut into parts of about a tenth of the rows each: what moves within one moves the score.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsegam._data.columns import UNSEEN
from sparsegam._data.frames import make_frame
from sparsegam._data.table import read_table
from sparsegam._design.training import TENTHS, band_counts, histogram_of
from sparsegam._models import notebook
from sparsegam._models.additive import Model
from sparsegam._models.functions import Bins, Columns, FittedFunction, Positions, ScoreFunction, score_function
from sparsegam._models.layout import aligned
from sparsegam._models.profile import KINDS, Profile
from sparsegam._models.terms import Part, part_name
from sparsegam.arrays import FloatArray

SCORE = "score"
NEGLIGIBLE = 1e-4  # least share of a step, so that an empty one has a logarithm
LEVELS = ((0.25, "moved"), (0.1, "watch"), (-np.inf, "stable"))  # the usual reading of the index


@dataclass(frozen=True)
class Moved:
    """One feature, one pair, or the score: its stability index, how to read it, and shares of values before and now."""

    name: str
    psi: float
    before: Mapping[str, float]
    now: Mapping[str, float]

    @property
    def reading(self) -> str:
        """`stable` below 0.1, `watch` up to 0.25, `moved` above."""
        return next(word for limit, word in LEVELS if self.psi >= limit)


@dataclass(frozen=True)
class Drift:
    """How far new rows have moved; the score comes last."""

    lines: tuple[Moved, ...]
    n_before: int
    n_now: int

    def __getitem__(self, name: str) -> Moved:
        """Return the line of a feature, of a pair as in "age & priors", or of "score" (else by `score`)."""
        found = [line for line in self.lines if line.name == name]
        if not found:
            raise KeyError(name)
        return found[0]

    @property
    def score(self) -> Moved:
        """The line of the score."""
        return self.lines[-1]

    @property
    def worst(self) -> Moved:
        """The line with the largest index."""
        return max(self.lines, key=lambda line: line.psi)

    def to_frame(self) -> Any:
        """Return a row for each line."""
        rows = [self._row(line) for line in self.lines]
        return make_frame({name: [row[name] for row in rows] for name in rows[0]})

    def __str__(self) -> str:
        return f"{self._sizes()}\n{aligned(*self._table())}"

    def __repr__(self) -> str:
        return f"<Drift: {self.worst.name} {self.worst.reading}, PSI {self.worst.psi:.4f}, {len(self.lines)} lines>"

    def _repr_html_(self) -> str:
        return notebook.fragment(notebook.note(self._sizes()), notebook.table(*self._table()))

    def _sizes(self) -> str:
        return f"{self.n_before} rows before, {self.n_now} now"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["feature", "reading", "PSI", *(f"{kind} {when}" for kind in KINDS for when in ("before", "now"))]
        rows = [
            [line.name, line.reading, f"{line.psi:.4f}", *(f"{v:.1%}" for v in list(self._row(line).values())[3:])]
            for line in self.lines
        ]
        return header, rows

    def _row(self, line: Moved) -> dict[str, Any]:
        row: dict[str, Any] = {"feature": line.name, "reading": line.reading, "psi": line.psi}
        for kind in KINDS:
            row |= {f"{kind}_before": line.before.get(kind, 0.0), f"{kind}_now": line.now.get(kind, 0.0)}
        return row


def profile(
    model: Any, X: Any, *, bands: FloatArray | None = None, cuts: Mapping[str, FloatArray] | None = None
) -> Profile:
    """Count how rows spread over the steps of a model.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model.
    X : table
        The rows, for a reference usually those of the fit.
    bands : ndarray, optional
        Where the bands of the score end; tenths of these rows unless told.
    cuts : dict of str to ndarray, optional
        For each feature with straight pieces, where its parts end; at tenths of these rows, and where a piece does,
        unless told.

    Returns
    -------
    Profile
        The shares.
    """
    score, table = score_function(model), read_table(X)
    return profile_of_columns(score, score.columns(table), table.n_rows, bands, cuts)


def profile_of_columns(
    function: ScoreFunction,
    columns: Columns,
    n_rows: int,
    bands: FloatArray | None = None,
    cuts: Mapping[str, FloatArray] | None = None,
) -> Profile:
    """Return the profile of rows, given the columns of the features in use as numbers on their scales."""
    score = function.score_columns(columns, n_rows)
    ends = histogram_of(score).bands()[0] if bands is None else bands
    each = np.ones(n_rows)
    counted = {name: (columns[name], each) for name in function.features}
    if cuts is None:
        sloped = [one for one in function.of_features if one.has_slopes]
        cuts = {one.name: _cuts(one, *counted[one.name], ends=one.bins.edges) for one in sloped}
    found = _profile(function, counted, n_rows, (ends, band_counts(score, ends)), cuts)
    pairs = {
        one.pair: np.bincount(one.bin_of(columns), minlength=one.contributions.size) / n_rows
        for one in function.of_pairs
    }
    return replace(found, pairs=pairs)


def training_profile(model: Any) -> Profile | None:
    """Return how the rows of the fit spread over the steps of a model, or None where it does not remember them."""
    model = getattr(model, "model_", model)
    seen = model.training if isinstance(model, Model) else None
    if seen is None or isinstance(seen, Profile):
        return seen
    function, bins, cuts = score_function(model), seen.bins(), {}
    for one in function.of_features:
        if one.has_slopes:
            # the bins of the search are counted as a whole: there is no cut at an edge within one of them
            numbers, counts = bins[one.name]
            cuts[one.name] = _cuts(one, numbers, counts, ends=np.intersect1d(one.bins.edges, numbers))
    found = _profile(function, bins, seen.n_rows, seen.bands(), cuts)
    cells = seen.cells()
    return replace(found, pairs={one.pair: cells[one.pair].ravel() / seen.n_rows for one in function.of_pairs})


def drift(model: Any, X: Any, reference: Any = None) -> Drift:
    """Compare new rows with those of the fit.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model.
    X : table
        The new rows.
    reference : table or Profile, optional
        What to compare with: rows, or their profile. By default what the model remembers of the rows of its fit (of its
        last edit, if it was edited).

    Returns
    -------
    Drift
        A line per feature in use, one per pair of features with products, and one for the score.
    """
    before = _reference(model, reference)
    _check_fits(score_function(model), before)
    now = profile(model, X, bands=before.bands, cuts=before.cuts)
    lines = [
        Moved(name, stability_index(share, now.shares[name]), before.kinds[name], now.kinds[name])
        for name, share in before.shares.items()
    ]
    for pair, share in before.pairs.items():
        lines.append(Moved(part_name(pair), stability_index(share, now.pairs[pair]), {}, {}))
    score = Moved(SCORE, stability_index(before.score, now.score), {}, {})
    return Drift((*lines, score), before.n_rows, now.n_rows)


def stability_index(before: FloatArray, now: FloatArray) -> float:
    """Return the population stability index of two spreads over the same steps."""
    old, new = np.maximum(before, NEGLIGIBLE), np.maximum(now, NEGLIGIBLE)
    return float(np.sum((new - old) * np.log(new / old)))


def _reference(model: Any, reference: Any) -> Profile:
    if reference is not None:
        return reference if isinstance(reference, Profile) else profile(model, reference)
    remembered = training_profile(model)
    if remembered is None:
        msg = (
            f"this {type(model).__name__} does not remember the rows of its fit: scorecards do not, nor do models that "
            "were written by hand, changed by dataclasses.replace or read from a file of format 1. Pass the rows of "
            "the fit as reference, or their profile."
        )
        raise ValueError(msg)
    return remembered


def _profile(
    function: ScoreFunction,
    counted: Mapping[str, tuple[FloatArray, FloatArray]],
    n_rows: int,
    bands: tuple[FloatArray, FloatArray],
    cuts: Mapping[str, FloatArray],
) -> Profile:
    """Return the shares of numbers that are each counted once, or as often as the second array says."""
    shares, kinds = {}, {}
    for bins in function.inputs:
        numbers, counts = counted[bins.feature]
        mine = cuts.get(bins.feature)
        found = np.bincount(_intervals(bins, mine, numbers), counts, _n_intervals(bins, mine))
        shares[bins.feature] = found / n_rows
        kinds[bins.feature] = _kinds(bins, numbers, counts, n_rows)
    return Profile(n_rows, shares, kinds, bands[0], bands[1] / n_rows, cuts)


def _cuts(function: FittedFunction, numbers: FloatArray, counts: FloatArray, *, ends: FloatArray) -> FloatArray:
    """Return these ends and the tenths of the rows that are inside bins with a slope."""
    bins = function.bins
    ordered = bins.bin_of(numbers) >= bins.first_interval
    values, where = np.unique(numbers[ordered], return_inverse=True)
    if not values.size:
        return ends
    upto = np.cumsum(np.bincount(where, counts[ordered]))
    tenths = values[np.searchsorted(upto, upto[-1] * TENTHS)]
    inside = (function.slopes[bins.bin_of(tenths)] != 0) & (tenths < values[-1])
    return np.union1d(ends, tenths[inside])


def _intervals(bins: Bins, cuts: FloatArray | None, numbers: FloatArray) -> Positions:
    """Return the bin of each number; with cuts, intervals end at the cuts instead of the edges."""
    found, first = bins.bin_of(numbers), bins.first_interval
    return found if cuts is None else np.where(found < first, found, first + np.searchsorted(cuts, numbers))


def _n_intervals(bins: Bins, cuts: FloatArray | None) -> int:
    return len(bins) if cuts is None else bins.first_interval + cuts.size + 1


def _kinds(bins: Bins, numbers: FloatArray, counts: FloatArray, n_rows: int) -> dict[str, float]:
    found = {
        "missing": np.isnan(numbers),
        "special": np.isin(numbers, [] if bins.scale.has_levels else bins.special),
        "unseen": (numbers == UNSEEN) & bins.scale.has_levels,
    }
    # counts are whole numbers, so that no share is above 1
    return {kind: float(counts[where].sum()) / n_rows for kind, where in found.items()}


def _check_fits(function: ScoreFunction, before: Profile) -> None:
    wanted: dict[Part, int] = {
        bins.feature: _n_intervals(bins, before.cuts.get(bins.feature)) for bins in function.inputs
    }
    wanted |= {one.key: one.contributions.size for one in function.of_pairs}
    found = {part: share.size for part, share in [*before.shares.items(), *before.pairs.items()]}
    if wanted != found:
        msg = f"the profile is of another model: it has bins {found}, the model {wanted}. Make it again."
        raise ValueError(msg)
