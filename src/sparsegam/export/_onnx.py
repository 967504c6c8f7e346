"""ONNX: the model as a graph of standard operators in 64-bit floats, for onnxruntime and its kin."""

from typing import Any

import numpy as np

from sparsegam._models.step_tables import PairTable, StepTable
from sparsegam._models.steps import StepModel, step_model
from sparsegam.arrays import FloatArray
from sparsegam.checks import optional
from sparsegam.parameters import documented

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # what runtimes of 2022 read
MISSING_TEXT = ""  # ONNX has no missing text


@documented
def to_onnx(model: Any) -> Any:
    """Build an ONNX graph; needs the package onnx, running it needs onnxruntime.

    {scorer}

    Returns
    -------
    onnx.ModelProto
        One input of shape (n, 1) per feature in use, by its name: text for categories of text (missing is the empty
        text), else float64 (missing is NaN; False and True are 0 and 1, dates are days and times microseconds since
        1970). Outputs `score` and, for a classifier, `probability` of the second class, both float64 of shape (n, 1).
    """
    onnx = _import_onnx()
    steps = step_model(model)
    steps.check_inputs("ONNX", taken=("score", "probability"))
    graph = _Graph(onnx, steps)
    proto = onnx.helper.make_model(
        graph.build(),
        producer_name="sparsegam",
        ir_version=IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
    )
    onnx.checker.check_model(proto)
    return proto


class _Graph:
    """Collects nodes and constants while the features are written one after another."""

    def __init__(self, onnx: Any, steps: StepModel) -> None:
        self._onnx = onnx
        self._steps = steps
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._used = set(steps.features)  # names of inputs are taken

    def build(self) -> Any:
        """Return the whole graph."""
        helper, proto = self._onnx.helper, self._onnx.TensorProto
        total = self._constant(np.array([[self._steps.base]]))
        for table in self._steps.tables:
            total = self._node("Add", total, self._feature(table))
        for pair in self._steps.pairs:
            total = self._node("Add", total, self._pair(pair))
        outputs = {"score": total}
        if self._steps.classes is not None:
            scaled = self._node("Mul", total, self._constant(np.array([[self._steps.slope]])))
            log_odds = self._node("Add", scaled, self._constant(np.array([[self._steps.shift]])))
            outputs["probability"] = self._node("Sigmoid", log_odds)
        for name, source in outputs.items():
            self._nodes.append(helper.make_node("Identity", [source], [name]))
        inputs = [
            helper.make_tensor_value_info(t.feature, proto.STRING if t.scale.is_text else proto.DOUBLE, ["n", 1])
            for t in self._steps.inputs
        ]
        results = [helper.make_tensor_value_info(name, proto.DOUBLE, ["n", 1]) for name in outputs]
        return helper.make_graph(self._nodes, "sparsegam", inputs, results, self._constants)

    def _feature(self, table: StepTable) -> str:
        return self._by_text(table) if table.scale.is_text else self._by_number(table)

    def _pair(self, pair: PairTable) -> str:
        """Look up the cell of each feature, and what is added where the two meet."""
        cells = [self._node("Cast", self._feature(half), to=self._onnx.TensorProto.INT64) for half in pair.halves]
        width = self._constant(np.array([[pair.adds.shape[1]]], dtype=np.int64))
        place = self._node("Add", self._node("Mul", cells[0], width), cells[1])
        return self._node("Gather", self._constant(pair.adds.ravel()), place)

    def _by_text(self, table: StepTable) -> str:
        """Look the text up: the position of its step, then what that adds."""
        position = {MISSING_TEXT: 0}
        for i, step in enumerate(table.steps):
            position |= {str(level): i for level in step.values}
        found = self._node(
            "LabelEncoder",
            table.feature,
            domain="ai.onnx.ml",
            keys_strings=list(position),
            values_int64s=list(position.values()),
            default_int64=len(table.steps) - 1,
        )
        return self._node("Gather", self._constant(table.adds), found)

    def _by_number(self, table: StepTable) -> str:
        """Count the thresholds below the value; single values and missing ones then overrule."""
        x = table.feature
        uptos = [step for step in table.steps if step.kind == "upto"]
        adds = np.array([step.adds for step in uptos] + [table.steps[-1].adds])
        edges = np.array([table.number(step.values[0]) for step in uptos])
        out = self._of_edges(x, edges, adds) if uptos else self._spread_over(x, float(adds[0]))
        if table.slopes.any():
            out = self._node("Add", out, self._slopes(x, edges, np.array([step.slope for step in uptos] + [0.0])))
        for step in table.steps:
            for value in step.values if step.kind == "equal" else ():
                same = self._node("Equal", x, self._constant(np.array([[table.number(value)]])))
                out = self._node("Where", same, self._constant(np.array([[step.adds]])), out)
        absent = self._node("IsNaN", x)
        return self._node("Where", absent, self._constant(np.array([[table.steps[0].adds]])), out)

    def _of_edges(self, x: str, edges: FloatArray, adds: FloatArray) -> str:
        return self._node("Gather", self._constant(adds), self._position(x, edges))

    def _slopes(self, x: str, edges: FloatArray, slopes: FloatArray) -> str:
        """Return what the line of its piece adds to each value; infinite ones are on none."""
        position = self._position(x, edges)
        slope = self._node("Gather", self._constant(slopes), position)
        below = self._node("Sub", x, self._node("Gather", self._constant(np.append(edges, 0.0)), position))
        flat = self._node("Equal", slope, self._constant(np.zeros((1, 1))))
        return self._node("Where", flat, self._constant(np.zeros((1, 1))), self._node("Mul", slope, below))

    def _position(self, x: str, edges: FloatArray) -> str:
        above = self._node("Greater", x, self._constant(edges[None, :]))
        counted = self._node("Cast", above, to=self._onnx.TensorProto.INT64)
        return self._node("ReduceSum", counted, self._constant(np.array([1], dtype=np.int64)), keepdims=1)

    def _spread_over(self, x: str, value: float) -> str:
        """Return a constant with a row per row of x."""
        never = self._node("And", self._node("IsNaN", x), self._node("Not", self._node("IsNaN", x)))
        constant = self._constant(np.array([[value]]))
        return self._node("Where", never, constant, constant)

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = self._fresh()
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, value: Any) -> str:
        name = self._fresh()
        array = np.asarray(value, dtype=np.int64 if value.dtype == np.int64 else np.float64)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def _fresh(self) -> str:
        name = f"_{len(self._nodes) + len(self._constants)}"
        while name in self._used:
            name += "_"
        self._used.add(name)
        return name


def _import_onnx() -> Any:
    for part in ("checker", "helper", "numpy_helper"):
        optional(f"onnx.{part}", "ONNX export", extra="export")
    return optional("onnx", "ONNX export", extra="export")
