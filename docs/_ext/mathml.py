"""Formulas as MathML, which browsers set by themselves: no script, no fonts, nothing from outside."""

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def _converted(node: Any, *, block: bool) -> str:
    try:
        return str(latex2mathml.tex2mathml(node.astext(), as_block=block))
    except (MathError, SyntaxError) as error:
        LOGGER.warning("this formula cannot be set (%s): %s", error, node.astext(), location=node)
        return ""


def _visit_inline(self: Any, node: Any) -> None:
    self.body.append(_converted(node, block=False))
    raise SkipNode


def _visit_block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="math-block">{_converted(node, block=True)}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer: html_math_renderer = "mathml"."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
