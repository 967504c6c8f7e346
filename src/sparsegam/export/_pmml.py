"""Export to PMML 4.4: a Scorecard whose characteristics are the features and interactions of the model."""

from typing import Any
from xml.etree import ElementTree

from sparsegam._data.columns import Value
from sparsegam._models.step_tables import PairTable, Step, StepTable, cells_of
from sparsegam._models.steps import StepModel
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
    steps = table.steps
    n_reasons = min(MAX_REASONS, len(steps.parts))
    steps.check_inputs("PMML", taken=("score", "probability", *(f"reason_{i + 1}" for i in range(MAX_REASONS))))
    root = ElementTree.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = _child(root, "Header", description="exported by sparsegam")
    _child(header, "Application", name="sparsegam")
    fields = _child(root, "DataDictionary", numberOfFields=str(len(steps.inputs)))
    for feature in steps.inputs:
        _child(fields, "DataField", name=feature.feature, **(CATEGORICAL if feature.scale.is_text else CONTINUOUS))
    above = _larger_contribution_is_larger_loss(table)
    scorecard = _child(
        root,
        "Scorecard",
        modelName="sparsegam",
        functionName="regression",
        algorithmName="sparse additive model",
        initialScore=repr(float(steps.base)),
        useReasonCodes="true",
        reasonCodeAlgorithm="pointsAbove" if above else "pointsBelow",
        baselineMethod="other",
    )
    schema = _child(scorecard, "MiningSchema")
    for name in steps.features:
        _child(schema, "MiningField", name=name, usageType="active", invalidValueTreatment="asIs")
    _add_outputs(scorecard, steps, n_reasons)
    characteristics = _child(scorecard, "Characteristics")
    for j, part in enumerate(steps.parts):
        baseline = float(part.adds.ravel()[0]) - (1 if above else -1) * table.lost[j][0]
        codes = [code for code, _ in table.said[j]]
        node = _child(
            characteristics,
            "Characteristic",
            name=part.name,
            reasonCode=codes[-1],
            baselineScore=repr(round(float(baseline), 10)),
        )
        if isinstance(part, PairTable):
            _add_cells(node, part, codes)
        else:
            _add_steps(node, part, codes)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _larger_contribution_is_larger_loss(table: ReasonTable) -> bool:
    for part, lost, rates in zip(table.steps.parts, table.lost, table.rates, strict=True):
        contributions = part.adds.ravel()
        low, high = int(contributions.argmin()), int(contributions.argmax())
        if contributions[low] < contributions[high]:
            return bool(lost[low] < lost[high])
        if part.slopes.any():
            return bool((part.slopes * rates).max() > 0)
    return True


def _add_cells(node: ElementTree.Element, pair: PairTable, codes: list[str]) -> None:
    """Add an attribute for each pair of steps; an engine uses the first whose two conditions both hold."""
    for step, row in zip(pair.first.steps, cells_of(pair.first).tolist(), strict=True):
        for other, column in zip(pair.second.steps, cells_of(pair.second).tolist(), strict=True):
            code = codes[row * pair.adds.shape[1] + column]
            attribute = _child(node, "Attribute", reasonCode=code, partialScore=repr(float(pair.adds[row, column])))
            both = _child(attribute, "CompoundPredicate", booleanOperator="and")
            _add_predicate(both, pair.first, step)
            _add_predicate(both, pair.second, other)


def _add_steps(node: ElementTree.Element, table: StepTable, codes: list[str]) -> None:
    for step, code in zip(table.steps, codes, strict=True):
        score = {} if step.slope else {"partialScore": repr(float(step.adds))}
        attribute = _child(node, "Attribute", reasonCode=code, **score)
        _add_predicate(attribute, table, step)
        if step.slope:
            # The score on a ramp is adds + slope * (x - end).
            total = _apply(_child(attribute, "ComplexPartialScore"), "+", step.adds)
            difference = _apply(_apply(total, "*", step.slope), "-")
            _child(difference, "FieldRef", field=table.feature)
            _child(difference, "Constant", dataType="double").text = repr(float(table.number(step.values[0])))


def _add_predicate(parent: ElementTree.Element, table: StepTable, step: Step) -> None:
    if step.kind == "rest":
        _child(parent, "True")
    elif step.kind == "missing":
        _child(parent, "SimplePredicate", field=table.feature, operator="isMissing")
    elif step.kind == "upto":
        end = _literal(step.values[0], table)
        _child(parent, "SimplePredicate", field=table.feature, operator="lessOrEqual", value=end)
    else:
        # Alternatives avoid the quoting rules of PMML arrays.
        several = len(step.values) > 1
        either = _child(parent, "CompoundPredicate", booleanOperator="or") if several else parent
        for value in step.values:
            _child(either, "SimplePredicate", field=table.feature, operator="equal", value=_literal(value, table))


def _add_outputs(scorecard: ElementTree.Element, steps: StepModel, n_reasons: int) -> None:
    output = _child(scorecard, "Output")
    _child(output, "OutputField", name="score", feature="predictedValue", **CONTINUOUS)
    if steps.classes is not None:
        # The probability is 1 / (1 + exp(-shift - slope * score)).
        field = _child(output, "OutputField", name="probability", feature="transformedValue", **CONTINUOUS)
        power = _apply(_apply(_apply(field, "/", 1.0), "+", 1.0), "exp")
        product = _apply(_apply(power, "-", -steps.shift), "*", steps.slope)
        _child(product, "FieldRef", field="score")
    for rank in range(1, n_reasons + 1):
        _child(output, "OutputField", name=f"reason_{rank}", feature="reasonCode", rank=str(rank), **CATEGORICAL)


def _apply(parent: ElementTree.Element, function: str, *constants: float) -> ElementTree.Element:
    node = _child(parent, "Apply", function=function)
    for constant in constants:
        _child(node, "Constant", dataType="double").text = repr(float(constant))
    return node


def _literal(value: Value, table: StepTable) -> str:
    return str(value) if table.scale.is_text else repr(table.number(value))


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    for value in attributes.values():
        check_xml_text(value, "PMML")
    return ElementTree.SubElement(parent, tag, attributes)
