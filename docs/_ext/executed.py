"""Execute the Python and shell blocks of the pages during the build and insert their results.

Results are printed text, the value of the last expression (as an HTML table if it has one), all figures, and an HTML
file if the last expression is its path. A block that fails causes a warning, which the build treats as an error.
"""

import base64
import html
import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from blocks import RUN, Page
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
COMMENT = re.compile(r"  # (.+)$")
RESOLUTION = 110
# Blocks with this class show only their output.
HIDDEN = "hide-source"
SHARED = (
    "matplotlib.pyplot",
    "pandas",
    "sparsegam.gam_cv",
    "sparsegam.linear_cv",
    "sparsegam.plots",
)
# Longer text is folded.
MAX_LINES = 60


class RunBlocks(SphinxTransform):
    """Run the blocks of a page in order, in a temporary folder."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Insert the output of each block below it."""
        found = [node for node in self.document.findall(nodes.literal_block) if _runs(node)]
        if not found or not str(self.env.doc2path(self.env.docname)).endswith(".md"):
            return
        with tempfile.TemporaryDirectory() as folder:
            page = Page(Path(folder))
            for node in found:
                self._run(page, node)

    def _run(self, page: Page, node: nodes.literal_block) -> None:
        code = node.astext() + "\n"
        output = page.run(node["language"], code)
        if output.error:
            LOGGER.warning("this block fails: %s", output.error, location=node)
        shown = [*_text(output.text), *self._value(output.value, page), *_pictures(code)]
        if shown:
            below = nodes.container("", *shown, classes=["output"])
            node.parent.insert(node.parent.index(node) + 1, below)
        if HIDDEN in node["classes"]:
            node.parent.remove(node)

    def _value(self, value: Any, page: Page) -> Iterator[nodes.Node]:
        from matplotlib.artist import Artist
        from matplotlib.figure import Figure
        from sklearn.base import BaseEstimator

        if value is None or isinstance(value, Artist | Figure):
            return
        if isinstance(value, Path) and value.suffix == ".html":
            yield self._frame(page.folder / value)
        elif hasattr(value, "_repr_html_") and not isinstance(value, BaseEstimator):
            yield _raw(f'<div class="output-html">{value._repr_html_()}</div>')
        else:
            yield from _text(repr(value))

    def _frame(self, file: Path) -> nodes.raw:
        """Copy a file to the site and show it in a frame."""
        place = Path("_executed", self.env.docname, file.name)
        target = Path(self.app.outdir) / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        link = "../" * self.env.docname.count("/") + place.as_posix()
        return _raw(
            f'<iframe class="output-frame" src="{link}" title="{html.escape(file.name)}" loading="lazy"></iframe>'
            f'<p class="output-link"><a href="{link}">{html.escape(file.name)} in a separate tab</a></p>'
        )


def _runs(node: nodes.literal_block) -> bool:
    """Return whether a block is executed: a fenced block, or a `{code-block}` that hides its source."""
    plain = "highlight_args" not in node or HIDDEN in node["classes"]
    return plain and node.get("language") in RUN


def _text(text: str) -> Iterator[nodes.Node]:
    """Yield printed text, folded if it is long."""
    if not text.strip():
        return
    block = nodes.literal_block(text.rstrip(), text.rstrip(), language="text", classes=["output-text"])
    n_lines = text.rstrip().count("\n") + 1
    if n_lines <= MAX_LINES:
        yield block
        return
    yield _raw(f'<details class="output-long"><summary>{n_lines} lines</summary>')
    yield block
    yield _raw("</details>")


def _pictures(code: str) -> Iterator[nodes.Node]:
    """Yield all figures that a block has drawn, and close them."""
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        figure, picture = pyplot.figure(number), io.BytesIO()
        figure.savefig(picture, dpi=RESOLUTION, format="png", facecolor="white")
        words = html.escape(_alternative_text(figure, code), quote=True)
        data = base64.b64encode(picture.getvalue()).decode("ascii")
        width = round(figure.get_figwidth() * RESOLUTION)
        image = f'<img src="data:image/png;base64,{data}" width="{width}" alt="{words}">'
        yield _raw(f'<div class="output-picture" tabindex="0">{image}</div>')
    pyplot.close("all")


def _alternative_text(figure: Any, code: str) -> str:
    """Return the alternative text of a figure: the comment of the last line, and the titles or labels of its axes."""
    comment = COMMENT.findall(code.rstrip().splitlines()[-1])
    parts = []
    for ax in figure.axes:
        about = ax.get_title() or " by ".join(filter(None, (ax.get_ylabel(), ax.get_xlabel())))
        parts += [about.replace("\n", " ")] if ax.get_visible() and about else []
    return ". ".join([*comment, ", ".join(parts)] if parts else [*comment, "Figure drawn by the code above"])


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform, and import shared modules before the build forks its processes."""
    for name in SHARED:
        import_module(name)
    app.add_transform(RunBlocks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
