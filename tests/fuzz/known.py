"""Known failures, which a run skips and lists unless `--everything` is given. Both collections should stay empty."""

from __future__ import annotations

KNOWN_PROPERTY_FAILURES: dict[str, str] = {}  # property name and reason
KNOWN_CASE_FAILURES = ()  # functions of a case and its call; their docstrings give the reason


def known_failure(case, call):
    """Return the name of the known failure that a case would trigger, or None."""
    return next((function.__name__ for function in KNOWN_CASE_FAILURES if function(case, call)), None)
