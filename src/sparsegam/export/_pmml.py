"""Export to PMML 4.4: a Scorecard whose characteristics are the features and interactions of the model."""

from itertools import product
from typing import Any
from xml.etree import ElementTree

from sparsegam._data.columns import Value
from sparsegam._models.functions import Bin, Bins, FittedFunction, ScoreFunction
from sparsegam.checks import check_xml_text
from sparsegam.deploy import ReasonTable, reason_table

NAMESPACE = "http://www.dmg.org/PMML-4_4"
MAX_REASONS = 4
CONTINUOUS = {"optype": "continuous", "dataType": "double"}
CATEGORICAL = {"optype": "categorical", "dataType": "string"}


def to_pmml(model: Any, *, reasons: ReasonTable | None = None) -> str:
    """Export to a PMML Scorecard.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model to export.
    reasons : ReasonTable, optional
        Reason codes and baselines. By default, the result of `reason_table(model)`, whose codes are the names of the
        features. A PMML engine ranks all features: if fewer than four of them lower the score relative to their
        baselines, the last of `reason_1` to `reason_4` are not reasons.

    Returns
    -------
    str
        The XML document. Text features are strings. All others are doubles: False and True are 0 and 1, dates are days
        since 1970, times are microseconds since 1970. The outputs are `score`, `probability` of the second class, and
        `reason_1` to `reason_4`.
    """
    table = reason_table(model) if reasons is None else reasons
    score = table.score_function
    n_reasons = min(MAX_REASONS, len(score.functions))
    score.check_inputs("PMML", ("score", "probability", *(f"reason_{i + 1}" for i in range(MAX_REASONS))))
    root = ElementTree.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = _child(root, "Header", description="exported by sparsegam")
    _child(header, "Application", name="sparsegam")
    fields = _child(root, "DataDictionary", numberOfFields=str(len(score.inputs)))
    for bins in score.inputs:
        _child(fields, "DataField", name=bins.feature, **(CATEGORICAL if bins.scale.is_text else CONTINUOUS))
    above = _larger_contribution_is_larger_loss(table)
    scorecard = _child(
        root,
        "Scorecard",
        modelName="sparsegam",
        functionName="regression",
        algorithmName="sparse additive model",
        initialScore=repr(float(score.base)),
        useReasonCodes="true",
        reasonCodeAlgorithm="pointsAbove" if above else "pointsBelow",
        baselineMethod="other",
    )
    schema = _child(scorecard, "MiningSchema")
    for name in score.features:
        _child(schema, "MiningField", name=name, usageType="active", invalidValueTreatment="asIs")
    _add_outputs(scorecard, score, n_reasons)
    characteristics = _child(scorecard, "Characteristics")
    for j, function in enumerate(score.functions):
        baseline = float(function.contributions.ravel()[0]) - (1 if above else -1) * table.lost[j][0]
        codes = [code for code, _ in table.texts[j]]
        node = _child(
            characteristics,
            "Characteristic",
            name=function.name,
            reasonCode=codes[-1],
            baselineScore=repr(round(float(baseline), 10)),
        )
        if function.is_pair:
            _add_pair(node, function, codes)
        else:
            _add_feature(node, function, codes)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _larger_contribution_is_larger_loss(table: ReasonTable) -> bool:
    for function, lost, rates in zip(table.score_function.functions, table.lost, table.rates, strict=True):
        contributions = function.contributions.ravel()
        low, high = int(contributions.argmin()), int(contributions.argmax())
        if contributions[low] < contributions[high]:
            return bool(lost[low] < lost[high])
        if function.has_slopes:
            return bool((function.slopes * rates).max() > 0)
    return True


def _add_pair(node: ElementTree.Element, pair: FittedFunction, codes: list[str]) -> None:
    """Add an attribute for each pair of bins; an engine uses the first whose two conditions both hold."""
    cells = product(*(axis.bins for axis in pair.axes))
    for bins, contribution, code in zip(cells, pair.contributions.ravel().tolist(), codes, strict=True):
        attribute = _child(node, "Attribute", reasonCode=code, partialScore=repr(contribution))
        both = _child(attribute, "CompoundPredicate", booleanOperator="and")
        for axis, bin_ in zip(pair.axes, bins, strict=True):
            _add_predicate(both, axis, bin_)


def _add_feature(node: ElementTree.Element, function: FittedFunction, codes: list[str]) -> None:
    for (bin_, contribution, slope), code in zip(function.lines(), codes, strict=True):
        score = {} if slope else {"partialScore": repr(contribution)}
        attribute = _child(node, "Attribute", reasonCode=code, **score)
        _add_predicate(attribute, function.bins, bin_)
        if slope:
            # The score on a ramp is contribution + slope * (x - end).
            total = _apply(_child(attribute, "ComplexPartialScore"), "+", contribution)
            difference = _apply(_apply(total, "*", slope), "-")
            _child(difference, "FieldRef", field=function.name)
            _child(difference, "Constant", dataType="double").text = repr(bin_.high)


def _add_predicate(parent: ElementTree.Element, bins: Bins, bin_: Bin) -> None:
    if bin_ is bins.bins[-1]:
        _child(parent, "True")
    elif bin_.kind == "missing":
        _child(parent, "SimplePredicate", field=bins.feature, operator="isMissing")
    elif not bin_.values:
        _child(parent, "SimplePredicate", field=bins.feature, operator="lessOrEqual", value=repr(bin_.high))
    else:
        # An "or" of comparisons avoids the quoting rules of PMML arrays.
        several = len(bin_.values) > 1
        either = _child(parent, "CompoundPredicate", booleanOperator="or") if several else parent
        for value in bin_.values:
            _child(either, "SimplePredicate", field=bins.feature, operator="equal", value=_literal(value, bins))


def _add_outputs(scorecard: ElementTree.Element, score: ScoreFunction, n_reasons: int) -> None:
    output = _child(scorecard, "Output")
    _child(output, "OutputField", name="score", feature="predictedValue", **CONTINUOUS)
    if score.classes is not None:
        # The probability is 1 / (1 + exp(-shift - slope * score)).
        field = _child(output, "OutputField", name="probability", feature="transformedValue", **CONTINUOUS)
        power = _apply(_apply(_apply(field, "/", 1.0), "+", 1.0), "exp")
        scaled = _apply(_apply(power, "-", -score.shift), "*", score.slope)
        _child(scaled, "FieldRef", field="score")
    for rank in range(1, n_reasons + 1):
        _child(output, "OutputField", name=f"reason_{rank}", feature="reasonCode", rank=str(rank), **CATEGORICAL)


def _apply(parent: ElementTree.Element, function: str, *constants: float) -> ElementTree.Element:
    node = _child(parent, "Apply", function=function)
    for constant in constants:
        _child(node, "Constant", dataType="double").text = repr(float(constant))
    return node


def _literal(value: Value, bins: Bins) -> str:
    return str(value) if bins.scale.is_text else repr(bins.plain_number(value))


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    for value in attributes.values():
        check_xml_text(value, "PMML")
    return ElementTree.SubElement(parent, tag, attributes)
