"""Checking in use: how far new rows have moved from those of the fit, feature by feature and in the score.

population stability index = sum over steps (new share - old share) * log(new share / old share)
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam.columns import Values
from sparsegam.scales import UNSEEN
from sparsegam.steps import StepModel, StepTable, as_table, step_model, step_numbers

FORMAT, VERSION = "sparsegam.Profile", 1
SCORE = "score"
N_BANDS = 10
NEGLIGIBLE = 1e-4  # least share of a step, so that an empty one has a logarithm
LEVELS = ((0.25, "moved"), (0.1, "watch"), (-np.inf, "stable"))  # the usual reading of the index
KINDS = ("missing", "special", "unseen")


@dataclass(frozen=True, eq=False)
class Profile:
    """How rows spread over the steps of a model: small, without any row in it, kept as JSON beside the model.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    shares : dict of str to ndarray
        For each feature in use, the share of each step; for the score, that of each band.
    kinds : dict of str to dict
        For each feature in use, the shares of missing, special and unseen values.
    bands : ndarray
        The scores at which one band ends and the next begins.
    """

    n_rows: int
    shares: Mapping[str, Values]
    kinds: Mapping[str, Mapping[str, float]]
    bands: Values

    def to_json(self) -> str:
        """Write the profile as JSON."""
        shares = {name: values.tolist() for name, values in self.shares.items()}
        content = {"n_rows": self.n_rows, "shares": shares, "kinds": self.kinds, "bands": self.bands.tolist()}
        return json.dumps({"format": FORMAT, "version": VERSION, **content}, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Profile":
        """Read what `to_json` wrote; anything else is refused with a ValueError."""
        try:
            content = json.loads(text)
            if (content["format"], content["version"]) != (FORMAT, VERSION):
                raise ValueError
            shares = {str(name): np.array(values, dtype=np.float64) for name, values in content["shares"].items()}
            kinds = {str(n): {k: float(v[k]) for k in KINDS} for n, v in content["kinds"].items()}
            return cls(int(content["n_rows"]), shares, kinds, np.array(content["bands"], dtype=np.float64))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            msg = f"not a sparsegam profile of version {VERSION}: make it again with profile(model, X)."
            raise ValueError(msg) from error


@dataclass(frozen=True)
class Moved:
    """One feature, or the score: its stability index, how to read it, and shares of values before and now."""

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
        """Return the line of a feature, or of "score"."""
        found = [line for line in self.lines if line.name == name]
        if not found:
            raise KeyError(name)
        return found[0]

    @property
    def worst(self) -> Moved:
        """The line with the largest index."""
        return max(self.lines, key=lambda line: line.psi)

    def to_frame(self) -> Any:
        """Return the lines as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame([self._row(line) for line in self.lines])

    def __str__(self) -> str:
        from sparsegam.cardview import aligned

        header = ["feature", "reading", "PSI", *(f"{kind} {when}" for kind in KINDS for when in ("before", "now"))]
        rows = [
            [line.name, line.reading, f"{line.psi:.4f}", *(f"{v:.1%}" for v in list(self._row(line).values())[3:])]
            for line in self.lines
        ]
        return f"{self.n_before} rows before, {self.n_now} now\n{aligned(header, rows)}"

    def _row(self, line: Moved) -> dict[str, Any]:
        row: dict[str, Any] = {"feature": line.name, "reading": line.reading, "psi": line.psi}
        for kind in KINDS:
            row |= {f"{kind}_before": line.before.get(kind, 0.0), f"{kind}_now": line.now.get(kind, 0.0)}
        return row


def profile(model: Any, X: Any, *, bands: Values | None = None) -> Profile:
    """Count how rows spread over the steps of a model.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model.
    X : table
        The rows, for a reference usually those of the fit.
    bands : ndarray, optional
        Where the bands of the score end; tenths of these rows unless told.

    Returns
    -------
    Profile
        The shares.
    """
    steps, table = step_model(model), as_table(X)
    numbers = step_numbers(steps, table)
    shares = {t.feature: _shares(t.locate(numbers[t.feature]), len(t.steps)) for t in steps.tables}
    kinds = {t.feature: _kinds(t, numbers[t.feature]) for t in steps.tables}
    score = steps.score(table)
    ends = np.unique(np.quantile(score, np.linspace(0, 1, N_BANDS + 1)[1:-1])) if bands is None else bands
    shares[SCORE] = _shares(np.searchsorted(ends, score, side="left"), ends.size + 1)
    return Profile(table.n_rows, shares, kinds, ends)


def drift(model: Any, X: Any, reference: Any) -> Drift:
    """Compare new rows with those of the fit.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model.
    X : table
        The new rows.
    reference : table or Profile
        The rows of the fit, or their profile.

    Returns
    -------
    Drift
        A line per feature in use and one for the score.
    """
    before = reference if isinstance(reference, Profile) else profile(model, reference)
    _check_fits(step_model(model), before)
    now = profile(model, X, bands=before.bands)
    lines = tuple(
        Moved(name, stability_index(share, now.shares[name]), before.kinds.get(name, {}), now.kinds.get(name, {}))
        for name, share in before.shares.items()
    )
    return Drift(lines, before.n_rows, now.n_rows)


def stability_index(before: Values, now: Values) -> float:
    """Return the population stability index of two spreads over the same steps."""
    old, new = np.maximum(before, NEGLIGIBLE), np.maximum(now, NEGLIGIBLE)
    return float(np.sum((new - old) * np.log(new / old)))


def _shares(where: Any, size: int) -> Values:
    out: Values = np.bincount(where, minlength=size) / where.size
    return out


def _kinds(table: StepTable, numbers: Values) -> dict[str, float]:
    special = [table.scale.number(v) for step in table.steps if step.kind == "equal" for v in step.values]
    levels = table.scale.has_levels
    return {
        "missing": float(np.isnan(numbers).mean()),
        "special": 0.0 if levels else float(np.isin(numbers, special).mean()),
        "unseen": float((numbers == UNSEEN).mean()) if levels else 0.0,
    }


def _check_fits(steps: StepModel, before: Profile) -> None:
    wanted = {t.feature: len(t.steps) for t in steps.tables}
    found = {name: share.size for name, share in before.shares.items() if name != SCORE}
    if wanted != found or SCORE not in before.shares:
        msg = f"the profile is of another model: it has steps {found}, the model {wanted}. Make it again."
        raise ValueError(msg)
