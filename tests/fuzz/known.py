"""What does not hold yet: a run leaves it out, and says so, unless `--everything` is asked for. Empty, to stay so."""

from __future__ import annotations

PROPERTIES_TO_COME: dict[str, str] = {}  # by name, with what is wrong
CASES_TO_COME = ()  # functions of a case and its call, whose docstrings say what is wrong


def left_out(case, call):
    """The name of what is known not to hold and would come up in a case; nothing where there is none."""
    return next((function.__name__ for function in CASES_TO_COME if function(case, call)), None)
