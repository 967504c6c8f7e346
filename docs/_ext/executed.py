"""Runs the Python and shell blocks of the pages when the docs are built, and puts what they show below each.

Text that is printed, the value of a last line (tables as such), every picture that was drawn, and an HTML file that a
last line names, in a frame. A block that fails is a warning, and so an error of the build.
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
HIDDEN = "hide-source"  # a class of blocks of which only the output is shown
SHARED = (
    "matplotlib.pyplot",
    "pandas",
    "sparsegam.gam_cv",
    "sparsegam.linear_cv",
    "sparsegam.plots",
)
LONGEST = 60  # lines of text that are shown at once; the rest can be unfolded


class RunBlocks(SphinxTransform):
    """Runs the blocks of one page, in order, in a folder of their own."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Put the output of each block below it."""
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
        """Copy a file to the site, and show it in a frame."""
        place = Path("_executed", self.env.docname, file.name)
        target = Path(self.app.outdir) / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        link = "../" * self.env.docname.count("/") + place.as_posix()
        return _raw(
            f'<iframe class="output-frame" src="{link}" title="{html.escape(file.name)}" loading="lazy"></iframe>'
            f'<p class="output-link"><a href="{link}">{html.escape(file.name)} by itself</a></p>'
        )


def _runs(node: nodes.literal_block) -> bool:
    """Tell whether a block is run: a plain one of these languages, or a `{code-block}` that hides its source."""
    plain = "highlight_args" not in node or HIDDEN in node["classes"]
    return plain and node.get("language") in RUN


def _text(text: str) -> Iterator[nodes.Node]:
    """Give text as it was printed; what is long can be unfolded."""
    if not text.strip():
        return
    block = nodes.literal_block(text.rstrip(), text.rstrip(), language="text", classes=["output-text"])
    n_lines = text.rstrip().count("\n") + 1
    if n_lines <= LONGEST:
        yield block
        return
    yield _raw(f'<details class="output-long"><summary>{n_lines} lines</summary>')
    yield block
    yield _raw("</details>")


def _pictures(code: str) -> Iterator[nodes.Node]:
    """Give each figure that the block has drawn, and close it."""
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        figure, picture = pyplot.figure(number), io.BytesIO()
        figure.savefig(picture, dpi=RESOLUTION, format="png", facecolor="white")
        words = html.escape(_in_words(figure, code), quote=True)
        data = base64.b64encode(picture.getvalue()).decode("ascii")
        width = round(figure.get_figwidth() * RESOLUTION)
        image = f'<img src="data:image/png;base64,{data}" width="{width}" alt="{words}">'
        yield _raw(f'<div class="output-picture" tabindex="0">{image}</div>')
    pyplot.close("all")


def _in_words(figure: Any, code: str) -> str:
    """Say what a figure shows: the comment of the line that drew it, and the titles or axes of its parts."""
    told = COMMENT.findall(code.rstrip().splitlines()[-1])
    parts = []
    for ax in figure.axes:
        about = ax.get_title() or " by ".join(filter(None, (ax.get_ylabel(), ax.get_xlabel())))
        parts += [about.replace("\n", " ")] if ax.get_visible() and about else []
    return ". ".join([*told, ", ".join(parts)] if parts else [*told, "Picture drawn by the code above"])


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform; load what most blocks need before processes are made that read pages."""
    for name in SHARED:
        import_module(name)
    app.add_transform(RunBlocks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
