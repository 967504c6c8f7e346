"""How six databases write names, texts, numbers, dates and the question whether a number is missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from sparsegam._data.columns import Scale, Value
from sparsegam.checks import check_choice


def _doubled(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _backslashed(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _national(text: str) -> str:
    return f"N{_doubled(text)}"


SAFE_DIGITS = 15  # which every reader of decimals gets right


@dataclass(frozen=True)
class Dialect:
    """One database's way of writing.

    Attributes
    ----------
    quotes : pair of str
        Around names; the second is doubled (or escaped) within them.
    double : str
        The type of 64-bit floats.
    string : callable
        Writes a text.
    nan : str
        The condition that a number is NaN, with {x}; empty where there are no NaNs.
    booleans : pair of str
        False and True.
    date, time : str
        How dates and times are written, with {}.
    refused : str
        Characters that a name cannot hold, however it is quoted.
    compared : mapping from kind of scale to str
        What a column of that kind must be wrapped in to be compared, with {x}.
    """

    quotes: tuple[str, str]
    double: str
    string: Callable[[str], str] = _doubled
    nan: str = ""
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    date: str = "DATE '{}'"
    time: str = "TIMESTAMP '{}'"
    refused: str = "\0"
    compared: Mapping[str, str] = field(default_factory=dict)

    def name(self, name: str) -> str:
        """Quote a column or table name, so that nothing in it is taken for SQL."""
        left, right = self.quotes
        bad = [c for c in name if c in self.refused]
        if bad or not name:
            why = f"the character {bad[0]!r}" if bad else "no character at all"
            msg = f"the name {name!r} cannot be quoted in this dialect, as it holds {why}: rename the column."
            raise ValueError(msg)
        return f"{left}{name.replace(right, right * 2)}{right}"

    def literal(self, value: Value) -> str:
        """Write a value of a column."""
        if isinstance(value, bool):
            return self.booleans[value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, datetime):
            return self.time.format(value.isoformat(sep=" "))
        if isinstance(value, date):
            return self.date.format(value.isoformat())
        return number(value)

    def text(self, text: str) -> str:
        """Write a text, so that nothing in it is taken for SQL."""
        if "\0" in text:
            msg = f"the text {text!r} holds a zero byte, which SQL cannot write: rename the level."
            raise ValueError(msg)
        return self.string(text)

    def column(self, name: str, scale: Scale) -> str:
        """Write a column so that it can be compared with literals."""
        kind = "text" if scale.is_text else scale.kind
        return self.compared.get(kind, "{x}").format(x=self.name(name))

    def missing(self, name: str, scale: Scale) -> str:
        """Write the condition that a value is missing: NULL or, for numbers, NaN."""
        quoted = self.name(name)
        nan = f" OR {self.nan.format(x=quoted)}" if self.nan and _of_numbers(scale) else ""
        return f"{quoted} IS NULL{nan}"

    def as_double(self, expression: str) -> str:
        """Write a conversion to a 64-bit float."""
        return f"CAST({expression} AS {self.double})"


def _of_numbers(scale: Scale) -> bool:
    """Tell whether a column holds numbers, which may be NaN: as such, or as levels."""
    levels = scale.has_levels and not any(isinstance(level, str | bool) for level in scale.levels)
    return scale.kind == "number" or levels


def number(value: float) -> str:
    """Write a number to the bit: whole ones as integers, others in scientific form, which is nowhere a decimal.

    Of those that need 16 digits, the shortest that Python reads as the number may be half a bit away from it, and
    SQLite, whose last bit is not always right, reads one in forty thousand as its neighbour: 17 are closer.
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    digits = repr(float(value))
    if sum(character.isdigit() for character in digits.partition("e")[0]) > SAFE_DIGITS:
        digits = format(float(value), ".17g")
    return digits if "e" in digits else f"{digits}e0"


DIALECTS = {
    "duckdb": Dialect(('"', '"'), "DOUBLE", nan="isnan(CAST({x} AS DOUBLE))"),
    "postgresql": Dialect(
        ('"', '"'), "double precision", nan="CAST({x} AS double precision) = CAST('NaN' AS double precision)"
    ),
    "sqlite": Dialect(
        ('"', '"'),
        "REAL",
        booleans=("0", "1"),
        date="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        time="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        compared=dict.fromkeys(("date", "datetime"), "strftime('%Y-%m-%d %H:%M:%f', {x})"),
    ),
    "spark": Dialect(("`", "`"), "DOUBLE", _backslashed, nan="isnan(CAST({x} AS DOUBLE))", refused="\0\\"),
    "bigquery": Dialect(
        ("`", "`"),
        "FLOAT64",
        _backslashed,
        nan="IS_NAN(CAST({x} AS FLOAT64))",
        time="DATETIME '{}'",
        refused="\0\\`.\n\r",  # backslashes escape in its names, a doubled ` does not, and a dot ends one
    ),
    "tsql": Dialect(
        ("[", "]"),
        "float",
        _national,
        booleans=("0", "1"),
        date="CAST('{}' AS date)",
        time="CAST('{}' AS datetime2)",
        compared={"text": "{x} COLLATE Latin1_General_100_BIN2"},
    ),
}


def dialect_of(name: str) -> Dialect:
    """Return a dialect by its name."""
    check_choice("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]
