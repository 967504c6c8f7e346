"""Formulas as MathML, which browsers set by themselves: no script, no fonts, nothing from outside."""

from typing import Any

from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def _converted(text: str, *, block: bool) -> str:
    try:
        tree = latex2mathml.tex2mathml(text, as_block=block)
    except (MathError, SyntaxError) as error:
        msg = f"this formula cannot be set ({error}): {text}"
        raise ExtensionError(msg) from error
    return str(tree)


def _visit_inline(self: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    self.body.append(_converted(node.astext(), block=False))
    raise SkipNode


def _visit_block(self: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    self.body.append(f'<div class="math-block">{_converted(node.astext(), block=True)}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer: html_math_renderer = "mathml"."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
