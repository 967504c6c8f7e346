"""The report: one self-contained HTML file about a model, to be read, tried out and handed over."""

from sparsegam.report._write import write_report

__all__ = ["write_report"]
