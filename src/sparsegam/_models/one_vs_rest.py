"""Multiclass models: one binary model for each class against the rest."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._models import display
from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.scoring import Reports
from sparsegam._models.training import NewValues
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES


@dataclass(frozen=True)
class OneVsRestModel(Reports):
    """Binary models of each class against the rest; the score of a model increases with the probability of its class.

    Attributes
    ----------
    models : tuple of Model or LinearModel
        The models, in the order of `classes`.
    classes : tuple
        The labels.
    """

    models: tuple[Model, ...] | tuple[LinearModel, ...]
    classes: tuple[Any, ...]

    @property
    def loss(self) -> str:
        """Loss of the models."""
        return str(self.models[0].loss)

    @property
    def feature_names(self) -> Any:
        """All columns of the training data."""
        return self.models[0].feature_names

    @property
    def intercept(self) -> FloatArray:
        """Intercept of each model."""
        return np.array([model.intercept for model in self.models])

    @property
    def coef(self) -> FloatArray:
        """Coefficients of linear models, a row per class."""
        return np.array([model.coef for model in self.models if isinstance(model, LinearModel)])

    @property
    def terms(self) -> tuple[Any, ...]:
        """Terms of each model."""
        return tuple(model.terms for model in self.models)

    @property
    def n_terms(self) -> int:
        """Total number of terms of all models."""
        return sum(model.n_terms for model in self.models)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of each row, one column per class."""
        return self.score_table(self.read(X))

    def read(self, X: Any) -> Any:
        """Convert data to the input type of the models, without a copy."""
        return self.models[0].read(X)

    def score_table(self, table: Any) -> FloatArray:
        """Return the scores of each row of a table, with a single warning about new values."""
        new = NewValues()
        scores = self.score_rows(table, new)
        new.tell(self.missing)
        return scores

    def score_rows(self, table: Any, new: NewValues) -> FloatArray:
        """Return the scores of each row without warnings; `new` collects the counts of new values."""
        return np.column_stack([model.score_rows(table, new) for model in self.models])

    @property
    def missing(self) -> str:
        """How values that did not occur in training are scored; "last" for linear models, which have no such values."""
        first = self.models[0]
        return first.missing if isinstance(first, Model) else "last"

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, one column per class."""
        return self.probabilities(self.decision_function(X))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities of the models, normalised to sum to one, for the scores of each row.

        The models are fitted independently, so that their probabilities need not add up to one. Logarithms keep the
        result defined if all probabilities underflow.
        """
        logs = -np.logaddexp(0.0, -LOSSES[self.loss].slope * scores)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        out: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        labels: NDArray[Any] = np.array(self.classes)[self.decision_function(X).argmax(axis=1)]
        return labels

    def equation(self, **options: Any) -> str:
        """Return the models as text, one after the other."""
        texts = [model.equation(**options) for model in self.models]
        return "\n\n".join(f"# {label} against the rest\n{t}" for label, t in zip(self.classes, texts, strict=True))

    def summary(self) -> str:
        """Return the terms of additive models as tables, one after the other."""
        tables = [model.summary() for model in self._additive_models()]
        return "\n\n".join(f"# {label} against the rest\n{t}" for label, t in zip(self.classes, tables, strict=True))

    def to_frame(self) -> Any:
        """Return the terms of additive models as one data frame with a column for the class; see `Model.to_frame`."""
        rows = [
            {"class": label} | row
            for label, model in zip(self.classes, self._additive_models(), strict=True)
            for row in model.rows()
        ]
        names = rows[0] if rows else ("class",)
        return make_frame({name: [row[name] for row in rows] for name in names})

    def _additive_models(self) -> list[Model]:
        models = [model for model in self.models if isinstance(model, Model)]
        if len(models) < len(self.models):
            msg = "only additive models have tables of terms, but these are linear models: use their coef."
            raise TypeError(msg)
        return models

    if not TYPE_CHECKING:  # type checkers shall still report unknown attributes

        def __getattr__(self, name: str) -> NoReturn:
            """Raise AttributeError, and name the remedy for methods that only models of two classes have."""
            msg = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_") and hasattr(Model, name):
                msg = (
                    f"a model of more than two classes has no {name!r}: use that of each of its models against the "
                    f"rest, such as model_.models[0].{name}."
                )
            raise AttributeError(msg)

    def __str__(self) -> str:
        return self.equation()

    def _repr_html_(self) -> str:
        parts = zip(self.classes, self.models, strict=True)
        shown = [display.folded(f"{label} against the rest", *model._html_parts()) for label, model in parts]
        return display.fragment(display.note(repr(self).strip("<>")), *shown)

    def __repr__(self) -> str:
        return f"<OneVsRestModel: {self.loss}, {len(self.classes)} classes, {self.n_terms} terms>"
