"""The statements of a function that scores a row, where JavaScript and Python write them alike."""

from collections.abc import Callable

from sparsegam._data.columns import Value
from sparsegam._models.step_tables import PairTable, StepTable, cells_of


def sums(table: StepTable, number: str, literal: Callable[[Value], str]) -> list[str]:
    """Write what each step does; the last one nothing, where it adds nothing.

    Parameters
    ----------
    table : StepTable
        The steps.
    number : str
        The value of the row as a number, in the language.
    literal : callable
        Writes a value in the language.

    Returns
    -------
    list of str
        A statement for each step.
    """
    out = []
    for step in table.steps:
        line = f" + {literal(step.slope)} * ({number} - {literal(step.values[0])})" if step.slope else ""
        out.append(f"total += {literal(step.adds)}{line}")
    return [*out[:-1], out[-1] if table.steps[-1].adds else ""]


def places(pair: PairTable) -> list[tuple[StepTable, list[str]]]:
    """Write, for the steps of both features of a pair, where they are in its cells: line `i`, column `j`."""
    return [
        (half, [f"{name} = {cell}" for cell in cells_of(half)]) for half, name in zip(pair.halves, "ij", strict=True)
    ]
