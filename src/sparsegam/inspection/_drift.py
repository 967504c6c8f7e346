"""Drift: changes of the distributions of features and scores since training.

population stability index = sum over bins (current share - reference share) * log(current share / reference share)

Bins with a slope are divided at deciles, because a shift of values within them changes the score.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsegam._data.columns import UNSEEN
from sparsegam._data.frames import make_frame
from sparsegam._data.table import read_table
from sparsegam._design.histogram import TENTHS, band_counts, histogram_of
from sparsegam._models.additive import Model
from sparsegam._models.display import DisplayedResult, TextTable
from sparsegam._models.functions import Bins, Columns, FittedFunction, Positions, ScoreFunction, score_function
from sparsegam._models.profile import KINDS, Profile
from sparsegam._models.terms import Part, part_name
from sparsegam.arrays import FloatArray

SCORE = "score"
MIN_SHARE = 1e-4
"""Lower limit of shares, which keeps the index finite for empty bins."""
STATUS_LIMITS = ((0.25, "moved"), (0.1, "watch"), (-np.inf, "stable"))


@dataclass(frozen=True)
class DriftLine:
    """Drift of one feature, of one pair of features, or of the score.

    Attributes
    ----------
    name : str
        The feature, a pair such as `age & priors`, or "score".
    psi : float
        Population stability index.
    reference, current : mapping of str to float
        Shares of "missing", "special" and "unseen" values; empty for pairs and the score.
    """

    name: str
    psi: float
    reference: Mapping[str, float]
    current: Mapping[str, float]

    @property
    def status(self) -> str:
        """Status by the usual limits: "stable" below 0.1, "watch" below 0.25, otherwise "moved"."""
        return next(status for limit, status in STATUS_LIMITS if self.psi >= limit)


@dataclass(frozen=True, repr=False)
class Drift(DisplayedResult):
    """Drift of the features, the pairs of features with interactions and the score; prints as a table.

    Attributes
    ----------
    lines : tuple of DriftLine
        One entry per feature in use and per pair, and the score as the last one.
    n_reference, n_current : int
        Number of rows of the reference and of the current data.

    See Also
    --------
    drift : Compute the drift.
    """

    lines: tuple[DriftLine, ...]
    n_reference: int
    n_current: int

    def __getitem__(self, name: str) -> DriftLine:
        """Return the entry of a feature, of a pair such as "age & priors", or of "score"."""
        for line in self.lines:
            if line.name == name:
                return line
        raise KeyError(name)

    @property
    def score(self) -> DriftLine:
        """The entry of the score."""
        return self.lines[-1]

    @property
    def worst(self) -> DriftLine:
        """The entry with the largest index."""
        return max(self.lines, key=lambda line: line.psi)

    def to_frame(self) -> Any:
        """Return a data frame with one row per entry.

        Columns are feature, status, psi, and the shares of missing, special and unseen values in both data sets
        (missing_reference, missing_current and so on).
        """
        columns: dict[str, list[Any]] = {
            "feature": [line.name for line in self.lines],
            "status": [line.status for line in self.lines],
            "psi": [line.psi for line in self.lines],
        }
        for kind in KINDS:
            columns[f"{kind}_reference"] = [line.reference.get(kind, 0.0) for line in self.lines]
            columns[f"{kind}_current"] = [line.current.get(kind, 0.0) for line in self.lines]
        return make_frame(columns)

    def __repr__(self) -> str:
        return f"<Drift: {self.worst.name} {self.worst.status}, PSI {self.worst.psi:.4f}, {len(self.lines)} lines>"

    def _display(self) -> list[str | TextTable]:
        header = ["feature", "status", "PSI"]
        header += [f"{kind}, {data}" for kind in KINDS for data in ("reference", "current")]
        rows = []
        for line in self.lines:
            shares = [shares.get(kind, 0.0) for kind in KINDS for shares in (line.reference, line.current)]
            rows.append([line.name, line.status, f"{line.psi:.4f}", *(f"{share:.1%}" for share in shares)])
        return [f"{self.n_reference} reference rows, {self.n_current} current rows", TextTable(header, rows)]


def drift(model: Any, X: Any, reference: Any = None) -> Drift:
    """Compare the distributions of features and scores with those of the training data.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model.
    X : array-like or data frame of shape (n_samples, n_features)
        Current data.
    reference : array-like, data frame or Profile, default=None
        Reference data, or `model.profile` of them. None is the training distribution stored in the model; after an
        edit, that of the data used for the edit.

    Returns
    -------
    Drift
        Population stability indices of the features in use, of the pairs of features with interactions (over the cells
        of both) and of the score (over deciles of the reference). Prints as a table and has `to_frame()`.

    See Also
    --------
    assess : Measure the performance on current data if the target is known.

    Examples
    --------
    >>> from sparsegam import SparseGAMRegressor
    >>> from sparsegam.inspection import drift
    >>> X = [[1], [2], [3], [4]] * 5
    >>> gam = SparseGAMRegressor(max_terms=1).fit(X, [0.0, 0.0, 6.0, 6.0] * 5)
    >>> drift(gam, X).worst.status
    'stable'
    >>> drift(gam, [[1], [2]])["x0"].status
    'moved'
    """
    before = _reference_profile(model, reference)
    _check_profile(score_function(model), before)
    now = profile(model, X, bands=before.bands, cuts=before.cuts)
    lines = [
        DriftLine(name, stability_index(share, now.shares[name]), before.kinds[name], now.kinds[name])
        for name, share in before.shares.items()
    ]
    for pair, share in before.pairs.items():
        lines.append(DriftLine(part_name(pair), stability_index(share, now.pairs[pair]), {}, {}))
    score = DriftLine(SCORE, stability_index(before.score, now.score), {}, {})
    return Drift((*lines, score), before.n_rows, now.n_rows)


def stability_index(reference: FloatArray, current: FloatArray) -> float:
    """Return the population stability index of two distributions over the same bins."""
    old, new = np.maximum(reference, MIN_SHARE), np.maximum(current, MIN_SHARE)
    return float(np.sum((new - old) * np.log(new / old)))


def profile(
    model: Any, X: Any, *, bands: FloatArray | None = None, cuts: Mapping[str, FloatArray] | None = None
) -> Profile:
    """Return the distribution of rows over the bins of a model.

    `bands` contains the upper ends of all bands of the score but the last; by default, deciles of these rows. `cuts`
    contains the values at which features with slopes are divided; by default, the ends of their bins, and deciles
    within bins with a slope.
    """
    function, table = score_function(model), read_table(X)
    return profile_of_columns(function, function.columns(table), table.n_rows, bands, cuts)


def profile_of_columns(
    function: ScoreFunction,
    columns: Columns,
    n_rows: int,
    bands: FloatArray | None = None,
    cuts: Mapping[str, FloatArray] | None = None,
) -> Profile:
    """Return the profile of rows, given the features in use as numbers on their scales."""
    score = function.score_columns(columns, n_rows)
    ends = histogram_of(score).bands()[0] if bands is None else bands
    ones = np.ones(n_rows)
    counted = {name: (columns[name], ones) for name in function.features}
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
    """Return the distribution of the training data over the bins of a model, or None if it is not stored."""
    model = getattr(model, "model_", model)
    if not isinstance(model, Model):
        return None
    training = model.training
    if training is None:
        return model.stored_profile
    function, bins, cuts = score_function(model), training.bins, {}
    for one in function.of_features:
        if one.has_slopes:
            # Training counts are per bin of the search, so edges inside such a bin cannot be cuts.
            numbers, counts = bins[one.name]
            cuts[one.name] = _cuts(one, numbers, counts, ends=np.intersect1d(one.bins.edges, numbers))
    found = _profile(function, bins, training.n_rows, training.bands, cuts)
    pairs = {one.pair: training.pairs[one.pair].ravel() / training.n_rows for one in function.of_pairs}
    return replace(found, pairs=pairs)


def _reference_profile(model: Any, reference: Any) -> Profile:
    if reference is not None:
        return reference if isinstance(reference, Profile) else profile(model, reference)
    stored = training_profile(model)
    if stored is None:
        msg = (
            f"this {type(model).__name__} does not contain the training distribution; scorecards, and models that "
            "were constructed or changed manually, never do. Pass the training data or their profile as reference."
        )
        raise ValueError(msg)
    return stored


def _profile(
    function: ScoreFunction,
    counted: Mapping[str, tuple[FloatArray, FloatArray]],
    n_rows: int,
    bands: tuple[FloatArray, FloatArray],
    cuts: Mapping[str, FloatArray],
) -> Profile:
    """Return a profile, given the values of each feature with their counts, and the score bands with theirs."""
    shares, kinds = {}, {}
    for bins in function.inputs:
        numbers, counts = counted[bins.feature]
        own_cuts = cuts.get(bins.feature)
        found = np.bincount(_interval_of(bins, own_cuts, numbers), counts, _n_intervals(bins, own_cuts))
        shares[bins.feature] = found / n_rows
        masks = {
            "missing": np.isnan(numbers),
            "special": np.isin(numbers, [] if bins.scale.has_levels else bins.special),
            "unseen": (numbers == UNSEEN) & bins.scale.has_levels,
        }
        # Counts are integers, so that no share exceeds 1 by rounding.
        kinds[bins.feature] = {kind: float(counts[mask].sum()) / n_rows for kind, mask in masks.items()}
    return Profile(n_rows, shares, kinds, bands[0], bands[1] / n_rows, cuts)


def _cuts(function: FittedFunction, numbers: FloatArray, counts: FloatArray, *, ends: FloatArray) -> FloatArray:
    """Return the given ends of bins, and the deciles that are inside bins with a slope."""
    bins = function.bins
    ordered = bins.bin_of(numbers) >= bins.first_interval
    values, position = np.unique(numbers[ordered], return_inverse=True)
    if not values.size:
        return ends
    cumulative = np.cumsum(np.bincount(position, counts[ordered]))
    deciles = values[np.searchsorted(cumulative, cumulative[-1] * TENTHS)]
    inside = (function.slopes[bins.bin_of(deciles)] != 0) & (deciles < values[-1])
    return np.union1d(ends, deciles[inside])


def _interval_of(bins: Bins, cuts: FloatArray | None, numbers: FloatArray) -> Positions:
    """Return the bin of each number; with cuts, the intervals between cuts replace those between edges."""
    found, first = bins.bin_of(numbers), bins.first_interval
    return found if cuts is None else np.where(found < first, found, first + np.searchsorted(cuts, numbers))


def _n_intervals(bins: Bins, cuts: FloatArray | None) -> int:
    return len(bins) if cuts is None else bins.first_interval + cuts.size + 1


def _check_profile(function: ScoreFunction, before: Profile) -> None:
    wanted: dict[Part, int] = {
        bins.feature: _n_intervals(bins, before.cuts.get(bins.feature)) for bins in function.inputs
    }
    wanted |= {one.key: one.contributions.size for one in function.of_pairs}
    found = {part: share.size for part, share in [*before.shares.items(), *before.pairs.items()]}
    if wanted != found:
        msg = f"the profile belongs to another model: it has bins {found}, the model {wanted}. Compute it again."
        raise ValueError(msg)
