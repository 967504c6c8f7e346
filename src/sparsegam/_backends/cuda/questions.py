"""Questions as they travel to a card: points as terms by feature, columns to be marked, channels to be summed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.codes import CardCodes

MOST_POINTS = 8  # that are evaluated in one pass
NEAR_BINS = 4096  # of a feature whose sums a block keeps in shared memory; beyond, they go where all others are
NEAR_BYTES = 100_000  # of shared memory for the sums of a block: two of them then share a processor
CELL = 8  # bytes of one sum
HALF_BITS = 6  # columns that make half a cell of a joint count

Words = NDArray[np.uint64]
Columns = NDArray[np.int64]
Cells = tuple[NDArray[Any], int, int]  # of a feature: the cell of each bin, ordered cells, and all of them


def words_of(*parts: Any) -> Words:
    """Put whole numbers and floats into words of eight bytes, one after the other."""
    return np.concatenate([np.ravel(part).view(np.uint64) for part in map(_eight_bytes, parts)])


def _eight_bytes(part: Any) -> NDArray[Any]:
    array = np.atleast_1d(np.asarray(part))
    return np.ascontiguousarray(array if array.dtype.itemsize == 8 else array.astype(np.int64))


def packed(small: NDArray[Any]) -> Words:
    """Put numbers of two or four bytes into words of eight."""
    missing = -small.size % (8 // small.itemsize)
    return np.append(small, np.zeros(missing, dtype=small.dtype)).view(np.uint64)


def bits_of(flags: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Put flags into words of 32 bits, at least one."""
    room = np.zeros(32 * max(-(-flags.size // 32), 1), dtype=bool)
    room[: flags.size] = flags
    return np.packbits(room, bitorder="little").view(np.uint32)


@dataclass(frozen=True)
class Lookup:
    """Columns by feature, with coefficients or bits: the words of a question, and what it takes to answer it."""

    words: Words
    n_used: int
    n_bins: int
    n_segments: int
    width: int  # numbers of a segment

    def room(self, item_bytes: int, most: int) -> int:
        """Return the shared memory that the tables of a pass can make use of."""
        units, numbers = 32 * self.n_used, item_bytes * self.n_segments * self.width
        return min(units + numbers + 2 * self.n_bins + 64, most)


def points_lookup(codes: CardCodes, points: Sequence[_core.Point]) -> Lookup:
    """Ask about some points, as many as a kernel takes; coefficients of one column stand together."""
    width = next(size for size in (1, 2, 4, 8) if size >= len(points))
    given = [(point.columns, point.coef) for point in points]
    columns = np.unique(np.concatenate([mine for mine, _ in given]))
    coef, intercept = np.zeros((columns.size, width)), np.zeros(width)
    for p, (mine, values) in enumerate(given):
        coef[np.searchsorted(columns, mine), p] = values
        intercept[p] = points[p].intercept
    return _lookup(codes, columns, np.full(columns.size, -1), width, intercept, coef)


def marks_lookup(codes: CardCodes, support: Columns) -> Lookup:
    """Ask for a bit per column of a support, in its order."""
    bits = np.argsort(support, kind="stable")
    return _lookup(codes, support[bits], bits, -(-support.size // 32), np.zeros(0), np.zeros(0))


def _lookup(codes: CardCodes, columns: Columns, bits: Columns, width: int, intercept: Any, coef: Any) -> Lookup:
    """Describe columns in ascending order."""
    n_points = intercept.size
    if columns.size == 0:
        return Lookup(words_of([0, 0, n_points, 0, 0, 0], intercept), 0, 0, 0, width)
    group = codes.group[columns]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    used = group[first]
    bins = codes.n_bins[used]
    segments = np.minimum(np.add.reduceat(codes.breaks[columns], first) + 1, bins)
    first_bin, first_segment = (np.append(0, np.cumsum(sizes)) for sizes in (bins, segments))
    head = (used.size, columns.size, n_points)
    places = (used, first, columns.size, first_bin, first_segment, codes.place[columns], bits)
    words = words_of(head, *places, intercept, coef)
    return Lookup(words, used.size, int(first_bin[-1]), int(first_segment[-1]), width)


class Carried(NamedTuple):
    """Numbers that rows carry: an array of the card (None: one each), where their largest size is, and signs."""

    values: Any
    most: int
    signed: bool = False


NOTHING = Carried(None, 0)


@dataclass(frozen=True)
class Channels:
    """What is summed: numbers of all rows, and what those carry for whom a column is marked, or has a real value."""

    base: Sequence[Carried]
    held: Carried = NOTHING
    marks: Any = None
    flip: NDArray[np.uint32] | None = None
    reals: Any = None
    n_bits: int = 0
    n_reals: int = 0

    @property
    def count(self) -> int:
        """Number of channels."""
        return len(self.base) + self.n_bits + self.n_reals

    def send(self, card: Card, n_rows: int, stride: int, precision: int) -> int:
        """Describe the channels to the kernels; return where."""
        flip = np.zeros(self.n_bits // 32 + 1, dtype=np.uint32) if self.flip is None else self.flip
        flip_at = card.send(packed(flip))
        base = [*self.base, *[NOTHING] * (3 - len(self.base)), self.held]
        carried = [(card.address(each.values), each.most, each.signed) for each in base]
        arrays = card.address(self.marks), flip_at, card.address(self.reals)
        sizes = stride, len(self.base), self.n_bits, self.n_reals, precision, n_rows
        return card.send(words_of(carried, arrays, sizes))


def groups_of(channels: Channels, most_bins: int) -> Columns:
    """Share out the channels to blocks, so that the sums of each fit into shared memory."""
    n_base, most = len(channels.base), 32 + len(channels.base)
    if most_bins <= NEAR_BINS:
        most = max(NEAR_BYTES // (CELL * most_bins), n_base + 1)
    groups, room, has_base = [], most - n_base, 1
    for word in range(-(-channels.n_bits // 32)):
        bit, last = 0, min(channels.n_bits - 32 * word, 32)
        while bit < last:
            count = min(room, last - bit)
            groups.append((has_base, word, bit, count, 0, 0))
            bit, room, has_base = bit + count, most, 0
    real = 0
    while real < channels.n_reals or has_base:
        count = min(room, channels.n_reals - real)
        groups.append((has_base, 0, 0, 0, real, count))
        real, room, has_base = real + count, most, 0
    return np.array(groups, dtype=np.int64)


@dataclass(frozen=True)
class PairTables:
    """The tables of some pairs of features, one after the other: a line for each cell of the first feature.

    Attributes
    ----------
    pairs : ndarray
        Of each its features, where the cells of their bins begin, lines and width, and where its sums begin.
    cell_of : ndarray
        The cell of each bin, feature after feature.
    n_sums : int
        Number of cells of all tables.
    """

    pairs: Columns
    cell_of: NDArray[np.uint16]
    n_sums: int

    @classmethod
    def of(cls, cells: Sequence[Cells | None], pairs: Columns) -> "PairTables":
        """Describe the tables of pairs; features that are in none may have no cells."""
        used = {f: mine for f, mine in enumerate(cells) if mine is not None}
        first_cell, n_cells = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.int64)
        upto = 0
        for f, (of_bin, _, count) in used.items():
            first_cell[f], n_cells[f] = upto, count
            upto += len(of_bin)
        cell_of = [np.asarray(of_bin, dtype=np.uint16) for of_bin, *_ in used.values()]
        sizes = n_cells[pairs].prod(axis=1)
        described = np.column_stack([pairs, first_cell[pairs], n_cells[pairs], np.cumsum(sizes) - sizes])
        return cls(described, np.concatenate(cell_of or [np.zeros(0, dtype=np.uint16)]), int(sizes.sum()))

    @property
    def bytes_by_line(self) -> Columns:
        """Bytes that the sums of a line take, of each pair."""
        return 2 * CELL * self.pairs[:, 5]

    @property
    def n_lines(self) -> Columns:
        """Lines of each pair."""
        return self.pairs[:, 4]


@lru_cache(maxsize=256)
def gram_jobs(n_columns: int) -> tuple[Columns, Columns]:
    """Say how a Gram matrix is put together: the joint counts, and the count and masks of each of its entries.

    Entries are those of the upper triangle, row by row, then those of the gradient; each has its job, the masks of its
    halves, and room for the number of rows of a gradient's column.
    """
    n_halves = max(-(-n_columns // HALF_BITS), 2)
    pairs = [(i, j, 1) for i in range(n_halves) for j in range(i + 1, n_halves)]
    sums = [(i, min(i + 1, n_halves - 1), 0) for i in range(0, n_halves, 2)]
    jobs = [(i if i < j else i - 1, j, channel) for i, j, channel in [*pairs, *sums]]
    of_pair = {job[:2]: at for at, job in enumerate(pairs)}
    entries = []
    for a in range(n_columns):
        for b in range(a, n_columns):
            i, j = a // HALF_BITS, b // HALF_BITS
            masks = [1 << a % HALF_BITS, 1 << b % HALF_BITS]
            if i == j:
                i, j, masks = (i, i + 1, [sum(set(masks)), 0]) if i + 1 < n_halves else (i - 1, i, [0, sum(set(masks))])
            entries.append((of_pair[i, j], *masks, 0))
    for a in range(n_columns):
        half = a // HALF_BITS
        at = len(pairs) + half // 2
        mask = 1 << a % HALF_BITS
        entries.append((at, mask, 0, 0) if jobs[at][0] == half else (at, 0, mask, 0))
    return np.array(jobs, dtype=np.int64), np.array(entries, dtype=np.int64).reshape(-1, 4)
