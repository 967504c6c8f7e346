"""The contract of all backends: the same counts, sums, scores and row oracles for the same table."""

import pickle

import numpy as np
import pandas as pd
import pytest
from _helpers.device_rows import emulate_device, open_device

from sparsegam import _core
from sparsegam._backends.cuda.backend import CudaBackend
from sparsegam._backends.local import LocalBackend
from sparsegam._backends.protocol import Cells, LabelledData
from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._design.interactions import BinRange, Interaction
from sparsegam._models.terms import Condition

N_ROWS = 300
BACKENDS = ("local", "emulated", "cuda", "dask")
INTERACTIONS = (
    Interaction(BinRange(0, 0, 4), BinRange(1, 0, 1)),  # amount <= its 4th threshold and visits <= its 1st
    Interaction(BinRange(1, 2, 4), BinRange(2, 1, 2)),  # visits > its 2nd threshold and kind == "y"
)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "amount": np.where(rng.random(N_ROWS) < 0.1, np.nan, rng.normal(size=N_ROWS).round(2)),
            "visits": np.where(rng.random(N_ROWS) < 0.1, -9.0, rng.integers(0, 4, N_ROWS)),
            "kind": rng.choice(["x", "y", "z"], N_ROWS),
        }
    )


@pytest.fixture(scope="module")
def labels():
    return np.where(np.random.default_rng(1).random(N_ROWS) < 0.4, 1.0, -1.0)


@pytest.fixture(scope="module", params=[False, True], ids=["unweighted", "weighted"])
def weight(request):
    rng = np.random.default_rng(2)
    return rng.integers(0, 4, N_ROWS).astype(float) if request.param else np.ones(N_ROWS)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(params=BACKENDS)
def encode(request, monkeypatch, frame, labels, weight):
    """Return a function that encodes the table with one of the backends."""
    binning = Binning(max_bins=12, special_values={"visits": [-9.0]}, min_category_count=1)

    def encode(shape="steps", *, interactions=False):
        shapes = [shape] * 3
        if request.param != "dask":
            backend = LocalBackend() if request.param == "local" else CudaBackend()
            data = LabelledData(read_table(frame), labels, weight)
            return backend.encode(data, binning, shapes, "logistic", interactions=interactions)
        return encode_on_cluster(request, monkeypatch, (frame, labels, weight), binning, shapes)

    if request.param in ("emulated", "cuda"):
        open_device(request.param)
    if request.param == "emulated":
        emulate_device(monkeypatch)
    return encode


def encode_on_cluster(request, monkeypatch, data, binning, shapes):
    from _helpers.dask_parts import frame_of

    from sparsegam._backends.dask import cluster as cluster_module
    from sparsegam._backends.dask.backend import ClusterTable, DaskBackend
    from sparsegam._backends.dask.parts import split_into_parts

    frame, labels, weight = data
    monkeypatch.setattr(cluster_module, "SHARD_ALIGNMENT", 64)
    parts = split_into_parts(frame_of(frame.assign(label=labels, weight=weight), [100, 120]), "label", "weight")
    cluster = cluster_module.Cluster(request.getfixturevalue("client"), parts, binning, is_classifier=True)
    request.addfinalizer(cluster.close)
    return DaskBackend().encode(ClusterTable(cluster, positive=1), binning, shapes, "logistic", interactions=False)


def column_values(design, frame):
    """Return the values of the columns that represent a term, by column, computed from the conditions of the terms."""
    found = {}
    for column in range(design.n_columns):
        try:
            term = design.term(column, 1.0)
        except ValueError:
            continue
        ramp = design.ramp_of(column)
        if ramp is not None and ramp[0].exact:
            # Rows at the knot of an exact ramp are not below it.
            found[column] = holds(Condition("ramp", term.condition.value - 1, 0.0), frame[term.feature]).astype(float)
            continue
        conditions = [holds(clause.condition, frame[clause.feature]) for clause in term.clauses]
        found[column] = np.logical_and.reduce(conditions).astype(float)
    return found


def holds(condition, values):
    if condition.kind == "missing":
        return values.isna().to_numpy()
    if condition.kind == "ramp":
        return ((values <= condition.value) & (values != -9)).to_numpy()
    if condition.kind == "==":
        return (values == condition.value).to_numpy()
    ordered = values != -9
    below = values <= condition.value
    return ((below if condition.kind == "<=" else ~below & values.notna()) & ordered).to_numpy()


def ramp_values(design, column, frame):
    """Return the values of a ramp at the raw values, in the unit of the core."""
    ramps, position = design.ramp_of(column)
    values = frame[design.names[design.feature_of[column]]].to_numpy()
    return np.where(np.isnan(values) | (values == -9), 0.0, ramps.values(position, values))


@pytest.mark.parametrize("shape", ["steps", "both"])
def test_columns_are_counted_and_weighed(encode, frame, labels, weight, shape):
    encoded, kept = encode(shape), weight > 0
    design = encoded.design
    assert design.n_rows == kept.sum()
    assert encoded.total_weight == weight.sum()
    assert encoded.n_events == (labels[kept] > 0).sum()
    values = column_values(design, frame[kept])
    columns = np.array(list(values))
    expected = np.array(list(values.values()))
    np.testing.assert_array_equal(design.counts[columns], expected.sum(axis=1))
    relative = weight[kept] / weight[kept].mean()
    np.testing.assert_allclose(design.weights[columns], expected @ relative, rtol=1e-12)
    np.testing.assert_array_equal(encoded.count_events(columns), expected @ (labels[kept] > 0))
    assert encoded.count_events(columns[:0]).size == 0


