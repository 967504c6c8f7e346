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
from sparsegam._design.training import TENTHS, band_counts, histogram_of
from sparsegam._models import notebook
from sparsegam._models.additive import Model
from sparsegam._models.layout import aligned
from sparsegam._models.profile import KINDS, Profile
from sparsegam._models.step_tables import Position, StepTable
from sparsegam._models.steps import StepModel, as_table, step_model, step_numbers
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
    steps, table = step_model(model), as_table(X)
    return profile_of_numbers(steps, step_numbers(steps, table), table.n_rows, bands, cuts)


def profile_of_numbers(
    steps: StepModel,
    numbers: Mapping[str, FloatArray],
    n_rows: int,
    bands: FloatArray | None = None,
    cuts: Mapping[str, FloatArray] | None = None,
) -> Profile:
    """Count how rows spread, given the columns of the features in use as numbers on their scales."""
    score = steps.score_numbers(numbers, n_rows)
    ends = histogram_of(score).bands()[0] if bands is None else bands
    each = np.ones(n_rows)
    counted = {t.feature: (numbers[t.feature], each) for t in steps.inputs}
    if cuts is None:
        cuts = {t.feature: _cuts(t, *counted[t.feature], ends=_ends(t)) for t in steps.tables if t.slopes.any()}
    found = _profile(steps, counted, n_rows, (ends, band_counts(score, ends)), cuts)
    pairs = {pair.key: np.bincount(pair.find(numbers), minlength=pair.adds.size) / n_rows for pair in steps.pairs}
    return replace(found, pairs=pairs)


def training_profile(model: Any) -> Profile | None:
    """Return how the rows of the fit spread over the steps of a model, or None where it does not remember them."""
    model = getattr(model, "model_", model)
    seen = model.training if isinstance(model, Model) else None
    if seen is None or isinstance(seen, Profile):
        return seen
    steps, bins, cuts = step_model(model), seen.bins(), {}
    for table in steps.tables:
        if table.slopes.any():  # a bin is counted whole: where a piece ends within one, there is no cut
            numbers, counts = bins[table.feature]
            cuts[table.feature] = _cuts(table, numbers, counts, ends=np.intersect1d(_ends(table), numbers))
    found = _profile(steps, bins, seen.n_rows, seen.bands(), cuts)
    cells = seen.cells()
    pairs = {pair.key: cells[pair.key][np.ix_(*pair.kept)].ravel() / seen.n_rows for pair in steps.pairs}
    return replace(found, pairs=pairs)


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
    _check_fits(step_model(model), before)
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
    steps: StepModel,
    counted: Mapping[str, tuple[FloatArray, FloatArray]],
    n_rows: int,
    bands: tuple[FloatArray, FloatArray],
    cuts: Mapping[str, FloatArray],
) -> Profile:
    """Make shares of numbers that stand for one row each, or for as many as are counted beside them."""
    shares, kinds = {}, {}
    for table in steps.inputs:
        numbers, counts = counted[table.feature]
        mine = cuts.get(table.feature)
        shares[table.feature] = np.bincount(_parts(table, mine, numbers), counts, _n_parts(table, mine)) / n_rows
        kinds[table.feature] = _kinds(table, numbers, counts, n_rows)
    return Profile(n_rows, shares, kinds, bands[0], bands[1] / n_rows, cuts)


def _ends(table: StepTable) -> FloatArray:
    """Return where the steps in the order of a feature end."""
    return np.array([table.scale.number(one.values[0]) for one in table.steps if one.kind == "upto"])


def _cuts(table: StepTable, numbers: FloatArray, counts: FloatArray, *, ends: FloatArray) -> FloatArray:
    """Cut the order of a feature at these ends, and at those tenths of the rows that are inside straight pieces."""
    ordered = table.locate(numbers) >= _n_alone(table)
    values, where = np.unique(numbers[ordered], return_inverse=True)
    if not values.size:
        return ends
    upto = np.cumsum(np.bincount(where, counts[ordered]))
    tenths = values[np.searchsorted(upto, upto[-1] * TENTHS)]
    inside = (table.slopes[table.locate(tenths)] != 0) & (tenths < values[-1])
    return np.union1d(ends, tenths[inside])


def _parts(table: StepTable, cuts: FloatArray | None, numbers: FloatArray) -> Position:
    """Return the step that each number is in or, where its order is cut, the part."""
    step, alone = table.locate(numbers), _n_alone(table)
    return step if cuts is None else np.where(step < alone, step, alone + np.searchsorted(cuts, numbers))


def _n_parts(table: StepTable, cuts: FloatArray | None) -> int:
    return len(table.steps) if cuts is None else _n_alone(table) + cuts.size + 1


def _n_alone(table: StepTable) -> int:
    """Count the steps that are out of the order: those for missing and for single values, which come first."""
    return sum(one.kind in ("missing", "equal") for one in table.steps)


def _kinds(table: StepTable, numbers: FloatArray, counts: FloatArray, n_rows: int) -> dict[str, float]:
    special = [table.scale.number(v) for step in table.steps if step.kind == "equal" for v in step.values]
    levels = table.scale.has_levels
    found = {
        "missing": np.isnan(numbers),
        "special": np.isin(numbers, [] if levels else special),
        "unseen": (numbers == UNSEEN) & levels,
    }
    return {kind: float(counts[where].sum()) / n_rows for kind, where in found.items()}  # whole counts: at most 1


def _check_fits(steps: StepModel, before: Profile) -> None:
    wanted: dict[Part, int] = {t.feature: _n_parts(t, before.cuts.get(t.feature)) for t in steps.inputs}
    wanted |= {pair.key: pair.adds.size for pair in steps.pairs}
    found = {part: share.size for part, share in [*before.shares.items(), *before.pairs.items()]}
    if wanted != found:
        msg = f"the profile is of another model: it has steps {found}, the model {wanted}. Make it again."
        raise ValueError(msg)
