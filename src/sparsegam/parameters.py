"""Parameters that several estimators share: written down once, and put into the docstring of each."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from textwrap import indent
from typing import Any, TypeVar

T = TypeVar("T")

SEARCH = """\
lambda2 : float
    Ridge penalty on the standardised coefficients.
max_terms : int, optional
    Largest number of terms.
"""
TABLE = """\
max_features, max_terms_per_feature : int, optional
    Largest number of source features, and of terms of one feature.
features_always, features_never : list of columns, optional
    Features of which every model has at least one term (the step that helps most by itself is kept in; it counts
    as a term), and features that no model has. Columns go by name, or by position.
feature_cost : dict from column to float, optional
    Factor on lambda0 for the terms of a feature, 1 where none is given. Frontiers (paths and cross-validation) go by
    the number of terms and have no use for it.
monotone : dict from column to {"increasing", "decreasing"}, or list, optional
    How the score may move as a feature grows; a list holds 1, -1 or 0 for each column. Missing and special values
    are out of the order, and free.
max_bins : int
    Thresholds are at every unique value of a column with at most so many, else at quantiles (of the weight, where
    rows have weights). Of a category, the most frequent levels are kept.
thresholds : dict from column to list, optional
    The thresholds of a column, where they shall not be learned.
min_samples_bin : int
    A term must hold for at least so many rows (of positive weight), and fail for as many.
categorical : "auto" or list of columns
    Columns to take as categories besides those that are text or categorical; ordered categoricals become
    thresholds unless named here.
min_category_count : int
    Levels with fewer rows, whatever these weigh, are merged into one.
special_values : list, or dict from column to list, optional
    Values out of the order of their column, each a candidate of its own: for all numeric columns, or by column.
"""
RUN = """\
n_jobs : int, optional
    Number of threads; None is one, -1 is all cores. The result does not depend on it.
time_limit : float, optional
    Seconds after which the best found so far is kept, with a ConvergenceWarning.
"""
REPORT = """\
verbose : int
    Whether to show a bar as the search goes on, in terminals and notebooks, where tqdm is installed.
callback : callable, optional
    Called with (n_terms, objective) as models are found.
"""
SECTIONS = {"{search}": SEARCH, "{table}": TABLE, "{run}": RUN, "{report}": REPORT}


def documented(thing: T) -> T:
    """Fill the shared parameters into a docstring, at the depth of the mark that stands for them."""
    lines = []
    for line in (thing.__doc__ or "").splitlines():
        section = SECTIONS.get(line.strip())
        depth = line[: len(line) - len(line.lstrip())]
        lines.append(line if section is None else indent(section, depth).rstrip())
    thing.__doc__ = "\n".join(lines)
    return thing


def keep_arguments(estimator: Any, arguments: Mapping[str, Any]) -> None:
    """Set what `__init__` was given as attributes, as scikit-learn asks for; `arguments` is its locals()."""
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def pick(kind: Callable[..., T], options: Mapping[str, Any]) -> T:
    """Make a dataclass out of those options that it knows."""
    return kind(**{field.name: options[field.name] for field in fields(kind) if field.name in options})  # type: ignore[arg-type]
