"""A fitted additive model: an intercept and terms, evaluated with NumPy alone, printed as an equation, kept as JSON."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparsegam.arrays import Vector
from sparsegam.checks import warn
from sparsegam.data.frames import Table, read
from sparsegam.data.scales import NUMBER, UNSEEN, Scale, Value
from sparsegam.models import equation, schema
from sparsegam.models.edits import Edit
from sparsegam.models.evidence import Evidence
from sparsegam.models.layout import aligned
from sparsegam.models.lookup import positions
from sparsegam.models.methods import Deployable, Viewable
from sparsegam.models.pieces import Piece
from sparsegam.models.profile import Counted, Profile
from sparsegam.models.scoring import Scores
from sparsegam.models.shapes import ShapeFunction, shape_of
from sparsegam.models.terms import Term
from sparsegam.parameters import documented


@dataclass(frozen=True)
class Model(Scores, Deployable, Viewable):
    """score(x) = intercept + the coefficients of the terms that hold for x.

    Attributes
    ----------
    intercept : float
        Score where no term holds.
    terms : tuple of Term
        The terms, in the order of features, then thresholds.
    feature_names : tuple of str
        All columns of the training table, used or not; arrays are read by these positions.
    loss : {"logistic", "exponential", "squared"}
        Loss the model was fitted with; it says how a score becomes a probability.
    classes : tuple or None
        The two labels, the second one being the one whose probability grows with the score; None for regression.
    special_values : dict of str to tuple
        Values of a feature that are out of its ordering: no `x <= t` holds for them.
    scales : dict of str to Scale
        What the values of a feature are, where they are not numbers; categories of features in use only.
    edits : tuple of Edit
        What was done to the model by hand, in order.
    training : Counted, Profile or None
        How the rows of the fit spread, for `drift`; no row is in it. A model that is written by hand, or made of
        another by `dataclasses.replace`, has none.
    evidence : Evidence or None
        What the terms stand on: rows of the fit, and how well the coefficients are known. None for the same models, and
        for those of older files.

    Notes
    -----
    A missing value adds the coefficient of `x is missing` where the model has that term, else nothing. A level that
    was not in the training data adds nothing; a warning says how many there were.
    """

    intercept: float
    terms: tuple[Term, ...]
    feature_names: tuple[str, ...]
    loss: str
    classes: tuple[Any, Any] | None = None
    special_values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    # not an argument, so that `replace` never hands the rows of one model to another
    training: Counted | Profile | None = field(default=None, init=False, compare=False)
    evidence: Evidence | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.terms)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features in use, in the order of the table."""
        used = {term.feature for term in self.terms}
        return tuple(name for name in self.feature_names if name in used)

    def remembering(self, training: Counted | Profile | None) -> "Model":
        """Return the same model with what it shall remember of the rows of its fit."""
        out = copy(self)
        object.__setattr__(out, "training", training)
        return out

    def standing_on(self, evidence: Evidence | None) -> "Model":
        """Return the same model with what its terms stand on."""
        out = copy(self)
        if evidence is not None:
            pairs = zip(self.terms, evidence.standings(self.terms), strict=True)
            object.__setattr__(out, "terms", tuple(term.standing_on(standing) for term, standing in pairs))
        object.__setattr__(out, "evidence", evidence)
        return out

    @documented
    def decision_function(self, X: Any) -> Vector:
        """Return the score of each row.

        Parameters
        ----------
        X : array-like or data frame
            Frames are looked up by column name and need only the features in use; arrays by position.

        {scores}
        """
        return self.score_table(read(X))

    def score_table(self, table: Table) -> Vector:
        """Return the score of each row of a table that was read already."""
        score = np.full(table.n_rows, self.intercept)
        for contribution in self._contributions(table):
            score += contribution
        return score

    def contributions(self, X: Any) -> Vector:
        """Return what each feature in use adds to the score of each row: one column per name in `features`."""
        table = read(X)
        columns = list(self._contributions(table))
        return np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))

    def shape_functions(self) -> dict[str, ShapeFunction]:
        """Return the step function of each feature in use."""
        mine: dict[str, list[Term]] = {name: [] for name in self.features}
        for term in self.terms:
            mine[term.feature].append(term)
        return {
            name: shape_of(terms, self.special_values.get(name, ()), self.scales.get(name, NUMBER))
            for name, terms in mine.items()
        }

    def with_errors(self, feature: str, parts: list[Piece]) -> list[Piece]:
        """Return the pieces of a feature with their standard errors, where these are known."""
        if self.evidence is None:
            return parts
        terms = [term for term in self.terms if term.feature == feature]
        special, scale = self.special_values.get(feature, ()), self.scales.get(feature, NUMBER)
        inside = np.array([piece.inside for piece in parts])
        holds = np.column_stack([shape_of([replace(term, coef=1.0)], special, scale).at(inside) for term in terms])
        errors = [self.evidence.error_of(self.terms, feature, row) for row in holds]
        return [replace(piece, error=error) for piece, error in zip(parts, errors, strict=True)]

    def to_frame(self) -> Any:
        """Return the terms as a pandas DataFrame, or as a dict of lists where pandas is not installed.

        Returns
        -------
        pandas.DataFrame or dict
            By term: feature, condition in words, coef, standard_error, n_rows, n_others and n_events (see `Standing`).
        """
        standings = [term.standing for term in self.terms]
        columns: dict[str, list[Any]] = {
            "feature": [term.feature for term in self.terms],
            "condition": [term.condition.text(term.feature) for term in self.terms],
            "coef": [term.coef for term in self.terms],
        }
        for name in ("standard_error", "n_rows", "n_others", "n_events"):
            columns[name] = [None if standing is None else getattr(standing, name) for standing in standings]
        try:
            import pandas as pd
        except ImportError:
            return columns
        return pd.DataFrame(columns)

    def summary(self) -> str:
        """Write the terms as a table: what each adds, its standard error, its rows and the events among them.

        Standard errors are as if the steps had been given and not chosen: too small. `stability` of an estimator
        searches again and again, and says which steps come back.
        """
        known = self.evidence is not None
        error = None if self.evidence is None else self.evidence.intercept_error
        total = None if self.evidence is None else self.evidence.n_rows
        events = None if self.evidence is None else self.evidence.n_events
        rows = [["(start)", "", f"{self.intercept:+.4f}", _cell(error, ".4f"), _cell(total), _cell(events)]]
        last = ""
        for term in self.terms:
            name = "" if term.feature == last else term.feature
            cells = [_cell(term.standard_error, ".4f"), _cell(term.n_rows), _cell(term.n_events)]
            rows.append([name, term.condition.text("x"), f"{term.coef:+.4f}", *cells])
            last = term.feature
        header = ["feature x", "where", "adds", "std. error", "rows", "events"]
        kept = len(header) if self.classes is not None and known else 5 if known else 3
        return aligned(header[:kept], [row[:kept] for row in rows])

    def equation(self, *, digits: int = 4, width: int = 100) -> str:
        """Write the model as text, one block of lines per feature.

        Parameters
        ----------
        digits : int
            Significant digits of the coefficients.
        width : int
            Length at which lines are wrapped.

        Returns
        -------
        str
            The equation, with letters for the features and their names on the right.
        """
        body = equation.blocks(self.terms, self.features, digits=digits, width=width)
        return self._equation(self.intercept, body, digits)

    def to_json(self) -> str:
        """Write the model as JSON text that `from_json` reads back without loss."""
        classes = None if self.classes is None else [schema.label_to_json(label) for label in self.classes]
        seen = self.training_profile()
        return schema.write(
            {
                "loss": self.loss,
                "classes": classes,
                "intercept": self.intercept,
                "feature_names": self.feature_names,
                "scales": {name: schema.scale_to_json(scale) for name, scale in self.scales.items()},
                "special_values": {
                    name: [schema.value_to_json(value) for value in values]
                    for name, values in self.special_values.items()
                },
                "terms": [schema.term_to_json(term) for term in self.terms],
                "edits": [edit.to_json() for edit in self.edits],
                **({} if self.evidence is None else {"evidence": self.evidence.content()}),
                **({} if seen is None else {"profile": seen.content()}),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Model":
        """Read a model that `to_json` wrote; anything else is refused with a ValueError.

        Parameters
        ----------
        text : str
            The JSON text. It is parsed, never executed.

        Returns
        -------
        Model
            The same model.
        """
        parts = schema.parse(text)
        seen, evidence = parts.pop("profile"), parts.pop("evidence")
        return cls(**parts).remembering(seen).standing_on(evidence)

    def _contributions(self, table: Table) -> Iterator[Vector]:
        """Return what each feature in use adds to the score of each row; warn, once, of levels never seen before."""
        unseen: dict[str, int] = {}
        shapes = self.shape_functions()
        for j, shape in zip(positions(self.features, self.feature_names, table), shapes.values(), strict=True):
            column = table.column(j)
            numbers = column.on(shape.scale)
            if shape.scale.has_levels:
                unseen[column.name] = int(np.count_nonzero(numbers == UNSEEN))
            yield shape.at(numbers)
        _warn_unseen({name: count for name, count in unseen.items() if count})

    def __repr__(self) -> str:
        return f"<Model: {self.loss}, {self.n_terms} terms of {len(self.features)} features>"


def _cell(value: float | None, form: str = "d") -> str:
    return "" if value is None else f"{value:{form}}"


def _warn_unseen(counts: dict[str, int]) -> None:
    if counts:
        where = ", ".join(f"{count} in column {name!r}" for name, count in counts.items())
        msg = f"X has values whose level was not in the training data ({where}): they add nothing to the score."
        warn(msg, UserWarning)
