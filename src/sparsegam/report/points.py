"""The scorecard of a report: points by step with rows, events, weight of evidence, and the risk of each total."""

from dataclasses import asdict
from typing import Any

from sparsegam.report.material import Material


def points_part(material: Material) -> dict[str, Any] | None:
    """Return the points of the steps and the bands of risk, where a scorecard was given."""
    card = material.notes.scorecard
    if card is None:
        return None
    values = card.information_values
    return {
        "base": card.base,
        "formula": card.formula(),
        "rising": card.scaling.sign > 0,
        "lines": [line | {"feature": material.label(line["feature"])} for line in card.table()],
        "values": [[material.label(name), value] for name, value in sorted(values.items(), key=lambda pair: -pair[1])],
        "risks": [asdict(line) for line in card.risks],
        "rounding": None if card.rounding is None else str(card.rounding),
    }
