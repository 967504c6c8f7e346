"""Print the requirements of a dependency group of pyproject.toml, one per line: python tools/group.py test.

This replaces `pip install --group`, which needs pip 25.1. The file is parsed with a regular expression because Python
3.10 has no tomllib.
"""

import re
import sys
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def requirements(group: str) -> list[str]:
    """Return the requirements of a group and of the groups that it includes."""
    table = PYPROJECT.read_text(encoding="utf-8").split("[dependency-groups]")[1].split("\n[")[0]
    found = re.search(rf"^{re.escape(group)} = \[\n(.*?)^\]$", table, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        msg = f"pyproject.toml has no dependency group {group!r}"
        raise SystemExit(msg)
    included = re.findall(r'include-group = "([^"]+)"', found.group(1))
    own = re.findall(r'^    "([^"]+)",$', found.group(1), flags=re.MULTILINE)
    return [*own, *(requirement for name in included for requirement in requirements(name))]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1])))
