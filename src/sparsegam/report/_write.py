"""Puts the content of a report into its page: template, style and script become one file that asks for no other."""

import json
import math
import os
from collections.abc import Mapping
from html import escape
from pathlib import Path as FilePath
from typing import Any

from sparsegam._io.writing import write_atomically
from sparsegam._models.additive import Model
from sparsegam._models.linear import LinearModel
from sparsegam._models.multiclass import OneVsRestModel
from sparsegam._search.path import Path
from sparsegam.deploy import Scorecard
from sparsegam.inspection import Stability
from sparsegam.report._content import content
from sparsegam.report._data import Material, Notes, Sample

SCRIPTS = ("make.js", "form.js", "change.js", "shapes.js", "pairs.js", "worth.js", "report.js")


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
    """Write a report on a model: one HTML file that opens anywhere and asks for nothing from outside.

    Parameters
    ----------
    file : str or path-like
        The file to write; it appears whole or not at all.
    model : Model, LinearModel or OneVsRestModel
        The model. Of more than two classes, the report has a page for each class against the rest.
    X, y : array-like or data frame, and array-like, optional
        The rows that the model was fitted to. Without them the report has the equation, the shape functions and the
        scoring form, but no densities, metrics, frontier or alternatives.
    X_test, y_test : array-like or data frame, and array-like, optional
        Rows to measure the model on; without them it is measured on X and y, and the report says so.
    title : str
        Heading of the report.
    settings : mapping, optional
        Options that the model was fitted with; estimators pass their parameters. They are printed, and the frontier and
        the alternatives are searched under them.
    path : Path, optional
        The frontier of X and y, where it is known already; searched otherwise.
    sample_weight : array-like, optional
        Weights of the rows of X in the search of frontier and alternatives.
    stability : Stability, optional
        What `stability(X, y)` of the estimator returned, to be shown.
    labels : mapping of str to str or (str, str), optional
        Names of features for readers, or names and units: `{"dti": ("Debt to income", "%")}`.
    groups : sequence of str or mapping of str to array-like, optional
        Groups of the measured rows to look at one by one: columns of them, or what every row is.
    about : mapping of str to str, optional
        Titles and texts at the top: intended use, author, data, limits.
    scorecard : Scorecard, optional
        The same model in points, to be shown with its bands of risk.

    Returns
    -------
    pathlib.Path
        The file.
    """
    notes = Notes(labels or {}, groups, about or {}, scorecard)
    notes.check(_checked(model).feature_names or model.features)
    material = Material(
        model=_checked(model),
        title=title,
        train=Sample.of(X, y, model.read),
        test=Sample.of(X_test, y_test, model.read),
        settings=settings or {},
        path=path,
        sample_weight=sample_weight,
        stability=stability,
        notes=notes,
    )
    return write_atomically(file, page(content(material)))


def _checked(model: Any) -> Any:
    if isinstance(model, Model | LinearModel | OneVsRestModel):
        return model
    msg = f"a report is on an additive or a linear model, got {type(model).__name__}."
    raise ValueError(msg)


def page(parts: Mapping[str, Any]) -> str:
    """Return the HTML of a report; the content cannot end its script element, nor is it ever parsed as HTML."""
    data = json.dumps(_finite(parts), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    fills = {
        "{{title}}": escape(str(parts["title"])),
        "{{style}}": _part("report.css"),
        "{{script}}": _script(),
        "{{content}}": data.replace("<", "\\u003c"),
    }
    head, *rest = _part("report.html").split("{{")
    out = [head]
    for piece in rest:
        name, _, tail = piece.partition("}}")
        out += [fills["{{" + name + "}}"], tail]
    return "".join(out)


def _finite(value: Any) -> Any:
    """Replace what JSON cannot hold, infinities and NaN, by null."""
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _script() -> str:
    """Return the parts of the script as one, whose names nobody outside sees."""
    parts = "\n".join(_part(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _part(name: str) -> str:
    return FilePath(__file__).with_name(name).read_text(encoding="utf-8")
