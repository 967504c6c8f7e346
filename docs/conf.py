"""How the docs are built: `sphinx-build -W docs build/docs`. Pages are Markdown, the API comes from docstrings."""

import os
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
os.environ.setdefault("MPLBACKEND", "Agg")

project = "sparsegam"
author = "The sparsegam developers"
copyright = "The sparsegam developers"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
]
exclude_patterns = ["_build"]
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_title = "sparsegam"
html_static_path = ["_static"]
html_show_sourcelink = False
html_sidebars = {
    "questions/*": ["sidebar-nav-bs"],
    "coming/*": ["sidebar-nav-bs"],
    "[!qc]*": [],
}  # elsewhere there is nothing to list
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_end": [],
}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # ARCHITECTURE.md is included, and its links are those of the repository

autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 110)]
plot_include_source = True
plot_rcparams = {"figure.max_open_warning": 0}


def _formulas_are_literal(app, what, name, obj, options, lines):
    """Mark the indented formulas that open a docstring as literal text, before numpydoc reads its sections."""
    out, before = [], ""
    for line in lines:
        if line.startswith("    ") and not before.strip() and not any(text.startswith("---") for text in out):
            out += ["::", ""]
        out.append(line)
        before = line
    lines[:] = out


def _without_absent_pages(app, name, source):
    """Leave the page on the paper out of the contents where the benchmarks have not written it yet."""
    if name == "index" and not (Path(app.srcdir) / "paper.md").exists():
        source[0] = source[0].replace("\npaper\n", "\n")


def setup(app):
    """Register what this site adds to Sphinx."""
    app.connect("autodoc-process-docstring", _formulas_are_literal, priority=100)
    app.connect("source-read", _without_absent_pages)
