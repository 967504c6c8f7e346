"""Cards to test on, a real one where there is one and the emulated one everywhere; what is fitted or posed on them."""

import importlib
from functools import cache

import numpy as np
import pytest

from _helpers.emulated_card import EmulatedCard
from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.codes import CardCodes, padded
from sparsegam._backends.cuda.matrix_rows import CudaMatrixRows
from sparsegam._backends.cuda.rows import CudaRows
from sparsegam._backends.cuda.target import CardTarget

MODULES = ("inputs", "tables", "matrices", "predictions")  # that open a card
CARDS = ("emulated", "cuda")


@cache
def why_no_card():
    """Return why there is no card, or nothing where there is one."""
    try:
        Card()
    except (ImportError, RuntimeError) as error:
        return str(error)
    return ""


def open_card(kind):
    """Return a card of a kind; skip the test where there is none."""
    if kind == "emulated":
        return EmulatedCard()
    if why_no_card():
        pytest.skip(why_no_card())
    return Card()


@pytest.fixture(params=CARDS)
def card(request, monkeypatch):
    """A card, which whatever asks for one gets."""
    found = open_card(request.param)
    if request.param == "emulated":
        for name in MODULES:
            monkeypatch.setattr(importlib.import_module(f"sparsegam._backends.cuda.{name}"), "Card", EmulatedCard)
    return found


def fit_on_both(estimator, *rows, **options):
    """Fit an estimator of some class on the card, and the same on cores."""
    return [estimator(device=device, **options).fit(*rows) for device in ("cuda", "cpu")]


def padded_codes(card, codes):
    room = np.zeros(padded(codes.size), dtype=codes.dtype)
    room[: codes.size] = codes
    return card.upload(room)


def rows_of_codes(card, problem, ramps=None):
    """Return the rows of a threshold problem on a card."""
    with card:
        codes = [padded_codes(card, code) for code in problem.codes]
        bins = problem.n_bins.astype(np.int64), problem.n_ordered.astype(np.int64)
        on_card = CardCodes(card, codes, problem.y.size, bins, ramps or [None] * len(codes))
        return CudaRows(on_card, CardTarget(card, problem.y, problem.weight, problem.loss))


def rows_of_matrix(card, problem):
    """Return the rows of the expanded problem on a card."""
    with card:
        matrix = card.xp.asfortranarray(card.upload(problem.X))
        return CudaMatrixRows(card, matrix, CardTarget(card, problem.y, problem.weight, problem.loss))
