"""Print the requirements of one extra of pyproject.toml, one a line: python tools/extra.py test."""

import re
import sys
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def requirements(extra: str) -> list[str]:
    """Requirements listed under one extra; a regular expression, since Python 3.10 has no tomllib."""
    table = PYPROJECT.read_text(encoding="utf-8").split("[project.optional-dependencies]")[1].split("\n[")[0]
    found = re.search(rf"^{re.escape(extra)} = \[(.*?)\]$", table, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        msg = f"pyproject.toml has no extra {extra!r}"
        raise SystemExit(msg)
    return re.findall(r'"([^"]+)"', found.group(1))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1])))
