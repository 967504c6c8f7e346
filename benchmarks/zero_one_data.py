"""Tables whose columns are all 0 or 1: COMPAS, German credit and the simulated credit table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.data import Problem

# Number of quantiles of a numeric column that are used as thresholds, or all values if there are fewer.
THRESHOLDS = 16
COMPAS = ("sex", "age", "juv_fel_count", "juv_misd_count", "juvenile_crimes", "priors_count", "c_charge_degree")


@dataclass(frozen=True)
class ZeroOne:
    """One of the tables, with all columns 0 or 1."""

    name: str
    folder: Path

    def load(self) -> Problem:
        """Read or simulate the table and make its columns."""
        return {"compas": self._compas, "german": self._german, "credit": self._credit}[self.name]()

    def _compas(self) -> Problem:
        table = pd.read_csv(self.folder / "compas.csv.gz")
        table = table[table["days_b_screening_arrest"].notna()]
        table["juvenile_crimes"] = table[["juv_fel_count", "juv_misd_count", "juv_other_count"]].sum(axis=1)
        numbers = {name: _as_numbers(table[name]) for name in COMPAS}
        columns = [column for values in numbers.values() for column in _steps(values, most=10**6)]
        return _problem(columns, table["two_year_recid"])

    def _german(self) -> Problem:
        table = pd.read_csv(self.folder / "german.csv.gz")
        target, columns = table.pop("CLASSIFICATION"), []
        for name in table:
            numeric = pd.api.types.is_numeric_dtype(table[name])
            columns += _steps(table[name].to_numpy(), THRESHOLDS) if numeric else _levels(table[name])
        return _problem(columns, target)

    def _credit(self) -> Problem:
        from sparsegam.datasets import make_credit

        rows = make_credit(5000, seed=0)
        columns = [column for name in rows.frame for column in _steps(rows.frame[name].to_numpy(), THRESHOLDS)]
        return _problem(columns, pd.Series(rows.target))


def _as_numbers(column: pd.Series) -> NDArray[np.float64]:
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64)
    return pd.factorize(column, sort=True)[0].astype(np.float64)


def _steps(values: NDArray[np.float64], most: int) -> list[NDArray[np.uint8]]:
    edges = np.unique(values)[:-1]
    if len(edges) > most:
        edges = np.unique(np.quantile(values, np.arange(1, most + 1) / (most + 1)))
    return [(values <= edge).astype(np.uint8) for edge in edges]


def _levels(values: pd.Series) -> list[NDArray[np.uint8]]:
    return [(values == level).to_numpy(dtype=np.uint8) for level in sorted(values.astype(str).unique())]


def _problem(columns: list[NDArray[np.uint8]], target: pd.Series) -> Problem:
    names = [f"c{i}" for i in range(len(columns))]
    return Problem(pd.DataFrame(np.column_stack(columns), columns=names), target.to_numpy(dtype=np.int64))
