"""Export to ONNX: a graph of standard operators in 64-bit floats."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._models.functions import Bins, FittedFunction, ScoreFunction, score_function
from sparsegam.arrays import FloatArray
from sparsegam.checks import optional

# Versions that runtimes released in 2022 or later can read.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8

# ONNX has no missing text.
MISSING_TEXT = ""


def to_onnx(model: Any) -> Any:
    """Export to an ONNX graph; requires the package onnx. The graph runs in onnxruntime.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model to export.

    Returns
    -------
    onnx.ModelProto
        The graph. It has an input of shape (n, 1) for each feature of the model, by name: string for text categories,
        where the empty string is missing, else double, where NaN is missing. False and True are 0 and 1, dates are days
        since 1970, times are microseconds since 1970. The outputs are `score` and, for a classifier, `probability` of
        the second class, both double of shape (n, 1).
    """
    for module in ("checker", "helper", "numpy_helper"):
        optional(f"onnx.{module}", "ONNX export", extra="export")
    onnx = optional("onnx", "ONNX export", extra="export")
    score = score_function(model)
    score.check_inputs("ONNX", ("score", "probability"))
    proto = onnx.helper.make_model(
        _Graph(onnx, score).build(),
        producer_name="sparsegam",
        ir_version=IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
    )
    onnx.checker.check_model(proto)
    return proto


class _Graph:
    """Collect the nodes and constants of a graph; methods that add nodes return the name of the output."""

    def __init__(self, onnx: Any, score: ScoreFunction) -> None:
        self._onnx = onnx
        self._score = score
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._used_names = set(score.features)

    def build(self) -> Any:
        helper, proto = self._onnx.helper, self._onnx.TensorProto
        total = self._constant(np.array([[self._score.base]]))
        for function in self._score.functions:
            total = self._node("Add", total, self._pair(function) if function.is_pair else self._feature(function))
        outputs = {"score": total}
        if self._score.classes is not None:
            scaled = self._node("Mul", total, self._constant(np.array([[self._score.slope]])))
            log_odds = self._node("Add", scaled, self._constant(np.array([[self._score.shift]])))
            outputs["probability"] = self._node("Sigmoid", log_odds)
        for name, source in outputs.items():
            self._nodes.append(helper.make_node("Identity", [source], [name]))
        inputs = [
            helper.make_tensor_value_info(b.feature, proto.STRING if b.scale.is_text else proto.DOUBLE, ["n", 1])
            for b in self._score.inputs
        ]
        results = [helper.make_tensor_value_info(name, proto.DOUBLE, ["n", 1]) for name in outputs]
        return helper.make_graph(self._nodes, "sparsegam", inputs, results, self._constants)

    def _feature(self, function: FittedFunction) -> str:
        return self._result(function.bins, function.contributions, function.slopes if function.has_slopes else None)

    def _pair(self, pair: FittedFunction) -> str:
        """Compute the bin of each feature, and look up the contribution of the pair of bins."""
        numbers = [self._result(bins, np.arange(len(bins), dtype=np.float64)) for bins in pair.axes]
        rows, columns = (self._node("Cast", number, to=self._onnx.TensorProto.INT64) for number in numbers)
        width = self._constant(np.array([[len(pair.axes[1])]], dtype=np.int64))
        cell = self._node("Add", self._node("Mul", rows, width), columns)
        return self._node("Gather", self._constant(pair.contributions.ravel()), cell)

    def _result(self, bins: Bins, results: FloatArray, slopes: FloatArray | None = None) -> str:
        """Look up the result of the bin of each row."""
        return self._text_result(bins, results) if bins.scale.is_text else self._numeric_result(bins, results, slopes)

    def _text_result(self, bins: Bins, results: FloatArray) -> str:
        position = {MISSING_TEXT: 0}
        for i, bin_ in enumerate(bins.bins):
            position |= {str(level): i for level in bin_.values}
        found = self._node(
            "LabelEncoder",
            bins.feature,
            domain="ai.onnx.ml",
            keys_strings=list(position),
            values_int64s=list(position.values()),
            default_int64=len(bins) - 1,
        )
        return self._node("Gather", self._constant(results), found)

    def _numeric_result(self, bins: Bins, results: FloatArray, slopes: FloatArray | None) -> str:
        """Look up the result by the number of thresholds below each value; single and missing values override it."""
        x, inside = bins.feature, slice(bins.first_interval, None)
        if bins.edges.size and not bins.scale.has_levels:
            total = self._node("Gather", self._constant(results[inside]), self._position(x, bins.edges))
        else:
            total = self._fill_like(x, float(results[-1]))
        if slopes is not None:
            total = self._node("Add", total, self._ramps(x, bins.edges, slopes[inside]))
        for bin_, result in zip(bins.bins, results.tolist(), strict=True):
            for value in bin_.values:
                same = self._node("Equal", x, self._constant(np.array([[bins.plain_number(value)]])))
                total = self._node("Where", same, self._constant(np.array([[result]])), total)
        return self._node("Where", self._node("IsNaN", x), self._constant(np.array([[results[0]]])), total)

    def _ramps(self, x: str, edges: FloatArray, slopes: FloatArray) -> str:
        """Compute slope * (x - end) on the piece of each value, and 0 where the slope is 0, also for infinite x."""
        position = self._position(x, edges)
        slope = self._node("Gather", self._constant(slopes), position)
        difference = self._node("Sub", x, self._node("Gather", self._constant(np.append(edges, 0.0)), position))
        flat = self._node("Equal", slope, self._constant(np.zeros((1, 1))))
        return self._node("Where", flat, self._constant(np.zeros((1, 1))), self._node("Mul", slope, difference))

    def _position(self, x: str, edges: FloatArray) -> str:
        above = self._node("Greater", x, self._constant(edges[None, :]))
        counted = self._node("Cast", above, to=self._onnx.TensorProto.INT64)
        return self._node("ReduceSum", counted, self._constant(np.array([1], dtype=np.int64)), keepdims=1)

    def _fill_like(self, x: str, value: float) -> str:
        """Compute a constant with as many rows as x, by a condition that is always false."""
        never = self._node("And", self._node("IsNaN", x), self._node("Not", self._node("IsNaN", x)))
        constant = self._constant(np.array([[value]]))
        return self._node("Where", never, constant, constant)

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = self._new_name()
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, value: FloatArray | NDArray[np.int64]) -> str:
        name = self._new_name()
        self._constants.append(self._onnx.numpy_helper.from_array(value, name))
        return name

    def _new_name(self) -> str:
        name = f"_{len(self._nodes) + len(self._constants)}"
        while name in self._used_names:
            name += "_"
        self._used_names.add(name)
        return name
