"""What a model is the sum of: a function of each feature that has terms of its own, and one of each pair."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sparsegam._data.columns import NUMBER, Scale, Value
from sparsegam._models.evidence import Evidence
from sparsegam._models.pairs import PairFunction, Source, pair_of
from sparsegam._models.pieces import Piece
from sparsegam._models.seen import Seen
from sparsegam._models.shapes import ShapeFunction, shape_of
from sparsegam._models.terms import Term
from sparsegam.arrays import FloatArray


class SumOfParts:
    """Former representation of the functions of a model, for consumers that do not read `FittedFunction` yet."""

    terms: tuple[Term, ...]
    special_values: Mapping[str, tuple[Value, ...]]
    scales: Mapping[str, Scale]
    missing: str
    seen: Mapping[str, Seen]
    seen_pairs: Mapping[tuple[str, str], FloatArray]
    evidence: Evidence | None

    def shape_functions(self, *, centred: bool | None = False) -> dict[str, ShapeFunction]:
        """Return what each feature in use adds to the score, as a function of its value.

        Parameters
        ----------
        centred : bool or None
            Whether the functions have mean zero over the rows of the fit, as in `contributions`; else their sum and
            the intercept are the score.

        Returns
        -------
        dict of str to ShapeFunction
            By feature, in the order of `features`; those of which only products ask are not among them.
        """
        move = self.is_centred(centred=centred)  # type: ignore[attr-defined]
        mine = {name: [t for t in self.terms if t.part == name] for name in self.parts if isinstance(name, str)}  # type: ignore[attr-defined]
        return {name: self._shape(name, terms, move=move) for name, terms in mine.items()}

    def pair_functions(self, *, centred: bool | None = False) -> dict[tuple[str, str], PairFunction]:
        """Return what pairs of features add to the score together, beside what each adds alone.

        Parameters
        ----------
        centred : bool or None
            As in `shape_functions`.

        Returns
        -------
        dict of pair of str to PairFunction
            By pair, in the order of `pairs`.
        """
        move = self.is_centred(centred=centred)  # type: ignore[attr-defined]
        return {pair: self._pair(pair, move=move) for pair in self.pairs}  # type: ignore[attr-defined]

    def _pair(self, pair: tuple[str, str], *, move: bool) -> PairFunction:
        """Add up the products of a pair; where a value is new, whatever the other one is, the pair is at its mean."""
        found = self.cells_of(pair)
        shares = self.seen_pairs.get(pair)
        if shares is not None:
            numbers = (axis.representatives() for axis in self.pair_bins(pair))  # type: ignore[attr-defined]
            first, second = (axis.cells_of(mine) for axis, mine in zip(found.axes, numbers, strict=True))
            moved = np.zeros(found.values.shape)
            np.add.at(moved, np.ix_(first, second), shares)
            found = replace(found, shares=moved)
        mean = found.mean()
        if self.missing != "last":
            found = found.with_new_at(mean)
        return found.moved(-mean) if move else found

    def cells_of(
        self, pair: tuple[str, str], shares: FloatArray | None = None, *, new_apart: bool | None = None
    ) -> PairFunction:
        """Add up the products of a pair, as the coefficients are; new values add nothing.

        Whether these are in cells of their own is as the model scores them, unless told.
        """
        first, second = (self.source_of(name) for name in pair)
        terms = [term for term in self.terms if term.part == pair]
        apart = self.missing != "last" if new_apart is None else new_apart
        return pair_of(terms, (first, second), shares, new_apart=apart)

    def source_of(self, name: str) -> Source:
        """Return what is known of a feature beside its terms."""
        return Source(self.special_values.get(name, ()), self.scales.get(name, NUMBER), self.seen.get(name))

    def _shape(self, name: str, terms: list[Term], *, move: bool) -> ShapeFunction:
        """Add up the terms of a feature; exports cannot refuse a row, so that "error" gives them the mean as well."""
        shape = shape_of(terms, self.special_values.get(name, ()), self.scales.get(name, NUMBER), self.seen.get(name))
        mean = shape.mean()
        if self.missing != "last":
            shape = shape.with_new_at(mean)
        return shape.moved(-mean) if move else shape

    def with_errors(self, feature: str, parts: list[Piece]) -> list[Piece]:
        """Return the pieces of a feature with their standard errors, where these are known."""
        places = [piece.along() for piece in parts]
        errors = self.errors_at(feature, np.concatenate(places))
        if errors is None:
            return parts
        each = np.split(errors, np.cumsum([place.size for place in places])[:-1])
        return [
            # values that no row had are given a mean, by a rule and not by rows
            piece if piece.new else replace(piece, error=found[-1], errors=tuple(found) if piece.slope else ())
            for piece, found in zip(parts, map(np.ndarray.tolist, each), strict=True)
        ]

    def errors_at(self, feature: str, numbers: FloatArray) -> FloatArray | None:
        """Return the standard error of what a feature adds to each number on its scale, less its mean over the rows."""
        if self.evidence is None:
            return None
        terms = [term for term in self.terms if term.part == feature]
        means = self.evidence.shares(self.terms, feature)
        for i, term in enumerate(terms):
            if term.condition.is_ramp:
                means[i] = self._alone(term).mean()
        values = np.column_stack([self._alone(term).at(numbers) for term in terms])
        return self.evidence.errors_of(feature, values, means)

    def cell_errors(self, pair: tuple[str, str]) -> FloatArray | None:
        """Return the standard error of what a pair adds in each of its cells, less its mean over the rows of the fit.

        NaN where a value is new: what it is given is a mean, by a rule and not by rows.
        """
        if self.evidence is None:
            return None
        found = self.cells_of(pair)
        values = np.column_stack([found.holds(term).ravel() for term in self.terms if term.part == pair])
        errors = self.evidence.errors_of(pair, values.astype(np.float64), self.evidence.shares(self.terms, pair))
        if errors is None:
            return None
        out = errors.reshape(found.values.shape)
        if self.missing != "last":
            out[found.axes[0].new, :] = out[:, found.axes[1].new] = np.nan
        return out

    def _alone(self, term: Term) -> ShapeFunction:
        """Return the shape of a term with a coefficient of one."""
        name = term.feature
        special, scale = self.special_values.get(name, ()), self.scales.get(name, NUMBER)
        return shape_of([replace(term, coef=1.0)], special, scale, self.seen.get(name))