def test_rows_evaluate_the_scaled_loss(encode, frame, labels, weight):
    encoded, kept = encode(), weight > 0
    design = encoded.design
    values = column_values(design, frame[kept])
    columns = np.array([1, int(design.offset[1]), int(design.offset[2])])
    point = _core.Point(0.3, columns, np.array([-1.0, 0.5, 2.0]))
    score = 0.3 + point.coef @ np.array([values[c] for c in columns.tolist()])
    (loss,) = encoded.rows.evaluate([encoded.units.to_core(point)])
    expected = weight[kept] @ np.log1p(np.exp(-labels[kept] * score))
    assert loss * encoded.units.loss == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("shape", ["steps", "both"])
def test_scores_and_their_histogram_use_raw_values(encode, frame, weight, shape):
    encoded, kept = encode(shape), weight > 0
    design = encoded.design
    values = column_values(design, frame)
    columns, coef = np.array([0, 3, int(design.offset[2])]), np.array([-1.0, 0.5, 2.0])
    score = 0.25 + coef @ np.array([values[c] for c in columns.tolist()])
    for ramp in np.flatnonzero(design.is_ramp)[:2].tolist():
        columns, coef = np.append(columns, ramp), np.append(coef, 0.75)
        score = score + 0.75 * ramp_values(design, ramp, frame)
    point = _core.Point(0.25, columns, coef)
    np.testing.assert_allclose(encoded.score(read_table(frame), [point])[0], score, rtol=1e-12, atol=1e-12)
    histogram = encoded.score_histogram(point)
    assert histogram.low == pytest.approx(score[kept].min(), abs=1e-12)
    assert histogram.high == pytest.approx(score[kept].max(), abs=1e-12)
    assert histogram.counts.sum() == kept.sum()


def test_raw_value_rows_evaluate_ramps_at_raw_values(encode, frame, labels, weight):
    encoded, kept = encode("both"), weight > 0
    design = encoded.design
    ramp = int(np.flatnonzero(design.is_ramp)[0])
    columns, coef = np.array([1, ramp]), np.array([0.5, -2.0])
    assert not design.is_exact(columns)
    score = 0.1 + 0.5 * column_values(design, frame[kept])[1] - 2.0 * ramp_values(design, ramp, frame[kept])
    rows = encoded.raw_value_rows(columns)
    (loss,) = rows.evaluate([_core.Point(0.1, np.arange(2), coef)])
    expected = weight[kept] @ np.log1p(np.exp(-labels[kept] * score))
    assert loss * encoded.units.loss == pytest.approx(expected, rel=1e-6)
    assert len(rows.columns.mean) == 2


def test_values_without_training_rows_are_not_scored(encode, frame):
    encoded = encode()
    point = _core.Point(0.0, np.array([int(encoded.design.offset[2])]), np.ones(1))
    assert encoded.score(read_table(frame.assign(kind="new")), [point]) is None
    assert encoded.score(read_table(frame.assign(visits=np.nan)), [point]) is not None


def test_designs_can_be_pickled(encode):
    design = encode("both").design
    copied = pickle.loads(pickle.dumps(design))
    np.testing.assert_array_equal(copied.counts, design.counts)
    assert copied.names == design.names


def test_interactions_are_counted_and_summed(request, encode, frame, labels, weight):
    if "dask" in request.node.name:
        with pytest.raises(ValueError, match="interactions are not supported on a Dask cluster"):
            encode().with_interactions(INTERACTIONS)
        return
    plain, kept = encode(interactions=True), weight > 0
    encoded = plain.with_interactions(INTERACTIONS[::-1])
    design = encoded.design
    assert design.interactions == INTERACTIONS
    assert plain.design.n_columns == design.n_columns - 4
    columns = design.columns_of(INTERACTIONS)
    values = column_values(design, frame[kept])
    expected = np.array([values[c] for c in columns.tolist()])
    np.testing.assert_array_equal(design.counts[columns], expected.sum(axis=1))
    np.testing.assert_allclose(design.weights[columns], expected @ (weight[kept] / weight[kept].mean()), rtol=1e-12)
    np.testing.assert_array_equal(encoded.count_events(columns), expected @ (labels[kept] > 0))
    assert encoded.with_interactions(()).design.n_columns == plain.design.n_columns


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_of_two_features_are_summed(request, encode, frame, weight, weighted):
    if "dask" in request.node.name:
        pytest.skip("only needed for interactions")
    encoded, kept = encode(interactions=True), weight > 0
    design = encoded.design
    first = Cells(0, (np.arange(design.n_bins[0]) >= 3).astype(np.intp), 2)
    second = Cells(2, np.arange(design.n_bins[2], dtype=np.intp), 4)
    rows = frame[kept]
    low = (rows["amount"] <= design.term(2, 1.0).condition.value).to_numpy()
    kinds = [design.term(int(design.offset[2]) + b, 1.0).condition.value for b in range(3)]
    each = weight[kept] if weighted else np.ones(kept.sum())
    expected = np.zeros((2, 4))
    for i, mask in enumerate([low, ~low]):
        expected[i, :3] = [each[mask & (rows["kind"] == kind).to_numpy()].sum() for kind in kinds]
    found = encoded.sum_cells(first, second, weighted=weighted)
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), rtol=1e-12)
    if not weighted:
        assert found.sum() == kept.sum()
