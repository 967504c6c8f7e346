"""Records of manual changes of a model: what was changed, by whom, why, and the effect on the loss."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from sparsegam.checks import is_number

ACTIONS = ("move", "merge", "fix", "drop", "forbid")
OPTIONAL = ("auc_before", "auc_after")


@dataclass(frozen=True)
class Edit:
    """A manual change of a model.

    Attributes
    ----------
    action : {"move", "merge", "fix", "drop", "forbid"}
        Kind of the change.
    what : str
        Description of the changed terms.
    who, why, when : str
        Author, reason and time (ISO 8601, UTC).
    loss_before, loss_after : float
        Total loss on the data of the edit; lower is better.
    auc_before, auc_after : float or None
        Area under the ROC curve on these data; None for a regression.
    """

    action: str
    what: str
    who: str
    why: str
    when: str
    loss_before: float
    loss_after: float
    auc_before: float | None = None
    auc_after: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)

    def cells(self) -> list[str]:
        """Return the cells of a table row: when, who, what, why, loss, AUC."""
        auc = "" if self.auc_before is None else f"{self.auc_before:.4f} to {self.auc_after:.4f}"
        loss = f"{self.loss_before:.2f} to {self.loss_after:.2f}"
        return [self.when, self.who, f"{self.action} {self.what}", self.why, loss, auc]

    def __str__(self) -> str:
        when, who, what, why, loss, auc = self.cells()
        return f"{when} {who}: {what} ({why}); loss {loss}" + (f", AUC {auc}" if auc else "")


def edit_from_json(content: Any) -> Edit:
    """Read and check a record; raise a ValueError if it is invalid."""
    names = [field.name for field in fields(Edit)]
    if not isinstance(content, Mapping) or set(content) != set(names):
        msg = f"not a sparsegam model: an edit must be an object with {names}, got {content!r}."
        raise ValueError(msg)
    for name in names:
        if not _good(name, content[name]):
            msg = f"not a sparsegam model: {name} of an edit has the invalid value {content[name]!r}."
            raise ValueError(msg)
    return Edit(**content)


def _good(name: str, value: Any) -> bool:
    if name == "action":
        return value in ACTIONS
    if name in ("what", "who", "why", "when"):
        return isinstance(value, str)
    if value is None:
        return name in OPTIONAL
    return is_number(value)
