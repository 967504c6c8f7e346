"""More than two classes: one model for each class against the rest, and probabilities made to add up to one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._models import notebook
from sparsegam._models.methods import Reports
from sparsegam._models.seen import NewValues
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES


@dataclass(frozen=True)
class OneVsRestModel(Reports):
    """One two-class model per class: its score is high where the class is likely.

    Attributes
    ----------
    models : tuple of Model or LinearModel
        Class against rest, in the order of `classes`.
    classes : tuple
        The labels.
    """

    models: tuple[Any, ...]
    classes: tuple[Any, ...]

    @property
    def loss(self) -> str:
        """Loss the models were fitted with."""
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
        return np.array([model.coef for model in self.models])

    @property
    def terms(self) -> tuple[Any, ...]:
        """Terms of each model."""
        return tuple(model.terms for model in self.models)

    @property
    def n_terms(self) -> int:
        """Number of terms of all models together."""
        return sum(model.n_terms for model in self.models)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of each row, one column per class."""
        return self.score_table(self.read(X))

    def read(self, X: Any) -> Any:
        """Look at rows as the models do, without copying them."""
        return self.models[0].read(X)

    def score_table(self, table: Any) -> FloatArray:
        """Return the scores of each row of a table that was read already; what only came later is said once."""
        new = NewValues()
        scores = self.score_rows(table, new)
        new.tell(self.missing)
        return scores

    def score_rows(self, table: Any, new: NewValues) -> FloatArray:
        """Return the scores of each row; values that no row of the fit had are taken down."""
        return np.column_stack([model.score_rows(table, new) for model in self.models])

    @property
    def missing(self) -> str:
        """How values are scored that no row of the fit had; linear models have no rule for it."""
        return str(getattr(self.models[0], "missing", "last"))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, one column per class."""
        return self.probabilities(self.decision_function(X))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Turn scores into probabilities: each model's own, divided by their sum.

        The models know nothing of each other, so their probabilities need not add up to one; dividing makes them do so
        and leaves their order as it is. Taken by logarithms, so that a row all models refuse is still well defined.
        """
        logs = -np.logaddexp(0.0, -LOSSES[self.loss].slope * scores)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        out: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        labels: NDArray[Any] = np.array(self.classes)[self.decision_function(X).argmax(axis=1)]
        return labels

    def equation(self, **options: Any) -> str:
        """Write the models as text, one after the other."""
        texts = [model.equation(**options) for model in self.models]
        return "\n\n".join(f"# {label} against the rest\n{t}" for label, t in zip(self.classes, texts, strict=True))

    def summary(self) -> str:
        """Write the terms of additive models as tables, one after the other."""
        tables = [model.summary() for model in self.models]
        return "\n\n".join(f"# {label} against the rest\n{t}" for label, t in zip(self.classes, tables, strict=True))

    def to_frame(self) -> Any:
        """Return the terms of additive models as one frame, with the class of each; see `Model.to_frame`."""
        rows = [
            {"class": label} | row
            for label, model in zip(self.classes, self.models, strict=True)
            for row in model.rows()
        ]
        names = rows[0] if rows else ("class",)
        return make_frame({name: [row[name] for row in rows] for name in names})

    def __str__(self) -> str:
        return self.equation()

    def _repr_html_(self) -> str:
        parts = zip(self.classes, self.models, strict=True)
        shown = [notebook.folded(f"{label} against the rest", *model._html_parts()) for label, model in parts]
        return notebook.fragment(notebook.note(repr(self).strip("<>")), *shown)

    def __repr__(self) -> str:
        return f"<OneVsRestModel: {self.loss}, {len(self.classes)} classes, {self.n_terms} terms>"
