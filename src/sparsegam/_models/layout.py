"""Tables as plain text."""

from collections.abc import Sequence


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, n_text: int = 2) -> str:
    """Return columns padded to their widest entry: the first few to the left, the others to the right."""
    widths = [max(len(row[j]) for row in [header, *rows]) for j in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    pads = [str.ljust if j < n_text else str.rjust for j in range(len(widths))]
    return "\n".join(
        "  ".join(pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)).rstrip()
        for line in lines
    )
