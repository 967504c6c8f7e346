"""Methods that lead on to other modules have the very parameters of what they lead to."""

from dataclasses import fields
from inspect import Parameter, signature

import pytest

from sparsegam import Model, SparseGAMClassifier, export, plots, report
from sparsegam.deploy import Editor, reason_table
from sparsegam.deploy._scorecard import Scaling
from sparsegam.inspection import drift, model_card
from sparsegam.inspection._drift import training_profile

LEADS_TO = {
    "card": model_card,
    "drift": drift,
    "edit": Editor,
    "plot": plots.plot_shapes,
    "plot_row": plots.plot_contributions,
    "report": report.write_report,
    "training_profile": training_profile,
} | {name: getattr(export, name) for name in export.__all__}


def parameters(thing, *left_out):
    return {name: p.default for name, p in signature(thing).parameters.items() if name not in left_out}


@pytest.mark.parametrize("name", LEADS_TO)
def test_a_method_has_the_parameters_of_its_function(name):
    assert parameters(getattr(Model, name), "self") == parameters(LEADS_TO[name], "model")


def test_a_scorecard_takes_every_option_of_its_scaling():
    options = {field.name: field.default for field in fields(Scaling)}
    assert parameters(Model.scorecard, "self", "X", "y", "sample_weight") == options


def test_reasons_take_every_option_of_their_table():
    assert parameters(Model.reason_codes, "self", "X") == parameters(reason_table, "model")


@pytest.mark.parametrize("name", [*LEADS_TO, "scorecard", "reason_codes", "profile"])
def test_editors_see_every_parameter(name):
    kinds = {p.kind for p in signature(getattr(Model, name)).parameters.values()}
    assert not kinds & {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}


def test_an_estimator_reports_as_its_model_does():
    assert parameters(SparseGAMClassifier.report) == parameters(Model.report)
