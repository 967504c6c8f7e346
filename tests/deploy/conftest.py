"""The rows that cards and edits are made on."""

import pytest

from sparsegam.datasets import make_credit


@pytest.fixture(scope="package")
def credit():
    data = make_credit(3000)
    return data.frame, data.target
