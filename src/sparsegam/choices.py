"""Types of options: editors complete their values, and type checkers know them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from numpy.typing import NDArray

Auto = Literal["auto"]
Loss = Literal["logistic", "exponential", "squared", "squared_hinge"]
ClassLoss = Literal["logistic", "exponential"]
Lambda0 = float | Literal["auto", "aic", "bic"]
Lambda2 = float | Auto
Lambda2Choice = Lambda2 | Sequence[float] | NDArray[Any]
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
RowsPerBin = int | Auto
Repeats = int | Auto
Categorical = Auto | Sequence[Any] | NDArray[Any]
SpecialValues = Sequence[Any] | NDArray[Any] | Mapping[Any, Sequence[Any]] | None
Direction = Literal["increasing", "decreasing"] | int | None
Monotone = Mapping[Any, Direction] | Mapping[Any, int] | Sequence[Direction] | NDArray[Any] | None
Shape = Literal["steps", "ramps", "both"]
Shapes = Shape | Mapping[Any, Shape]
ShapesChoice = Shapes | Sequence[Shapes]
Hierarchy = Literal["weak", "strong"]
Missing = Literal["mean", "error", "last"]
Search = Literal["exchange", "swap"]
Cuts = Literal["auto", "none", "linear", "quadratic", "selfconcordant"]
Order = Literal["dynamic", "sequential"]
Rule = Literal["steady", "best", "one_se"]
SampleMethod = Literal["half", "bootstrap"]
DecimalSign = Literal["auto", ".", ","]
"""Decimal sign of text files; "auto" recognises decimal commas where a comma does not separate fields."""
Dialect = Literal["duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql"]
PointsMethod = Literal["pdo", "min_max", "plain", "small"]
PointsDirection = Literal["higher_is_safer", "higher_is_riskier"]
Baseline = Literal["mean", "median", "max", "population"]
