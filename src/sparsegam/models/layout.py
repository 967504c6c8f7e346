"""Tables as plain text."""

from collections.abc import Sequence


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return columns padded to their widest entry: the first two to the left, the others to the right."""
    widths = [max(len(row[j]) for row in [header, *rows]) for j in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join(map(_padded, line, widths, range(len(widths)))).rstrip() for line in lines)


def _padded(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column < 2 else cell.rjust(width)
