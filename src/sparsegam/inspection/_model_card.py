"""Model cards in Markdown: performance, settings, terms, training data, edits, versions and a hash of the model."""

import hashlib
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.equation import lows
from sparsegam._models.functions import FittedFunction, score_function
from sparsegam._models.scoring import target_of
from sparsegam._models.training import RULES
from sparsegam.inspection._drift import training_profile
from sparsegam.inspection._metrics import auc, r_squared
from sparsegam.losses import LOSSES

MARKDOWN = re.compile(r"[\\`*\[\]|!#~]|(?<![a-zA-Z0-9])_|_(?![a-zA-Z0-9])|(?<=[a-z]):(?=//)")
HTML_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
PACKAGES = ("sparsegam", "numpy", "scipy", "scikit-learn")


def model_card(
    model: Model,
    X: Any = None,
    y: Any = None,
    *,
    settings: Mapping[str, Any] | None = None,
    about: Mapping[str, str] | None = None,
) -> str:
    """Write a model card.

    Parameters
    ----------
    model : Model
        The model.
    X : array-like or data frame of shape (n_samples, n_features), default=None
        Data to measure the performance on, preferably test data.
    y : array-like of shape (n_samples,), default=None
        True labels or target values.
    settings : mapping, default=None
        Parameters of the fit, such as `estimator.get_params()`. Parameters that are None are omitted.
    about : mapping of str to str, default=None
        Titles and texts of additional sections, such as intended use, data or limitations.

    Returns
    -------
    str
        The model card as Markdown.

    See Also
    --------
    sparsegam.report.write_report : Write an interactive HTML report.

    Examples
    --------
    >>> from sparsegam import SparseGAMRegressor
    >>> from sparsegam.inspection import model_card
    >>> gam = SparseGAMRegressor(max_terms=1).fit([[1], [2], [3], [4]] * 5, [0.0, 0.0, 6.0, 6.0] * 5)
    >>> print(model_card(gam.model_).splitlines()[2])
    1 terms of 1 out of 1 features, fitted with the squared loss.
    """
    kind = "regression" if model.classes is None else "classifier"
    summary = (
        f"{model.n_terms} terms of {len(model.features)} out of {len(model.feature_names)} features, fitted with the "
        f"{model.loss} loss."
    )
    if model.classes is not None:
        negative, positive = (_escape(str(label)) for label in model.classes)
        summary += f" The positive class is {positive}, the negative class {negative}."
    sections = [f"# Model card: sparse additive {kind}", summary]
    sections += [f"## {title}\n\n{text}" for title, text in (about or {}).items()]
    if X is not None and y is not None:
        sections.append(f"## Performance\n\n{_table(['metric', 'value'], _performance(model, X, y).items())}")
    if settings:
        given = {name: value for name, value in settings.items() if value is not None}
        sections.append(f"## Settings\n\n{_table(['setting', 'value'], given.items())}")
    sections += [f"## Terms\n\n{_contributions(model)}\n\n{_code_block(model.equation())}"]
    sections += [*_term_statistics(model), *_training_data(model)]
    edits = "\n".join(f"{i}. {_escape(str(edit))}" for i, edit in enumerate(model.edits, start=1))
    sections += [f"## Edits\n\n{edits or 'None.'}", f"## Versions\n\n{_versions(model)}"]
    return "\n\n".join(sections) + "\n"


def model_hash(model: Model) -> str:
    """Return the SHA-256 hash of the JSON of a model, including its edits and training distribution."""
    return hashlib.sha256(model.to_json().encode()).hexdigest()


def _performance(model: Model, X: Any, y: Any) -> dict[str, str]:
    table = read_table(X)
    score, target = model.score_table(table), target_of(model, y, table.n_rows)
    if model.classes is None:
        error = f"{np.mean((target - score) ** 2):.6g}"
        return {"rows": str(table.n_rows), "R squared": f"{r_squared(score, target):.4f}", "mean squared error": error}
    event = target > 0
    return {
        "rows": str(table.n_rows),
        f"share of {model.classes[1]}": f"{event.mean():.4f}",
        "AUC": f"{auc(score, event)[0]:.4f}",
        "accuracy": f"{np.mean((score > 0) == event):.4f}",
        "mean predicted probability": f"{model.probabilities(score)[:, 1].mean():.4f}",
        f"{model.loss} loss per row": f"{LOSSES[model.loss].per_row(target, score).mean():.4f}",
    }


