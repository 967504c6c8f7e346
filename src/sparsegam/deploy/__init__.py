"""Scorecards, reason codes, counterfactuals and documented edits of a fitted model."""

from sparsegam.deploy._counterfactual import Counterfactual, counterfactual
from sparsegam.deploy._editing import Editor
from sparsegam.deploy._reasons import Reasons, ReasonTable, reason_codes, reason_table
from sparsegam.deploy._scorecard import Scorecard, best_scorecard, scorecard, small_scorecard

__all__ = [
    "Counterfactual",
    "Editor",
    "ReasonTable",
    "Reasons",
    "Scorecard",
    "best_scorecard",
    "counterfactual",
    "reason_codes",
    "reason_table",
    "scorecard",
    "small_scorecard",
]
