"""PMML 4.4: the model as a Scorecard, its features and pairs as characteristics and their steps as attributes."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from sparsegam._data.columns import Value
from sparsegam._models.step_tables import PairTable, Step, StepTable, cells_of
from sparsegam._models.steps import StepModel
from sparsegam.checks import check_xml_text
from sparsegam.deploy import ReasonTable, reason_table

NAMESPACE = "http://www.dmg.org/PMML-4_4"


def to_pmml(model: Any, *, reasons: ReasonTable | None = None) -> str:
    """Write the model as a PMML Scorecard.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        What scores.
    reasons : ReasonTable, optional
        Codes and baseline of the reasons, which PMML engines give by themselves; each feature's own name, and what
        `reason_table` takes, unless told. PMML ranks all features and cuts none off: where fewer than four cost more
        than the baseline, the last of `reason_1` to `reason_4` are no reasons.

    Returns
    -------
    str
        The document. Texts are strings, all else is double: False and True are 0 and 1, dates are days and times
        microseconds since 1970. Outputs are `score`, `probability` of the second class, and `reason_1` to `reason_4`.
    """
    table = reason_table(model) if reasons is None else reasons
    steps = table.steps
    steps.check_inputs("PMML", taken=("score", "probability", *(f"reason_{rank}" for rank in range(1, 5))))
    root = ElementTree.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = _child(root, "Header", description="written by sparsegam")
    _child(header, "Application", name="sparsegam")
    fields = _child(root, "DataDictionary", numberOfFields=str(len(steps.inputs)))
    for feature in steps.inputs:
        kind = {"optype": "categorical", "dataType": "string"} if feature.scale.is_text else _continuous()
        _child(fields, "DataField", name=feature.feature, **kind)
    _scorecard(root, table)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _scorecard(root: ElementTree.Element, table: ReasonTable) -> None:
    steps = table.steps
    above = _speaks_against(table)
    card = _child(
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
    schema = _child(card, "MiningSchema")
    for name in steps.features:
        _child(schema, "MiningField", name=name, usageType="active", invalidValueTreatment="asIs")
    _outputs(card, steps)
    features = _child(card, "Characteristics")
    for j, part in enumerate(steps.parts):
        node = _characteristic(features, table, j, part, sign=1 if above else -1)
        codes = [code for code, _ in table.said[j]]
        if isinstance(part, PairTable):
            _cells(node, part, codes)
        else:
            _steps(node, part, codes)


def _speaks_against(table: ReasonTable) -> bool:
    """Tell whether what is lost grows with what is added."""
    for part, lost, rates in zip(table.steps.parts, table.lost, table.rates, strict=True):
        adds = part.adds.ravel()
        low, high = int(adds.argmin()), int(adds.argmax())
        if adds[low] < adds[high]:
            return bool(lost[low] < lost[high])
        if part.slopes.any():
            return bool((part.slopes * rates).max() > 0)
    return True


def _characteristic(
    parent: ElementTree.Element, table: ReasonTable, j: int, part: StepTable | PairTable, *, sign: int
) -> ElementTree.Element:
    baseline = float(part.adds.ravel()[0] - sign * table.lost[j][0])
    code = table.said[j][-1][0]
    return _child(parent, "Characteristic", name=part.name, reasonCode=code, baselineScore=repr(round(baseline, 10)))


def _cells(node: ElementTree.Element, pair: PairTable, codes: Sequence[str]) -> None:
    """Write what a pair adds: the first attribute whose both conditions hold is that of the first steps that do."""
    for step, row in zip(pair.first.steps, cells_of(pair.first).tolist(), strict=True):
        for other, column in zip(pair.second.steps, cells_of(pair.second).tolist(), strict=True):
            code = codes[row * pair.adds.shape[1] + column]
            attribute = _child(node, "Attribute", reasonCode=code, partialScore=repr(float(pair.adds[row, column])))
            both = _child(attribute, "CompoundPredicate", booleanOperator="and")
            _predicate(both, pair.first, step)
            _predicate(both, pair.second, other)


def _steps(node: ElementTree.Element, feature: StepTable, codes: Sequence[str]) -> None:
    for step, code in zip(feature.steps, codes, strict=True):
        score = {} if step.slope else {"partialScore": repr(float(step.adds))}
        attribute = _child(node, "Attribute", reasonCode=code, **score)
        _predicate(attribute, feature, step)
        if step.slope:
            _line(_child(attribute, "ComplexPartialScore"), feature, step)


def _predicate(parent: ElementTree.Element, table: StepTable, step: Step) -> None:
    if step.kind == "rest":
        _child(parent, "True")
    elif step.kind == "missing":
        _child(parent, "SimplePredicate", field=table.feature, operator="isMissing")
    elif step.kind == "upto":
        value = _text(step.values[0], table)
        _child(parent, "SimplePredicate", field=table.feature, operator="lessOrEqual", value=value)
    elif len(step.values) == 1:
        value = _text(step.values[0], table)
        _child(parent, "SimplePredicate", field=table.feature, operator="equal", value=value)
    else:
        _one_of(parent, table, step)


def _line(parent: ElementTree.Element, table: StepTable, step: Step) -> None:
    """Write adds + slope * (x - end)."""
    product = _apply(_apply(parent, "+", step.adds), "*", step.slope)
    difference = _child(product, "Apply", function="-")
    _child(difference, "FieldRef", field=table.feature)
    _child(difference, "Constant", dataType="double").text = repr(float(table.number(step.values[0])))


def _one_of(parent: ElementTree.Element, table: StepTable, step: Step) -> None:
    """Write several values as alternatives: plain, and free of the quoting rules of PMML's arrays."""
    either = _child(parent, "CompoundPredicate", booleanOperator="or")
    for value in step.values:
        _child(either, "SimplePredicate", field=table.feature, operator="equal", value=_text(value, table))


def _outputs(card: ElementTree.Element, steps: StepModel) -> None:
    output = _child(card, "Output")
    _child(output, "OutputField", name="score", feature="predictedValue", **_continuous())
    if steps.classes is not None:
        field = _child(output, "OutputField", name="probability", feature="transformedValue", **_continuous())
        _logistic(field, steps)
    for rank in range(1, min(4, len(steps.parts)) + 1):
        _child(
            output,
            "OutputField",
            name=f"reason_{rank}",
            feature="reasonCode",
            rank=str(rank),
            optype="categorical",
            dataType="string",
        )


def _logistic(field: ElementTree.Element, steps: StepModel) -> None:
    """Write 1 / (1 + exp(-shift - slope * score))."""
    quotient = _apply(field, "/", 1.0)
    total = _apply(quotient, "+", 1.0)
    power = _apply(total, "exp")
    difference = _apply(power, "-", -steps.shift)
    product = _apply(difference, "*", steps.slope)
    _child(product, "FieldRef", field="score")


def _apply(parent: ElementTree.Element, function: str, *constants: float) -> ElementTree.Element:
    node = _child(parent, "Apply", function=function)
    for constant in constants:
        _child(node, "Constant", dataType="double").text = repr(float(constant))
    return node


def _continuous() -> dict[str, str]:
    return {"optype": "continuous", "dataType": "double"}


def _text(value: Value, table: StepTable) -> str:
    return str(value) if table.scale.is_text else repr(table.number(value))


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    for value in attributes.values():
        check_xml_text(value, "PMML")
    return ElementTree.SubElement(parent, tag, attributes)