def _contributions(model: Model) -> str:
    """Return a table of the contributions of the features, and one for each pair of features with interactions."""
    function = score_function(model)
    rows = []
    for one in function.of_features:
        for (bin_, end, slope), start in zip(one.lines(), one.starts.tolist(), strict=True):
            rows.append((one.name, bin_.label, f"{start:+.4f} to {end:+.4f}" if slope else f"{end:+.4f}"))
    tables = [_table(["feature", "value", "contribution"], rows)]
    return "\n\n".join([*tables, *map(_pair, function.of_pairs)])


def _pair(pair: FittedFunction) -> str:
    down, across = ([bin_.label for bin_ in axis.bins] for axis in pair.axes)
    first, second = pair.pair
    rows = [
        (label, *(f"{value:+.4f}" for value in row))
        for label, row in zip(down, pair.contributions.tolist(), strict=True)
    ]
    title = f"Contribution of {_escape(first)} (down) and {_escape(second)} (across) together:"
    return f"{title}\n\n{_table([first, *across], rows)}"


def _term_statistics(model: Model) -> list[str]:
    if model.statistics is None:
        return []
    rows = [
        (
            term.text(),
            f"{term.coef:+.4g} per unit" if term.condition.is_ramp else f"{term.coef:+.4f}",
            "" if term.standard_error is None else f"{term.standard_error:.4g}",
            "" if term.interval is None else " to ".join(f"{end:+.4g}" for end in term.interval),
            term.n_rows,
            "" if term.n_events is None else term.n_events,
        )
        for term in model.terms
    ]
    note = (
        "Intervals are those of the coefficient without the shrinkage of the ridge and therefore not centred at the "
        "coefficient. Standard errors and intervals ignore that the terms were selected, and are therefore too small."
    )
    notes = [note]
    for name in model.features:
        for low in lows([term for term in model.terms if term.feature == name]):
            notes.append(f"In ramps, values of {_escape(name)} below {low:g} count as {low:g}.")
    header = ["term", "coefficient", "standard error", "95 % interval", "rows", "events"]
    return [f"## Term statistics\n\n{_table(header, rows)}\n\n{' '.join(notes)}"]


def _training_data(model: Model) -> list[str]:
    profile = training_profile(model)
    if profile is None:
        return []
    rows = [(name, f"{kinds['missing']:.1%}", f"{kinds['special']:.1%}") for name, kinds in profile.kinds.items()]
    rule = f"A value that did not occur in training (missing, special or a new level) {RULES[model.missing]}."
    table = _table(["feature", "missing", "special"], rows)
    return [f"## Training data\n\n{profile.n_rows} rows. {rule}\n\n{table}"]


def _versions(model: Model) -> str:
    rows = [("SHA-256 of the model's JSON", model_hash(model)), ("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            rows.append((package, version(package)))
        except PackageNotFoundError:
            rows.append((package, "not installed as a package"))
    rows.append(("date of this card", datetime.now(timezone.utc).isoformat(timespec="seconds")))
    return _table(["item", "value"], rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_escape(str(cell)) for cell in line)} |" for line in lines)


def _escape(text: str) -> str:
    """Return text of the data on one line, without HTML tags or Markdown markup."""
    line = " ".join(text.split())
    return MARKDOWN.sub(r"\\\g<0>", line.replace("&", "&amp;")).replace("<", "&lt;")


def _code_block(text: str) -> str:
    """Return a fenced block; the fence is longer than any run of backticks in the text, and HTML tags are escaped."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{HTML_TAG.sub('&lt;', text)}\n{fence}"
