"""Data of the deployment tests."""

import pytest

from sparsegam.datasets import make_credit


@pytest.fixture(scope="package")
def credit():
    data = make_credit(3000)
    return data.frame, data.target
