"""Report on a model: a self-contained HTML file with charts, performance, alternatives and a scoring form."""

from sparsegam.report._write import write_report

__all__ = ["write_report"]
