"""Profiles: the distribution of rows over the bins of a model, without the rows, stored as JSON."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from sparsegam._models import display
from sparsegam._models.terms import part_name
from sparsegam.arrays import FloatArray
from sparsegam.checks import expect, is_number

FORMAT, VERSION = "sparsegam.Profile", 1
KINDS = ("missing", "special", "unseen")
PARTS = ("n_rows", "shares", "kinds", "bands", "score")
CUTS = "cuts"
PAIRS = "pairs"
SUM_TOLERANCE = 1e-6
"""Rounding of the sum of shares."""


@dataclass(frozen=True, eq=False)
class Profile:
    """Distribution of rows over the bins of a model.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    shares : dict of str to ndarray
        For each feature in use, the share of each bin or, if it has ramps, of each interval between `cuts`.
    kinds : dict of str to dict
        For each feature in use, the shares of missing, special and unseen values.
    bands : ndarray
        Scores that separate the bands.
    score : ndarray
        The share of each band of scores.
    cuts : dict of str to ndarray
        For each feature with ramps, the values that separate its intervals.
    pairs : dict of pair of str to ndarray
        For each pair of features with interactions, the share of each pair of bins, in row-major order.
    """

    n_rows: int
    shares: Mapping[str, FloatArray]
    kinds: Mapping[str, Mapping[str, float]]
    bands: FloatArray
    score: FloatArray
    cuts: Mapping[str, FloatArray] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], FloatArray] = field(default_factory=dict)

    @property
    def features(self) -> tuple[str, ...]:
        """The features in use."""
        return tuple(self.kinds)

    def __repr__(self) -> str:
        return f"<Profile: {self.n_rows} rows, {len(self.features)} features>"

    def _repr_html_(self) -> str:
        rows = [
            [name, ", ".join(f"{share:.1%}" for share in self.shares[name]), *(f"{kinds[kind]:.1%}" for kind in KINDS)]
            for name, kinds in self.kinds.items()
        ]
        bands = [["score", ", ".join(f"{share:.1%}" for share in self.score), *[""] * len(KINDS)]]
        shown = display.table(["feature", "share of each bin", *KINDS], [*rows, *bands])
        return display.fragment(display.note(repr(self).strip("<>")), shown)

    def content(self) -> dict[str, Any]:
        """Return the profile for JSON."""
        shares = {name: values.tolist() for name, values in self.shares.items()}
        kinds = {name: dict(values) for name, values in self.kinds.items()}
        bands = {"bands": self.bands.tolist(), "score": self.score.tolist()}
        cuts = {CUTS: {name: values.tolist() for name, values in self.cuts.items()}} if self.cuts else {}
        pairs = {PAIRS: [[*pair, values.tolist()] for pair, values in self.pairs.items()]} if self.pairs else {}
        return {"n_rows": self.n_rows, "shares": shares, "kinds": kinds, **bands, **cuts, **pairs}

    def to_json(self) -> str:
        """Return the profile as JSON."""
        return json.dumps({"format": FORMAT, "version": VERSION, **self.content()}, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Profile":
        """Read a profile from the output of `to_json`; raise ValueError for other content."""
        try:
            content = json.loads(text)
            expect(content, "the text", "one JSON object", holds=isinstance(content, dict))
            header = (content.pop("format", None), content.pop("version", None))
            expect(header, "format and version", repr((FORMAT, VERSION)), holds=header == (FORMAT, VERSION))
            return profile_from(content)
        except (ValueError, RecursionError) as error:
            msg = f"not a sparsegam profile of version {VERSION} ({error}): create it again with model.profile(X)."
            raise ValueError(msg) from None


def profile_from(content: Any) -> Profile:
    """Read and check the content of a profile; raise a ValueError if a part is invalid."""
    known = isinstance(content, dict) and {*content} - {CUTS, PAIRS} == {*PARTS}
    expect(content, "a profile", f"an object with {PARTS}", holds=known)
    n_rows, bands, score = content["n_rows"], content["bands"], content["score"]
    expect(n_rows, "n_rows", "a count above zero", holds=type(n_rows) is int and n_rows > 0)
    _check_rising("bands", bands)
    expect(score, "score", "a list", holds=isinstance(score, list))
    expect(len(score), "number of shares of the score", str(len(bands) + 1), holds=len(score) == len(bands) + 1)
    shares, kinds = content["shares"], content["kinds"]
    expect(shares, "shares", "lists by feature", holds=isinstance(shares, dict))
    expect(kinds, "kinds", "an object whose keys are features", holds=isinstance(kinds, dict))
    expect(sorted(kinds), "the features of kinds", f"those of shares, {sorted(shares)}", holds={*shares} == {*kinds})
    return Profile(
        n_rows,
        {name: _check_shares(repr(name), values) for name, values in shares.items()},
        {name: _kinds(name, values) for name, values in kinds.items()},
        np.array(bands, dtype=np.float64),
        _check_shares("the score", score),
        _cuts(content.get(CUTS, {}), shares),
        _pairs(content.get(PAIRS, []), shares),
    )


def _cuts(cuts: Any, shares: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Read the cuts; their number must be smaller than that of the shares."""
    good = isinstance(cuts, dict) and {*cuts} <= {*shares}
    expect(cuts, CUTS, f"lists by feature, of {sorted(shares)}", holds=good)
    for name, values in cuts.items():
        _check_rising(f"{CUTS} of {name!r}", values)
        expect(len(values), f"number of {CUTS} of {name!r}", "fewer than shares", holds=len(values) < len(shares[name]))
    return {name: np.array(values, dtype=np.float64) for name, values in cuts.items()}


def _pairs(pairs: Any, shares: Mapping[str, Any]) -> dict[tuple[str, str], FloatArray]:
    """Read the shares of pairs: lists of two feature names and the shares."""
    good = isinstance(pairs, list) and all(isinstance(one, list) and len(one) == 3 for one in pairs)
    good = good and all(isinstance(name, str) and name in shares for one in pairs for name in one[:2])
    expect(pairs, PAIRS, f"lists of two features, of {sorted(shares)}, and shares", holds=good)
    return {(a, b): _check_shares(part_name((a, b)), values) for a, b, values in pairs}


def _check_rising(name: str, values: Any) -> None:
    good = _numbers(values) and all(low < high for low, high in pairwise(values))
    expect(values, name, "finite numbers in increasing order", holds=good)


def _check_shares(name: str, values: Any) -> FloatArray:
    good = _numbers(values) and all(0 <= v <= 1 for v in values) and abs(math.fsum(values) - 1) < SUM_TOLERANCE
    expect(values, f"shares of {name}", "numbers from 0 to 1 whose sum is 1", holds=good)
    return np.array(values, dtype=np.float64)


def _kinds(name: str, values: Any) -> dict[str, float]:
    good = isinstance(values, dict) and {*values} == {*KINDS} and _numbers(list(values.values()))
    good = good and all(0 <= v <= 1 for v in values.values())
    expect(values, f"kinds of {name!r}", f"the shares of {', '.join(KINDS)} values, from 0 to 1", holds=good)
    return {kind: float(values[kind]) for kind in KINDS}


def _numbers(values: Any) -> bool:
    """Return whether this is a list of finite numbers."""
    return isinstance(values, list) and all(map(is_number, values))
