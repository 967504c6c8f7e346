"""A cluster of two worker processes for all tests of this folder; tests must leave nothing on it."""

import time

import dask
import pytest
from _helpers.mixed_table import mixed_table, with_outcomes
from distributed import Client, LocalCluster

from sparsegam._backends.dask import cluster


@pytest.fixture(scope="session")
def local_cluster():
    patient = {"distributed.comm.timeouts.connect": "300s", "distributed.comm.timeouts.tcp": "300s"}
    dask.config.set({"dataframe.convert-string": False} | patient)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as found:
        yield found


@pytest.fixture(scope="session")
def one_client(local_cluster):
    with Client(local_cluster) as found:
        yield found


@pytest.fixture
def client(one_client):
    """Return the client once both workers are running, which takes a while on a busy machine."""
    one_client.wait_for_workers(2, timeout=300)
    return one_client


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(cluster, "SHARD_ALIGNMENT", 64)


@pytest.fixture(scope="session")
def table():
    return with_outcomes(mixed_table(2000))


@pytest.fixture
def nothing_left(client):
    """Check that a test leaves no task on the scheduler, and so no results on the workers."""
    yield
    for _ in range(100):
        n_tasks = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if n_tasks == 0:
            break
        time.sleep(0.1)
    assert n_tasks == 0
