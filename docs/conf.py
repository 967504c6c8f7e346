"""Sphinx configuration (`sphinx-build -W docs build/docs`): Markdown pages and an API reference made from docstrings.

The Python and shell blocks of the pages are executed during the build (`_ext/executed.py`).
"""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "tools")]

project = "sparsegam"
author = "The sparsegam developers"
copyright = "The sparsegam developers"
version = release = installed_version("sparsegam")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "executed",
    "mathml",
]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_title = "sparsegam"
html_static_path = ["_static"]
html_css_files = ["sparsegam.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"
# These sections have one page and need no section navigation.
html_sidebars = {page: [] for page in ("index", "getting_started", "tutorial", "theory", "paper")}
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_end": [],
    "navigation_with_keys": False,
    # Listing only the current section makes the build three times as fast.
    "collapse_navigation": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "amsmath"]
myst_heading_anchors = 3
# ARCHITECTURE.md is included; its links refer to the repository.
suppress_warnings = ["myst.xref_missing"]

# Single backticks in docstrings, such as `x <= t`, are code.
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def _formulas_are_literal(app, what, name, obj, options, lines):
    """Mark indented formulas at the beginning of a docstring as literal text, before numpydoc parses its sections."""
    out, before = [], ""
    for line in lines:
        if line.startswith("    ") and not before.strip() and not any(text.startswith("---") for text in out):
            out += ["::", ""]
        out.append(line)
        before = line
    lines[:] = out


def _is_ours(app, what, name, obj, skip, options):
    """Skip members inherited from scikit-learn, and fields that the class docstring documents."""
    if what != "class" or skip or isinstance(obj, property):
        return None
    home = getattr(obj, "__module__", "") or getattr(getattr(obj, "__func__", None), "__module__", "") or ""
    return None if home.startswith("sparsegam") and not name.startswith("set_") else True


def setup(app):
    """Register what this site adds to Sphinx."""
    app.connect("autodoc-process-docstring", _formulas_are_literal, priority=100)
    app.connect("autodoc-skip-member", _is_ours)
