"""A model card in Markdown: data, settings, terms, figures, edits, versions and a hash, for the file of the model."""

import hashlib
import platform
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.equation import lows
from sparsegam._models.functions import FittedFunction, score_function
from sparsegam._models.outcomes import target_of
from sparsegam._models.seen import RULES
from sparsegam.inspection._drift import training_profile
from sparsegam.inspection._metrics import auc, r_squared
from sparsegam.losses import LOSSES

MARKS = re.compile(r"[\\`*\[\]|!#~]|(?<![a-zA-Z0-9])_|_(?![a-zA-Z0-9])|(?<=[a-z]):(?=//)")  # of Markdown
TAG = re.compile(r"<(?=[a-zA-Z/!?])")
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
    X, y : table and labels, optional
        Rows to judge the model on, best ones that it was not fitted to.
    settings : dict, optional
        How it was fitted, such as `estimator.get_params()`; those that are None are left out.
    about : dict of str to str, optional
        Further sections: title and text, such as intended use, data, limits.

    Returns
    -------
    str
        Markdown.
    """
    parts = [f"# Model card: {_kind(model)}", _summary(model)]
    parts += [f"## {title}\n\n{text}" for title, text in (about or {}).items()]
    if X is not None and y is not None:
        parts.append(f"## Figures\n\n{_table(['measure', 'value'], figures(model, X, y).items())}")
    if settings:
        given = {name: value for name, value in settings.items() if value is not None}
        parts.append(f"## Settings\n\n{_table(['setting', 'value'], given.items())}")
    parts.append(f"## Terms\n\n{_terms(model)}\n\n{_block(model.equation())}")
    parts += [*_standing(model), *_training(model)]
    parts.append(f"## Edits\n\n{_edits(model)}")
    parts.append(f"## Versions\n\n{_versions(model)}")
    return "\n\n".join(parts) + "\n"


def model_hash(model: Model) -> str:
    """Return the SHA-256 of the model's JSON: equal for equal models, edits, profile and all."""
    return hashlib.sha256(model.to_json().encode()).hexdigest()


def figures(model: Model, X: Any, y: Any) -> dict[str, str]:
    """Return how well a model does on rows: loss, and AUC, accuracy and calibration, or R squared."""
    table = read_table(X)
    n = table.n_rows
    score, target = model.score_table(table), target_of(model, y, n)
    if model.classes is None:
        error = f"{np.mean((target - score) ** 2):.6g}"
        return {"rows": str(n), "R squared": f"{r_squared(score, target):.4f}", "mean squared error": error}
    event = target > 0
    risk = model.probabilities(score)[:, 1]
    loss = LOSSES[model.loss].per_row(target, score).mean()
    return {
        "rows": str(n),
        f"share of {model.classes[1]}": f"{event.mean():.4f}",
        "AUC": f"{auc(score, event)[0]:.4f}",
        "accuracy": f"{np.mean((score > 0) == event):.4f}",
        "mean predicted risk": f"{risk.mean():.4f}",
        f"{model.loss} loss per row": f"{loss:.4f}",
    }


def _kind(model: Model) -> str:
    return "sparse additive regression" if model.classes is None else "sparse additive classifier"


def _summary(model: Model) -> str:
    n, k = len(model.feature_names), len(model.features)
    named = [] if model.classes is None else [_escaped(str(label)) for label in model.classes]
    classes = f" It tells {named[1]} from {named[0]}." if named else ""
    return f"{model.n_terms} terms of {k} out of {n} features, fitted with the {model.loss} loss.{classes}"


def _terms(model: Model) -> str:
    score = score_function(model)
    rows = []
    for function in score.of_features:
        for (bin_, end, slope), start in zip(function.lines(), function.starts.tolist(), strict=True):
            rows.append((function.name, bin_.label, f"{start:+.4f} to {end:+.4f}" if slope else f"{end:+.4f}"))
    return "\n\n".join([_table(["feature", "value", "adds"], rows), *map(_pair, score.of_pairs)])


def _pair(pair: FittedFunction) -> str:
    """Write the contributions of a pair: the first feature as rows, the second as columns."""
    first, second = (axis.feature for axis in pair.axes)
    across = [bin_.label for bin_ in pair.axes[1].bins]
    rows = [
        (bin_.label, *(f"{value:+.4f}" for value in row))
        for bin_, row in zip(pair.axes[0].bins, pair.contributions.tolist(), strict=True)
    ]
    words = f"{_escaped(first)} (down) and {_escaped(second)} (across) add together:"
    return f"{words}\n\n{_table([first, *across], rows)}"


def _standing(model: Model) -> list[str]:
    """Tell what each term stands on, where the model knows it."""
    if model.evidence is None:
        return []
    rows = [
        (
            term.text(),
            f"{term.coef:+.4g} per unit" if term.condition.is_ramp else f"{term.coef:+.4f}",
            "" if term.standard_error is None else f"{term.standard_error:.4g}",
            term.n_rows,
            "" if term.n_events is None else term.n_events,
        )
        for term in model.terms
    ]
    notes = ["Standard errors are as if the terms had been given; they were chosen, so the errors are too small."]
    for name in model.features:
        for low in lows([term for term in model.terms if term.feature == name]):
            notes.append(f"In ramps, {_escaped(name)} counts as at least {low:g}.")
    header = ["term", "adds", "standard error", "rows", "events"]
    return [f"## What each term stands on\n\n{_table(header, rows)}\n\n{' '.join(notes)}"]


def _training(model: Model) -> list[str]:
    """Tell of the rows of the fit what the model remembers."""
    seen = training_profile(model)
    if seen is None:
        return []
    rows = [(name, f"{kinds['missing']:.1%}", f"{kinds['special']:.1%}") for name, kinds in seen.kinds.items()]
    later = f"A value that none of them had (missing, special or of a new level) {RULES[model.missing]}."
    return [f"## Rows of the fit\n\n{seen.n_rows} rows. {later}\n\n{_table(['feature', 'missing', 'special'], rows)}"]


def _edits(model: Model) -> str:
    return "\n".join(f"{i}. {_escaped(str(edit))}" for i, edit in enumerate(model.edits, start=1)) or "None."


def _versions(model: Model) -> str:
    rows = [("SHA-256 of the model's JSON", model_hash(model)), ("Python", platform.python_version())]
    rows += [(name, _version(name)) for name in PACKAGES]
    rows.append(("card written", datetime.now(timezone.utc).isoformat(timespec="seconds")))
    return _table(["what", "which"], rows)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed as a package"


def _table(header: list[str], rows: Any) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_escaped(str(cell)) for cell in line)} |" for line in lines)


def _escaped(text: str) -> str:
    """Keep text of the data within its cell or line, and free of tags, links, pictures and marks of any kind."""
    line = " ".join(text.split())
    return MARKS.sub(r"\\\g<0>", line.replace("&", "&amp;")).replace("<", "&lt;")


def _block(text: str) -> str:
    """Fence text that stays as it is: by more backticks than stand together in it, and with no tag left whole."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{TAG.sub('&lt;', text)}\n{fence}"
