"""Linear models: an intercept and a few coefficients, evaluated with NumPy, printed and stored as JSON."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.matrix import NumericMatrix, read_matrix
from sparsegam._models import display
from sparsegam._models.input_columns import check_width, positions
from sparsegam._models.json import label_to_json, load
from sparsegam._models.scoring import ScoringModel
from sparsegam._models.training import NewValues
from sparsegam.arrays import FloatArray
from sparsegam.checks import is_number, shown
from sparsegam.losses import LOSSES

FORMAT = "sparsegam.LinearModel"
VERSION = 1
PARTS = {"loss", "classes", "intercept", "columns", "weights", "n_features", "feature_names"}
CENTRED = {"centres", "centre_score"}
MOST_COLUMNS = 2**31 - 1


@dataclass(frozen=True)
class LinearModel(ScoringModel):
    """Linear model: score(x) = intercept + sum of coefficient times value over the columns in use.

    Attributes
    ----------
    intercept : float
        Score of a row whose columns in use are all zero; inexact if the model has centres.
    columns : tuple of int
        Positions of the columns in use, ascending.
    weights : tuple of float
        Their coefficients.
    n_features : int
        Number of columns of the training matrix, used or not.
    loss : {"logistic", "exponential", "squared", "squared_hinge"}
        Loss of the fit; it determines the probability that belongs to a score.
    classes : tuple or None
        The negative and the positive class label. None for a regression.
    feature_names : tuple of str or None
        All columns of the training matrix; None if they had no names.
    centres : tuple of float
        The number subtracted from the values of each column in use; empty for nearly all models. Needed for columns
        whose mean is large relative to their variation, which would otherwise be lost to rounding.
    centre_score : float
        Score at the centres, if the model has them.
    """

    intercept: float
    columns: tuple[int, ...]
    weights: tuple[float, ...]
    n_features: int
    loss: str
    classes: tuple[Any, Any] | None = None
    feature_names: tuple[str, ...] | None = None
    centres: tuple[float, ...] = ()
    centre_score: float = 0.0

    @property
    def n_terms(self) -> int:
        """Number of columns in use."""
        return len(self.columns)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns in use; x0, x1, ... if they have none."""
        return tuple(f"x{j}" if self.feature_names is None else self.feature_names[j] for j in self.columns)

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """Name and coefficient of each column in use."""
        return tuple(zip(self.features, self.weights, strict=True))

    @property
    def coef(self) -> FloatArray:
        """Coefficients of all columns; zero for those not in use."""
        coef = np.zeros(self.n_features)
        coef[list(self.columns)] = self.weights
        return coef

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row.

        Parameters
        ----------
        X : array-like, scipy.sparse matrix or data frame
            Data frames are read by column name if the model has names, and need only the columns in use; arrays and
            sparse matrices are read by position.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-odds (logistic loss), half the log-odds (exponential loss), or predictions (squared loss).
        """
        return self.score_table(self.read(X))

    def read(self, X: Any) -> NumericMatrix:
        """Convert data to the input type of the model, without a copy."""
        return read_matrix(X)

    def score_table(self, matrix: NumericMatrix) -> FloatArray:
        """Return the score of each row of a matrix."""
        return self.score_rows(matrix)

    def score_rows(self, matrix: NumericMatrix, new: NewValues | None = None) -> FloatArray:
        """Return the score of each row; `new` is unused, as linear models have no new values."""
        columns, coef = self._positions(matrix), np.array(self.weights, dtype=np.float64)
        if self.centres:
            return self.centre_score + matrix.dot(columns, coef, np.array(self.centres))
        return self.intercept + matrix.dot(columns, coef)

    def values_in_use(self, matrix: NumericMatrix) -> FloatArray:
        """Return the columns in use."""
        return matrix.dense(self._positions(matrix))

    def equation(self, *, digits: int = 4) -> str:
        """Return the model as text, one line per column in use.

        Parameters
        ----------
        digits : int, default=4
            Number of significant digits of the coefficients.

        Returns
        -------
        str
            The equation.
        """
        centres = self.centres or (0.0,) * self.n_terms
        lines = [
            f"    {weight:+.{digits}g} x " + (f"({feature} - {centre!r})" if centre else feature)
            for (feature, weight), centre in zip(self.terms, centres, strict=True)
        ]
        return self._equation(self.centre_score if self.centres else self.intercept, lines, digits)

    def to_json(self) -> str:
        """Return the model as JSON, which `from_json` reads without loss."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "loss": self.loss,
            "classes": None if self.classes is None else [label_to_json(label) for label in self.classes],
            "intercept": self.intercept,
            "columns": self.columns,
            "weights": self.weights,
            "n_features": self.n_features,
            "feature_names": self.feature_names,
        }
        if self.centres:
            content |= {"centres": self.centres, "centre_score": self.centre_score}
        return json.dumps(content, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "LinearModel":
        """Read a model from the output of `to_json`; raise ValueError for other content."""
        content = load(text)
        problem = _wrong_with(content)
        if problem:
            msg = f"not a sparsegam linear model: {problem}."
            raise ValueError(msg)
        names, classes = content["feature_names"], content["classes"]
        return cls(
            intercept=float(content["intercept"]),
            columns=tuple(content["columns"]),
            weights=tuple(map(float, content["weights"])),
            n_features=content["n_features"],
            loss=content["loss"],
            classes=None if classes is None else (classes[0], classes[1]),
            feature_names=None if names is None else tuple(names),
            centres=tuple(map(float, content.get("centres", ()))),
            centre_score=float(content.get("centre_score", 0.0)),
        )

    def _positions(self, matrix: NumericMatrix) -> NDArray[np.int64]:
        """Return the positions of the columns in use: by name if model and data have names."""
        if self.feature_names is None or matrix.names is None:
            check_width(matrix, self.n_features)
            return np.array(self.columns, dtype=np.int64)
        return np.array(positions(self.features, self.feature_names, matrix), dtype=np.int64)

    def _html_parts(self) -> list[str]:
        rows = [["(intercept)", f"{self.intercept:+.4g}"], *([name, f"{coef:+.4g}"] for name, coef in self.terms)]
        return [display.table(["column", "coefficient"], rows, n_text=1, most=display.MOST_ROWS)]

    def __repr__(self) -> str:
        return f"<LinearModel: {self.loss}, {self.n_terms} of {self.n_features} columns>"


def _wrong_with(content: Any) -> str:
    """Return what is wrong with parsed JSON, or an empty string if it is a valid model."""
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        return f"format must be {FORMAT!r} and version {VERSION}"
    parts = content.keys() - {"format", "version"}
    if parts not in (PARTS, PARTS | CENTRED):
        return f"its keys must be {sorted(PARTS)}, got {shown(sorted(content))}"
    loss = content["loss"]
    if loss not in tuple(LOSSES) or LOSSES[loss].is_classifier == (content["classes"] is None):
        return f"loss must be one of {tuple(LOSSES)}, and only 'squared' has no classes, got {shown(loss)}"
    return _wrong_labels(content) or _wrong_numbers(content)


def _wrong_labels(content: dict[str, Any]) -> str:
    classes, names, n = content["classes"], content["feature_names"], content["n_features"]
    if classes is not None and not (_list_of(classes, str | int | float) and len(classes) == 2):
        return f"classes must be two labels, got {shown(classes)}"
    if classes is not None and not all(isinstance(label, str | bool) or is_number(label) for label in classes):
        return f"classes must be texts, finite numbers or booleans, got {shown(classes)}"
    if not _is_whole(n) or n > MOST_COLUMNS or (names is not None and not (_list_of(names, str) and len(names) == n)):
        wanted = f"an integer up to {MOST_COLUMNS}, and feature_names a list of n_features names or null"
        return f"n_features must be {wanted}, got n_features={shown(n)}"
    return ""


def _wrong_numbers(content: dict[str, Any]) -> str:
    columns, weights, n = content["columns"], content["weights"], content["n_features"]
    if not isinstance(columns, list) or not all(_is_whole(j) and j < n for j in columns):
        return f"columns must be positions below {n}, got {shown(columns)}"
    numbers: list[Any] = [content["intercept"], *weights] if isinstance(weights, list) else [None]
    finite = all(map(is_number, numbers))
    if not finite or len(set(columns)) < len(columns) or len(weights) != len(columns):
        return "intercept and weights must be finite numbers, one weight per column"
    if "centres" in content:
        centres = content["centres"]
        numbers = [content["centre_score"], *centres] if isinstance(centres, list) else [None]
        if not all(map(is_number, numbers)) or len(centres) != len(columns):
            return "centres and centre_score must be finite numbers, one centre per column"
    return ""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _list_of(values: Any, kind: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)
