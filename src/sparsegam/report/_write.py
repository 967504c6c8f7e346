"""Write a report: fill the page template with style, scripts and content."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path as FilePath
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparsegam._data.table import Table
from sparsegam._fit.estimators import latest_fit
from sparsegam._io.writing import write_atomically
from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.one_vs_rest import OneVsRestModel
from sparsegam._search.path import Path
from sparsegam.deploy import Scorecard
from sparsegam.inspection import Stability
from sparsegam.report._content import report_content
from sparsegam.report._data import Annotations, Dataset, Fit, ReportData

SCRIPTS = (
    "elements.js",
    "form.js",
    "counterfactual.js",
    "shapes.js",
    "interactions.js",
    "performance.js",
    "sections.js",
)


def write_report(  # noqa: PLR0913
    file: str | os.PathLike[str],
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    title: str = "A sparse model",
    settings: Mapping[str, Any] | None = None,
    path: Path[Model] | None = None,
    sample_weight: Any = None,
    stability: Stability | None = None,
    labels: Mapping[str, str | tuple[str, str]] | None = None,
    groups: Any = None,
    about: Mapping[str, str] | None = None,
    scorecard: Scorecard | None = None,
) -> FilePath:
    """Write a report on a model as one self-contained HTML file.

    Parameters
    ----------
    file : str or path-like
        The file to write. It is replaced only after the report is complete.
    model : Model, LinearModel, OneVsRestModel or fitted estimator
        The model. For more than two classes, the report has a page for each class against the rest. After the fit of an
        estimator, a report on the same X reuses its problem and path instead of reading and searching the data again.
    X : array-like or data frame of shape (n_samples, n_features), optional
        The training data. Without them, the report contains the equation, the shape functions and the scoring form,
        but no distributions, performance, models of other sizes or alternatives.
    y : array-like of shape (n_samples,), optional
        The target of the training data.
    X_test : array-like or data frame of shape (n_samples, n_features), optional
        Test data to measure the performance on. By default, the training data are used, as stated in the report.
    y_test : array-like of shape (n_samples,), optional
        The target of the test data.
    title : str, default="A sparse model"
        Heading of the report.
    settings : mapping, optional
        Options of the fit. They are listed, and used to find models of other sizes and alternatives. By default the
        parameters of an estimator.
    path : Path, optional
        The models of other sizes, to avoid searching them.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the training data in the search of models of other sizes and alternatives. The performance is not
        weighted, and the report says so.
    stability : Stability, optional
        The result of the `stability` method of the estimator, to show the selection frequencies of the terms.
    labels : mapping of str to str or (str, str), optional
        Labels of features, or labels and units: `{"dti": ("Debt to income", "%")}`.
    groups : sequence of str or mapping of str to array-like, optional
        Subgroups to show the performance of: names of columns, or values for each row.
    about : mapping of str to str, optional
        Titles and texts for the top of the report, such as intended use, author, data and limitations.
    scorecard : Scorecard, optional
        The model converted to points, to show it with the risk of each total. A scorecard of another model is refused.

    Returns
    -------
    pathlib.Path
        The file.
    """
    fit = Fit(settings or {}, path)
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
        known = Fit.of(model, latest_fit(model, X))
        fit = replace(known, settings=settings or known.settings, path=path or known.path)
        model = model.model_
    if not isinstance(model, Model | LinearModel | OneVsRestModel):
        msg = f"model must be an additive or a linear model or a fitted estimator, got {type(model).__name__}."
        raise ValueError(msg)
    _check_scorecard(scorecard, model)
    annotations = Annotations(labels or {}, groups, about or {}, scorecard)
    annotations.check(model.feature_names or (model.features if isinstance(model, LinearModel) else ()))
    known_features = None if fit.result is None else fit.result.data.features
    data = ReportData(
        model=model,
        title=title,
        train=Dataset.read(known_features if isinstance(known_features, Table) else X, y, model.read),
        test=Dataset.read(X_test, y_test, model.read),
        fit=fit,
        sample_weight=sample_weight,
        stability=stability,
        annotations=annotations,
    )
    return write_atomically(file, render_page(report_content(data)))


def _check_scorecard(scorecard: Scorecard | None, model: Model | LinearModel | OneVsRestModel) -> None:
    """Raise if a scorecard was made from another model than the one of the report."""
    if scorecard is None or scorecard.model is None or scorecard.model == model:
        return
    msg = (
        f"scorecard was made from another model ({scorecard.model!r}) than that of the report ({model!r}): pass "
        "scorecard=model.scorecard(X, y) of this model, or write a report on scorecard.model."
    )
    raise ValueError(msg)


def render_page(content: Mapping[str, Any]) -> str:
    """Return the HTML page with the given content; no text in it can close the script element that contains it."""
    data = json.dumps(_replace_non_finite(content), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    # A function scope keeps the names of the scripts out of the global scope.
    script = "\n".join(_read(name) for name in SCRIPTS)
    values = {
        "title": escape(str(content["title"])),
        "style": _read("report.css"),
        "script": f'"use strict";\n(() => {{\n{script}}})();\n',
        "content": data.replace("<", "\\u003c"),
    }
    head, *rest = _read("report.html").split("{{")
    parts = [head]
    for piece in rest:
        name, _, tail = piece.partition("}}")
        parts += [values[name], tail]
    return "".join(parts)


def _replace_non_finite(value: Any) -> Any:
    """Replace infinities and NaN, which JSON cannot represent, by None."""
    if isinstance(value, Mapping):
        return {key: _replace_non_finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_non_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read(name: str) -> str:
    return FilePath(__file__).with_name(name).read_text(encoding="utf-8")
