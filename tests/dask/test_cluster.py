"""Worker failures, closed clusters, and what fits leave on a cluster."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from _helpers.dask_parts import frame_of
from distributed import Client, LocalCluster

from sparsegam._backends.dask import cluster
from sparsegam.dask import DaskSparseGAMClassifier, DaskSparseGAMClassifierCV

FEATURES = ["age", "debt", "income", "owner", "job", "grade"]
SETTINGS = {"special_values": [-9.0], "max_bins": 50, "lambda0": 2.0}


class WorkerKiller(threading.Thread):
    """Kills a worker whenever two workers are running, until it has killed a given number."""

    def __init__(self, client, n_failures):
        super().__init__(daemon=True)
        self.client, self.left, self.done = client, n_failures, threading.Event()

    def run(self):
        while self.left and not self.done.is_set():
            pids = [worker["pid"] for worker in running_workers(self.client)]
            if len(pids) == 2:
                os.kill(pids[self.left % 2], signal.SIGKILL)
                self.left -= 1
            self.done.wait(0.7)


def running_workers(client):
    found = client.run(os.getpid, on_error="ignore")
    return [{"pid": pid} for pid in found.values() if isinstance(pid, int)]


@pytest.fixture
def expendable_client():
    workers = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with workers, Client(workers) as client:
        yield client


def delay_requests(monkeypatch, seconds):
    """Delay every request, so that workers fail while it is computed."""
    map_encoded = cluster.Cluster.map_encoded

    def ask(self, *given):
        time.sleep(seconds)
        return map_encoded(self, *given)

    monkeypatch.setattr(cluster.Cluster, "map_encoded", ask)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
@pytest.mark.parametrize("kind", [DaskSparseGAMClassifier, DaskSparseGAMClassifierCV])
def test_fit_is_the_same_after_five_worker_failures(expendable_client, table, kind, monkeypatch):
    settings = SETTINGS
    if kind is DaskSparseGAMClassifierCV:
        settings = {"special_values": [-9.0], "max_bins": 20, "max_terms": 3, "cv": 2, "lambda2": 1.0}
    X = frame_of(table[[*FEATURES, "y"]])
    expected = kind(**settings, client=expendable_client).fit(X, "y")
    delay_requests(monkeypatch, 0.05)
    killer = WorkerKiller(expendable_client, n_failures=5)
    killer.start()
    found = kind(**settings, client=expendable_client).fit(X, "y")
    end = time.monotonic() + 60
    # A fit may end before five workers were killed.
    while killer.left and time.monotonic() < end:
        found = kind(**settings, client=expendable_client).fit(X, "y")
    killer.done.set()
    killer.join()
    assert killer.left == 0
    # The number of shards, and with it the last digits of sums, depends on the number of workers at the start.
    assert [(t.feature, t.condition) for t in found.terms_] == [(t.feature, t.condition) for t in expected.terms_]
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)


def test_lost_shards_are_computed_again(client, table, monkeypatch):
    """Every request behaves as if all workers had lost their shards."""
    X = frame_of(table[[*FEATURES, "y"]])
    expected = DaskSparseGAMClassifier(**SETTINGS).fit(X, "y")
    monkeypatch.setattr(cluster.Cluster, "_call_workers", lambda *_: {})
    found = DaskSparseGAMClassifier(**SETTINGS).fit(X, "y")
    assert found.model_.to_json() == expected.model_.to_json()


def test_restarted_cluster_raises_runtime_error(expendable_client, table, monkeypatch):
    map_encoded = cluster.Cluster.map_encoded

    def restart(self, *given):
        if self.round_trips == 20:
            self.client.restart()
        return map_encoded(self, *given)

    monkeypatch.setattr(cluster.Cluster, "map_encoded", restart)
    X = frame_of(table[[*FEATURES, "y"]])
    with pytest.raises(RuntimeError, match="the Dask cluster was closed or restarted"):
        DaskSparseGAMClassifier(**SETTINGS, client=expendable_client).fit(X, "y")
    monkeypatch.undo()
    assert DaskSparseGAMClassifier(**SETTINGS, client=expendable_client).fit(X, "y").n_terms_ > 2


def test_cluster_without_workers_raises_runtime_error(table):
    X = frame_of(table[[*FEATURES, "y"]])
    empty = LocalCluster(n_workers=0, dashboard_address=":0")
    with empty, Client(empty) as client, pytest.raises(RuntimeError, match="the Dask cluster has no workers"):
        DaskSparseGAMClassifier(client=client).fit(X, "y")


def test_fits_leave_nothing_on_the_cluster(client, table, nothing_left):
    X = frame_of(table[[*FEATURES, "y"]])

    def held(dask_worker):
        return len(dask_worker.data)

    for _ in range(8):
        DaskSparseGAMClassifier(**SETTINGS).fit(X, "y")
    for _ in range(50):
        if sum(client.run(held).values()) == 0:
            break
        time.sleep(0.1)
    assert sum(client.run(held).values()) == 0


def test_shards_start_at_multiples_of_the_alignment(monkeypatch):
    assert cluster.starts_of_shards(2000, 2) == [0, 1024]
    assert cluster.starts_of_shards(10, 3) == [0]
    monkeypatch.setattr(cluster, "SHARD_ALIGNMENT", 8192)
    starts = cluster.starts_of_shards(1_000_000, 7)
    assert len(starts) == 7
    assert all(start % 8192 == 0 for start in starts)
    assert np.diff([*starts, 1_000_000]).max() < 160_000
