"""A fitted additive model: an intercept and terms, evaluated with NumPy alone, printed as an equation, kept as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparsegam._data.columns import Scale, Value
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, read_table
from sparsegam._models import equation, notebook, schema
from sparsegam._models.decomposition import SumOfParts
from sparsegam._models.edits import Edit
from sparsegam._models.evidence import Evidence
from sparsegam._models.layout import aligned
from sparsegam._models.lookup import positions
from sparsegam._models.methods import Deployable, Viewable
from sparsegam._models.pairs import regrouped
from sparsegam._models.profile import Counted, Profile
from sparsegam._models.scoring import Scores
from sparsegam._models.seen import RULES, NewValues, Seen, count_new
from sparsegam._models.summary import summary_table
from sparsegam._models.terms import Term, part_name
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice
from sparsegam.parameters import documented


@dataclass(frozen=True)
class Model(SumOfParts, Scores, Deployable, Viewable):
    """score(x) = intercept + the coefficients of the terms that hold for x, and its ramps times theirs.

    A term asks something of one feature, or of two (a product).

    Attributes
    ----------
    intercept : float
        Score where no term holds.
    terms : tuple of Term
        The terms, in the order of features, then thresholds; products come last.
    feature_names : tuple of str
        All columns of the training table, used or not; arrays are read by these positions.
    loss : {"logistic", "exponential", "squared", "squared_hinge"}
        Loss the model was fitted with; it says how a score becomes a probability.
    classes : tuple or None
        The two labels, the second one being the one whose probability grows with the score; None for regression.
    special_values : dict of str to tuple
        Values of a feature that are out of its ordering: no `x <= t` holds for them.
    scales : dict of str to Scale
        What the values of a feature are, where they are not numbers; categories of features in use only.
    edits : tuple of Edit
        What was done to the model by hand, in order.
    missing : {"mean", "error", "last"}
        How a value is scored that is missing, special or of a new level where no row of the fit had one: at the mean
        contribution of its feature, not at all (a ValueError), or as if no condition held.
    seen : dict of str to Seen
        What the rows of the fit had of each feature in use; a model that is written by hand has none, and "last" only.
    seen_pairs : dict of pair of str to ndarray
        For each pair of features with products, the share of the rows of the fit in each of its cells.
    training : Counted, Profile or None
        How the rows of the fit spread, for `drift`; no row is in it. A model that is written by hand, or made of
        another by `dataclasses.replace`, has none.
    evidence : Evidence or None
        What the terms stand on: rows of the fit, and how well the coefficients are known. None for the same models, and
        for those of older files.

    Notes
    -----
    A missing value adds the coefficient of `x is missing` where the model has that term. Where rows of the fit had
    missing values and none of its terms asks for them, they add nothing. Values that no row of the fit had go by
    `missing`; a warning counts them.
    """

    intercept: float
    terms: tuple[Term, ...]
    feature_names: tuple[str, ...]
    loss: str
    classes: tuple[Any, Any] | None = None
    special_values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    missing: str = "last"
    seen: Mapping[str, Seen] = field(default_factory=dict, compare=False)
    seen_pairs: Mapping[tuple[str, str], FloatArray] = field(default_factory=dict, compare=False)
    # not an argument, so that `replace` never hands the rows of one model to another
    training: Counted | Profile | None = field(default=None, init=False, compare=False)
    evidence: Evidence | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, tuple(RULES))
        unknown = self.unknown_parts()
        if self.missing != "last" and unknown:
            msg = (
                f"missing={self.missing!r} needs to know what the rows of the fit had of column {unknown[0]!r}, which "
                "is not in seen: use missing='last', or fit the model."
            )
            raise ValueError(msg)
        for pair in self.pairs:
            found, shares = self.cells_of(pair).values.shape, self.seen_pairs.get(pair)
            if shares is not None and shares.shape != found:
                msg = f"seen_pairs of {part_name(pair)!r} must have a share for each cell, {found}, got {shares.shape}."
                raise ValueError(msg)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.terms)

    def remembering(self, training: Counted | Profile | None) -> "Model":
        """Return the same model with what it shall remember of the rows of its fit."""
        out = copy(self)
        object.__setattr__(out, "training", training)
        return out

    def keeping(self, terms: Iterable[Term]) -> "Model":
        """Return the model with some of its terms, their coefficients as given; it still knows the rows of its fit."""
        bare = replace(self, terms=tuple(terms), missing="last", seen_pairs={})
        shares: dict[tuple[str, str], FloatArray] = {}
        for pair, known in self.seen_pairs.items():
            if pair in bare.pairs:
                cells = bare.cells_of(pair, new_apart=self.missing != "last")
                shares[pair] = regrouped(self.cells_of(pair), cells, known)
        return replace(bare, missing=self.missing, seen_pairs=shares)

    def standing_on(self, evidence: Evidence | None) -> "Model":
        """Return the same model with what its terms stand on."""
        out = copy(self)
        if evidence is not None:
            pairs = zip(self.terms, evidence.standings(self.terms), strict=True)
            object.__setattr__(out, "terms", tuple(term.standing_on(standing) for term, standing in pairs))
        object.__setattr__(out, "evidence", evidence)
        return out

    @documented
    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row.

        Parameters
        ----------
        X : array-like or data frame
            Frames are looked up by column name and need only the features in use; arrays by position.

        {scores}
        """
        return self.score_table(self.read(X))

    def read(self, X: Any) -> Table:
        """Look at rows without copying them."""
        return read_table(X)

    def score_table(self, table: Table) -> FloatArray:
        """Return the score of each row of a table that was read already."""
        new = NewValues()
        score = self.score_rows(table, new)
        new.tell(self.missing)
        return score

    def score_rows(self, table: Table, new: NewValues | None = None) -> FloatArray:
        """Return the score of each row without a word on values that no row of the fit had; `new` takes them down."""
        score = np.full(table.n_rows, self.intercept)
        for contribution in self._contributions(table, NewValues() if new is None else new, centred=False):
            score += contribution
        return score

    def contributions(self, X: Any, *, centred: bool | None = None) -> FloatArray:
        """Return what each feature, and each pair with products, adds to the score of each row.

        Parameters
        ----------
        X : array-like or data frame
            The rows.
        centred : bool, optional
            Whether contributions are measured against the mean of their feature over the rows of the fit, by the
            weights of the fit; else they are sums of coefficients. By default they are centred where the model knows
            those rows: not where it was written by hand, or read from a file before format 3.

        Returns
        -------
        ndarray of shape (n_rows, n_parts)
            A column for each of `parts`: the features in use and, behind them, pairs. With
            `baseline(centred=centred)`, a row sums up to its score.
        """
        table, new = read_table(X), NewValues()
        columns = list(self._contributions(table, new, centred=centred))
        new.tell(self.missing)
        return np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))

    def to_frame(self) -> Any:
        """Return the terms as a frame of pandas, of polars where pandas is not installed, or as an Arrow table.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            By term: feature, condition in words, coef, standard_error, n_rows, n_others and n_events (see `Standing`).
        """
        names = ("feature", "condition", "coef", "standard_error", "n_rows", "n_others", "n_events")
        rows = self.rows()
        return make_frame({name: [row[name] for row in rows] for name in names})

    def rows(self) -> list[dict[str, Any]]:
        """Return each term as a dict of what `to_frame` has in its columns."""
        out = []
        for term in self.terms:
            row = {"feature": part_name(term.part), "condition": term.text(), "coef": term.coef}
            for name in ("standard_error", "n_rows", "n_others", "n_events"):
                row[name] = None if term.standing is None else getattr(term.standing, name)
            out.append(row)
        return out

    def summary(self) -> str:
        """Write the terms as a table: what each adds, its standard error, its rows and the events among them.

        A ramp adds so much for each unit up to its knot; its rows are those below the knot. Standard errors are as if
        the terms had been given and not chosen: too small. `stability` of an estimator searches again and again, and
        says which terms come back.
        """
        return aligned(*summary_table(self))

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
                "missing": self.missing,
                "seen": self._seen_to_json(),
                **({"seen_pairs": self._seen_pairs_to_json()} if self.seen_pairs else {}),
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

    def _seen_to_json(self) -> dict[str, Any]:
        return {name: self.seen[name].content(schema.value_to_json) for name in self.features if name in self.seen}

    def _seen_pairs_to_json(self) -> list[dict[str, Any]]:
        return [{"features": list(pair), "shares": shares.tolist()} for pair, shares in self.seen_pairs.items()]

    def _contributions(self, table: Table, new: NewValues, *, centred: bool | None) -> Iterator[FloatArray]:
        """Return what each part adds to the score of each row; take down what no row of the fit had."""
        place = dict(zip(self.features, positions(self.features, self.feature_names, table), strict=True))
        paired = {name for pair in self.pairs for name in pair}
        kept: dict[str, FloatArray] = {}  # columns that several parts ask for

        def numbers(name: str) -> FloatArray:
            if name in kept:
                return kept[name]
            source = self.source_of(name)
            out = table.column(place[name]).on_scale(source.scale)
            special = [source.scale.number(value) for value in source.special_values]
            new.note(name, count_new(source.seen, source.scale, special, out))
            if name in paired:
                kept[name] = out
            return out

        for name, shape in self.shape_functions(centred=centred).items():
            yield shape.at(numbers(name))
        for (first, second), pair in self.pair_functions(centred=centred).items():
            yield pair.at(numbers(first), numbers(second))

    def _html_parts(self) -> list[str]:
        header, rows = summary_table(self)
        shown = notebook.table(header, rows, most=notebook.MOST_ROWS)
        return [shown, notebook.folded("As an equation", notebook.verbatim(self.equation()))]

    def __repr__(self) -> str:
        return f"<Model: {self.loss}, {self.n_terms} terms of {len(self.features)} features>"
