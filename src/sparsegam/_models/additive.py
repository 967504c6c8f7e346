"""A fitted additive model: an intercept and terms, evaluated with NumPy alone, printed as an equation, kept as JSON."""

import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import NUMBER, Scale, Value
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, read_table
from sparsegam._models import equation, notebook, schema
from sparsegam._models.edits import Edit
from sparsegam._models.evidence import Evidence
from sparsegam._models.functions import (
    Bins,
    FittedFunction,
    ScoreFunction,
    bins_of,
    feature_function,
    joint_shares,
    pair_function,
)
from sparsegam._models.layout import aligned
from sparsegam._models.methods import Deployable, Viewable
from sparsegam._models.profile import Counted, Profile
from sparsegam._models.scoring import Scores
from sparsegam._models.seen import RULES, NewValues, Seen
from sparsegam._models.summary import summary_table
from sparsegam._models.terms import Clause, Condition, Part, Term, part_name
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_boolean, check_choice
from sparsegam.losses import LOSSES
from sparsegam.parameters import documented


@dataclass(frozen=True)
class Model(Scores, Deployable, Viewable):
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
        for pair in self.seen_pairs:
            found, shares = tuple(map(len, self.pair_bins(pair))), self.seen_pairs[pair]
            if shares.shape != found:
                msg = f"seen_pairs of {part_name(pair)!r} must have a share for each bin, {found}, got {shares.shape}."
                raise ValueError(msg)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.terms)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of the features in use, in the order of the table."""
        used = {name for term in self.terms for name in term.features}
        return tuple(name for name in self.feature_names if name in used)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What the score is the sum of: features with terms of their own, in the order of the table, then pairs."""
        alone = {term.feature for term in self.terms if not term.is_product}
        return (*(name for name in self.feature_names if name in alone), *self.pairs)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of features that have products."""
        return tuple(dict.fromkeys((t.feature, t.also.feature) for t in self.terms if t.also is not None))

    def unknown_parts(self) -> list[str]:
        """Return of which features and pairs the model does not know the rows of the fit."""
        features = [name for name in self.features if name not in self.seen]
        return features + [part_name(pair) for pair in self.pairs if pair not in self.seen_pairs]

    def baseline(self, *, centred: bool | None = None) -> float:
        """Return where contributions start: at the mean score of the rows of the fit, or at the intercept.

        Parameters
        ----------
        centred : bool, optional
            As in `contributions`.

        Returns
        -------
        float
            The score of a row whose contributions are all zero.
        """
        if not self.is_centred(centred=centred):
            return self.intercept
        return math.fsum([self.intercept, *(function.mean for function in self._functions.values())])

    def is_centred(self, *, centred: bool | None = None) -> bool:
        """Tell whether contributions are centred, as asked or, for None, where the model knows the rows of its fit."""
        unknown = self.unknown_parts()
        if centred is None:
            return not unknown
        check_boolean("centred", centred)
        if centred and unknown:
            msg = (
                f"centred=True needs the mean of column {unknown[0]!r} over the rows of the fit, which the model does "
                "not know: use centred=False, or fit the model again."
            )
            raise ValueError(msg)
        return centred

    @cached_property
    def _functions(self) -> dict[Part, FittedFunction]:
        """The functions that the terms add up to, in the order of `parts`; with the intercept they are the score."""
        terms: dict[Part, list[Term]] = {}
        for term in self.terms:
            terms.setdefault(term.part, []).append(term)
        out: dict[Part, FittedFunction] = {}
        for part in self.parts:
            if isinstance(part, str):
                found = feature_function(terms[part], self._bins(part, [term.condition for term in terms[part]]))
            else:
                found = pair_function(terms[part], self.pair_bins(part), self.seen_pairs.get(part))
            # Exports cannot refuse a row, so missing="error" gives new values the mean as well.
            out[part] = found if self.missing == "last" else found.with_mean_where_new()
        return out

    @cached_property
    def _centred_functions(self) -> dict[Part, FittedFunction]:
        return {part: function.shifted(-function.mean) for part, function in self._functions.items()}

    def functions(self, *, centred: bool | None = False) -> dict[Part, FittedFunction]:
        """Return the function of each of `parts`; see `shape_functions` for `centred`."""
        return self._centred_functions if self.is_centred(centred=centred) else self._functions

    @cached_property
    def score_function(self) -> ScoreFunction:
        """The model as a sum of functions."""
        return ScoreFunction(
            base=self.intercept,
            functions=tuple(self._functions.values()),
            feature_names=self.feature_names,
            classes=None if self.classes is None else (_plain(self.classes[0]), _plain(self.classes[1])),
            slope=LOSSES[self.loss].slope,
            missing=self.missing,
        )

    def shape_functions(self, *, centred: bool | None = False) -> dict[str, FittedFunction]:
        """Return the contribution of each feature to the score, as a function of its value.

        Parameters
        ----------
        centred : bool or None, default=False
            Whether the functions have mean zero over the training rows, as in `contributions`; else their sum and the
            intercept are the score.

        Returns
        -------
        dict of str to FittedFunction
            By feature, in the order of `features`, without features that occur in interactions only.
        """
        functions = self.functions(centred=centred)
        return {part: function for part, function in functions.items() if isinstance(part, str)}

    def pair_functions(self, *, centred: bool | None = False) -> dict[tuple[str, str], FittedFunction]:
        """Return the joint contribution of each pair of features, in addition to that of each feature.

        Parameters
        ----------
        centred : bool or None, default=False
            As in `shape_functions`.

        Returns
        -------
        dict of pair of str to FittedFunction
            By pair, in the order of `pairs`.
        """
        functions = self.functions(centred=centred)
        return {part: function for part, function in functions.items() if not isinstance(part, str)}

    def _bins(self, name: str, conditions: Iterable[Condition]) -> Bins:
        special, scale = self.special_values.get(name, ()), self.scales.get(name, NUMBER)
        return bins_of(name, conditions, special, scale, self.seen.get(name))

    def pair_bins(self, pair: tuple[str, str]) -> tuple[Bins, Bins]:
        """Return the bins of both features of a pair."""
        terms = [term for term in self.terms if term.part == pair]
        first, second = (self._bins(name, [term.clauses[i].condition for term in terms]) for i, name in enumerate(pair))
        return first, second

    def scale_of(self, name: str) -> Scale:
        """Return the scale of a feature."""
        return self.scales.get(name, NUMBER)

    def importances(self, rows: Counted) -> dict[Part, float]:
        """Return the mean absolute deviation of each contribution from its mean, over counted rows."""
        bins, cells = rows.bins(), rows.cells()
        out: dict[Part, float] = {}
        for part, function in self._functions.items():
            if isinstance(part, str):
                numbers, counts = bins[part]
                out[part] = importance(function.at(numbers), counts)
            else:
                out[part] = importance(function.contributions, cells[part])
        return out

    def standard_errors(self, part: Part, *numbers: FloatArray) -> FloatArray | None:
        """Return the standard error of the contribution of each row, minus its mean over the training rows.

        Parameters
        ----------
        part : str or pair of str
            The feature or pair.
        *numbers : ndarray
            The values of each feature, as numbers on its scale.

        Returns
        -------
        ndarray or None
            None if the covariance of the coefficients is unknown.
        """
        if self.evidence is None:
            return None
        function, names = self._functions[part], (part,) if isinstance(part, str) else part
        terms = [term for term in self.terms if term.part == part]
        means = self.evidence.shares(self.terms, part)
        for i, term in enumerate(terms):
            if term.condition.is_ramp:
                sample = function.sample
                means[i] = (
                    0.0
                    if sample is None
                    else math.fsum((sample.shares * self.column_of(term, {names[0]: sample.numbers[0]})).tolist())
                )
        columns = dict(zip(names, numbers, strict=True))
        values = np.column_stack([self.column_of(term, columns) for term in terms])
        return self.evidence.errors_of(part, values.astype(np.float64), means)

    def bin_errors(self, pair: tuple[str, str]) -> FloatArray | None:
        """Return `standard_errors` of each bin of a pair; NaN for new values, whose contribution is a mean by rule."""
        axes = self._functions[pair].axes
        first, second = np.meshgrid(*(axis.representatives() for axis in axes), indexing="ij")
        errors = self.standard_errors(pair, first.ravel(), second.ravel())
        if errors is None:
            return None
        out = errors.reshape(first.shape)
        if self.missing != "last":
            out[axes[0].is_new, :] = out[:, axes[1].is_new] = np.nan
        return out

    def column_of(self, term: Term, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return a term before its coefficient in each row: 0 or 1, or how far a value is below the knot of a ramp."""
        if term.condition.is_ramp:
            unit = replace(term, coef=1.0)
            return feature_function([unit], self._bins(term.feature, [term.condition])).at(columns[term.feature])
        holds = np.logical_and.reduce([self._holds(clause, columns[clause.feature]) for clause in term.clauses])
        return np.asarray(holds, dtype=np.float64)

    def _holds(self, clause: Clause, numbers: FloatArray) -> NDArray[np.bool_]:
        bins = self._bins(clause.feature, [clause.condition])
        return bins.holds(clause.condition)[bins.bin_of(numbers)]

    def remembering(self, training: Counted | Profile | None) -> "Model":
        """Return the same model with what it shall remember of the rows of its fit."""
        out = copy(self)
        object.__setattr__(out, "training", training)
        return out

    def keeping(self, terms: Iterable[Term]) -> "Model":
        """Return the model with some of its terms, their coefficients as given; it still knows the rows of its fit."""
        bare = replace(self, terms=tuple(terms), missing="last", seen_pairs={})
        shares = {pair: bare._regrouped(self._functions[pair]) for pair in bare.pairs if pair in self.seen_pairs}
        return replace(bare, missing=self.missing, seen_pairs=shares)

    def _regrouped(self, old: FittedFunction) -> FloatArray:
        """Return the share of the training rows in each pair of bins, given a function with at least these bins."""
        sample = old.sample
        if sample is None:
            return np.zeros(0)
        return joint_shares(self.pair_bins(old.pair), (sample.numbers[0], sample.numbers[1]), sample.shares)

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
        return self.score_function.score_rows(table, NewValues() if new is None else new)

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
        functions = tuple(self.functions(centred=centred).values())
        columns = list(replace(self.score_function, functions=functions).contributions(table, new))
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

    def _html_parts(self) -> list[str]:
        header, rows = summary_table(self)
        shown = notebook.table(header, rows, most=notebook.MOST_ROWS)
        return [shown, notebook.folded("As an equation", notebook.verbatim(self.equation()))]

    def __repr__(self) -> str:
        return f"<Model: {self.loss}, {self.n_terms} terms of {len(self.features)} features>"


def importance(contributions: FloatArray, counts: FloatArray | None = None) -> float:
    """Return the mean absolute deviation of contributions from their mean, each counted `counts` times."""
    if not contributions.size:
        return 0.0
    mean = np.average(contributions, weights=counts)
    return float(np.average(np.abs(contributions - mean), weights=counts))


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
