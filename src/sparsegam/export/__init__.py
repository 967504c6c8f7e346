"""Export a model, a scorecard or a fitted estimator to code, SQL or a document that scores rows without sparsegam."""

from sparsegam.export._code import to_javascript, to_python
from sparsegam.export._excel import to_excel
from sparsegam.export._latex import to_latex
from sparsegam.export._onnx import to_onnx
from sparsegam.export._pmml import to_pmml
from sparsegam.export._sql import to_sql

__all__ = ["to_excel", "to_javascript", "to_latex", "to_onnx", "to_pmml", "to_python", "to_sql"]
