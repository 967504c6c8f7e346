"""What a user may ask of products of two conditions: which pairs, how many, at what price, beside which terms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sparsegam._data.table import position
from sparsegam.checks import check_choice, check_integer, check_number, shown

AUTO = "auto"
COST = 2.0  # of a product, in steps; set by benchmarks/interactions.py
HIERARCHIES = ("weak", "strong")

Pair = tuple[int, int]  # positions of two features, the smaller one first


@dataclass(frozen=True)
class Interactions:
    """What the user may ask of products; wrong values are refused when it is made or meets a table.

    Attributes
    ----------
    interactions : int, "auto" or list of pairs of columns
        Number of pairs of features that may have products, those that promise most; all that rows give evidence of;
        or these. 0 for none.
    interaction_cost : float or "auto"
        Factor on lambda0 of a product.
    hierarchy : {None, "weak", "strong"}
        Whether a product needs a term of one of its features, or of both, beside it.
    max_terms_per_pair : int, optional
        Largest number of products of one pair.
    """

    interactions: Any = 0
    interaction_cost: Any = AUTO
    hierarchy: str | None = None
    max_terms_per_pair: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.interactions, str):
            check_choice("interactions", self.interactions, (AUTO,), other="a number of pairs, or a list of pairs")
        elif not self._is_listed:
            check_integer("interactions", self.interactions, at_least=0)
        if self.hierarchy is not None:
            check_choice("hierarchy", self.hierarchy, HIERARCHIES, other="or None")
        if self.max_terms_per_pair is not None:
            check_integer("max_terms_per_pair", self.max_terms_per_pair, at_least=1)
        if isinstance(self.interaction_cost, str):
            check_choice("interaction_cost", self.interaction_cost, (AUTO,), other="or a number >= 0")
        else:
            check_number("interaction_cost", self.interaction_cost, at_least=0.0)

    @property
    def _is_listed(self) -> bool:
        return isinstance(self.interactions, Iterable) and not isinstance(self.interactions, str)

    @property
    def is_on(self) -> bool:
        """Whether any pair may have products."""
        return bool(list(self.interactions)) if self._is_listed else self.interactions != 0

    @property
    def most_pairs(self) -> int | None:
        """How many pairs may have products; None where rows decide, or where the pairs are named."""
        return None if self._is_listed or isinstance(self.interactions, str) else int(self.interactions)

    @property
    def needs_evidence(self) -> bool:
        """Whether a pair must stand out from what chance would give."""
        return isinstance(self.interactions, str)

    @property
    def cost(self) -> float:
        """Factor on lambda0 of a product."""
        return COST if isinstance(self.interaction_cost, str) else float(self.interaction_cost)

    def pairs(self, names: Sequence[str], never: Sequence[int], never_pairs: Sequence[Pair]) -> list[Pair]:
        """Return the pairs of features in play."""
        found = self._listed(names) if self._is_listed else list(combinations(range(len(names)), 2))
        return [pair for pair in found if pair not in never_pairs and not {*pair} & {*never}]

    def _listed(self, names: Sequence[str]) -> list[Pair]:
        return sorted({pair_at(pair, names, "interactions") for pair in self.interactions})


def pair_at(pair: Any, names: Sequence[str], option: str) -> Pair:
    """Return the positions of two columns, the smaller one first; raise unless these are two."""
    two = not isinstance(pair, str) and hasattr(pair, "__len__") and len(pair) == 2
    if not two:
        msg = f"{option} must hold pairs of columns, as in [('age', 'priors')], got {shown(pair)}."
        raise ValueError(msg)
    first, second = sorted(position(key, names, option) for key in pair)
    if first == second:
        msg = f"{option} must hold pairs of different columns, got {shown(pair)}."
        raise ValueError(msg)
    return first, second
