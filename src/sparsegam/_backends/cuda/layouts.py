"""Data that the kernels read: bin codes, targets, supports, channels and tables, with their layouts in device memory.

A structure of a kernel is a sequence of 8-byte words: integers are int64, real numbers float64, pointers addresses. It
is packed on the host (`pack_words`) and copied to the device in one transfer (`Device.send`). Arrays of smaller numbers
are padded to whole words (`pad_to_words`). Each layout below names the structure in `kernels/` that it corresponds to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.cuda.device import Device
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

THREADS = 256  # threads of a block in kernels that reduce in shared memory
ROW_PADDING = 16  # Arrays with an entry per row are padded to a multiple of it, so that four rows are read at once.
BINARY_BINS = 2
NO_RAMPS = -1

# Losses are added up by block of rows, then over blocks, in double precision. The partition depends on the number of
# rows only, so the sums have the same bits on every device.
BLOCK_ROWS = 4096
MAX_BLOCKS = 2048

MAX_POINTS = 8  # points whose losses are computed in one pass
SHARED_MEMORY_BINS = 4096  # Sums of features with more bins are accumulated in global memory.
SHARED_MEMORY_BYTES = 100_000  # for the sums of a block: two blocks then share a processor
SUM_BYTES = 8  # bytes of the sum of one channel in one bin
HALF_BITS = 6  # columns in half an index of a joint count; see `gram_layout`

Words = NDArray[np.uint64]
IntArray = NDArray[np.int64]
RampArrays = tuple[FloatArray, FloatArray, IntArray]  # centre and upper edge of each ordered bin, bins of the knots
CoarseBins = tuple[NDArray[Any], int, int]  # cell of each bin of a feature, number of ordered cells, number of cells


def padded_size(n_rows: int) -> int:
    """Return the length of device arrays with an entry per row."""
    return -(-n_rows // ROW_PADDING) * ROW_PADDING


def pack_words(*parts: Any) -> Words:
    """Concatenate integers and floats as 8-byte words."""
    return np.concatenate([np.ravel(_as_8_bytes(part)).view(np.uint64) for part in parts])


def _as_8_bytes(part: Any) -> NDArray[Any]:
    array = np.atleast_1d(np.asarray(part))
    return np.ascontiguousarray(array if array.dtype.itemsize == 8 else array.astype(np.int64))


def pad_to_words(numbers: NDArray[Any]) -> Words:
    """View numbers of 2 or 4 bytes as 8-byte words, padded with zeros."""
    n_padding = -numbers.size % (8 // numbers.itemsize)
    return np.append(numbers, np.zeros(n_padding, dtype=numbers.dtype)).view(np.uint64)


def pack_bits(flags: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Pack flags into at least one 32-bit word."""
    padded = np.zeros(32 * max(-(-flags.size // 32), 1), dtype=bool)
    padded[: flags.size] = flags
    return np.packbits(padded, bitorder="little").view(np.uint32)


class DeviceCodes:
    """Bin codes of all features on a device; columns are numbered as in the core.

    The columns of a feature are one for each bin (`x <= edge` for ordered bins, `x == level` for the others), then one
    for each ramp. The structure `Design` in `design.cuh` holds pointers to the features (8 words each), to the number
    of rows of each bin, and to the ramps of all features, concatenated.

    Parameters
    ----------
    device : Device
        The device.
    codes : sequence of device arrays
        Codes of each feature, uint8 or uint16, of `padded_size(n_rows)` entries.
    n_rows : int
        Number of rows.
    n_bins, n_ordered : ndarray of int
        Number of bins and of ordered bins of each feature.
    ramps : sequence of tuples or None
        Ramps of each feature, as `Ramps.in_core` returns them.
    """

    def __init__(
        self,
        device: Device,
        codes: Sequence[Any],
        n_rows: int,
        n_bins: IntArray,
        n_ordered: IntArray,
        ramps: Sequence[RampArrays | None],
    ) -> None:
        self.device, self.codes, self.n_rows, self.ramps = device, tuple(codes), n_rows, tuple(ramps)
        self.n_bins, self.n_ordered = n_bins, n_ordered
        n_ramps = np.array([0 if mine is None else mine[2].size for mine in ramps], dtype=np.int64)
        self.width = self.n_bins + n_ramps
        self.first_column = np.cumsum(self.width) - self.width
        self.first_bin = np.cumsum(self.n_bins) - self.n_bins
        self.feature_of = np.repeat(np.arange(self.width.size), self.width)
        self.position = np.arange(self.width.sum()) - self.first_column[self.feature_of]  # within the feature
        self.is_ramp = self.position >= self.n_bins[self.feature_of]
        self.is_step = self.position < self.n_ordered[self.feature_of]
        # Number of bin boundaries of its feature at which the value of a column may change.
        self.max_changes = np.where(self.is_step, 1, np.where(self.is_ramp, self.n_bins[self.feature_of], 2))
        self._upload()

    def _upload(self) -> None:
        """Create the `Design` structure. `rows_by_bin` is filled in when the rows are counted."""
        device, xp = self.device, self.device.xp
        parts = ([mine[i] for mine in self.ramps if mine is not None] or [np.zeros(1)] for i in range(3))
        centres, edges, knots = (np.concatenate(part) for part in parts)
        is_16_bit = np.array([codes.dtype.itemsize == 2 for codes in self.codes], dtype=np.int64)
        addresses = np.array([device.address(codes) for codes in self.codes], dtype=np.int64)
        sizes = addresses, is_16_bit, self.n_bins, self.n_ordered, self.width, self.first_bin
        features = np.column_stack([*sizes, self._first_of_ramps(0), self._first_of_ramps(2)])
        with device:
            self.rows_by_bin = xp.zeros(int(self.n_bins.sum()), dtype=np.int64)
            arrays = [features, centres, edges, knots.astype(np.int64)]
            features, centres, edges, knots = map(device.upload, arrays)
            self._arrays = [features, self.rows_by_bin, centres, edges, knots]
            self.design = device.upload(np.array([device.address(array) for array in self._arrays], dtype=np.int64))

    def _first_of_ramps(self, part: int) -> IntArray:
        """Return where the centres (part 0) or the knots (part 2) of each feature start, NO_RAMPS without ramps."""
        sizes = np.array([0 if mine is None else mine[part].size for mine in self.ramps], dtype=np.int64)
        return np.where(sizes > 0, np.cumsum(sizes) - sizes, NO_RAMPS)

    def with_binary_features(self, codes: Sequence[Any]) -> "DeviceCodes":
        """Return these codes followed by those of features with two unordered bins."""
        n = len(codes)
        n_bins = np.append(self.n_bins, np.full(n, BINARY_BINS))
        n_ordered = np.append(self.n_ordered, np.zeros(n, dtype=np.int64))
        ramps = (*self.ramps, *[None] * n)
        return DeviceCodes(self.device, (*self.codes, *codes), self.n_rows, n_bins, n_ordered, ramps)

    @property
    def n_columns(self) -> int:
        """Number of columns: one for each bin and one for each ramp."""
        return self.feature_of.size

    @property
    def has_ramps(self) -> bool:
        """Whether any column is a ramp."""
        return bool(self.is_ramp.any())

    def kinds(self) -> list[str]:
        """Return the kind of each column: "step", "ramp" or "level"."""
        kinds: list[str] = np.where(self.is_step, "step", np.where(self.is_ramp, "ramp", "level")).tolist()
        return kinds

    def nested_steps(self) -> list[tuple[int, int]]:
        """Return, for each feature, the range of columns that are its steps."""
        return list(zip(self.first_column.tolist(), (self.first_column + self.n_ordered).tolist(), strict=True))

    def nested_ramps(self) -> list[tuple[int, int]]:
        """Return, for each feature, the range of columns that are its ramps."""
        first = self.first_column + self.n_bins
        return list(zip(first.tolist(), (self.first_column + self.width).tolist(), strict=True))

    def knots(self) -> FloatArray:
        """Return the knot of each step and ramp, in the units of the ramps; an empty array if there are no ramps."""
        out = np.zeros(self.n_columns if self.has_ramps else 0)
        for j, ramps in enumerate(self.ramps):
            if ramps is not None:
                _, edges, knots = ramps
                first_step, first_ramp = self.first_column[j], self.first_column[j] + self.n_bins[j]
                out[first_step : first_step + edges.size] = edges
                out[first_ramp : first_ramp + knots.size] = edges[knots]
        return out


class Totals(NamedTuple):
    """Loss, gradient and curvature at a point, summed over all rows."""

    value: float
    grad: float
    curv: float


class DeviceTarget:
    """Labels (-1 and 1) or responses, weights, and the loss; structure `Target` in `design.cuh`.

    Parameters
    ----------
    device : Device
        The device.
    y, weight : ndarray or device array
        Labels or responses, and positive weights.
    loss : str
        Name of the loss.
    """

    def __init__(self, device: Device, y: Any, weight: Any, loss: str) -> None:
        self.device, self.loss, self.n_rows = device, loss, int(y.size)
        xp = device.xp
        with device:
            labels = xp.asarray(y, dtype=np.int8) if LOSSES[loss].is_classifier else None
            self.y = xp.asarray(y, dtype=np.float64) if labels is None else labels
            is_uniform = bool(weight.min() == 1.0) and bool(weight.max() == 1.0)
            self.weight = None if is_uniform else xp.asarray(weight, dtype=np.float64)
            arrays = (labels, self.y if labels is None else None, self.weight)
            words = [device.address(array) for array in arrays] + [self.n_rows, LOSSES[loss].cuda_index]
            self.struct = device.upload(np.array(words, dtype=np.int64))

    @property
    def rows_per_block(self) -> int:
        """Number of rows that a block adds up."""
        return BLOCK_ROWS * max(-(-self.n_rows // (BLOCK_ROWS * MAX_BLOCKS)), 1)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_rows // self.rows_per_block)

    def reduce(self, block_results: Any, n_results: int, n_sums: int, out: Any) -> Any:
        """Combine the results of all blocks: add the first `n_sums` of them, keep the maximum of the others."""
        self.device.launch("reduce_blocks", (n_results,), THREADS, (block_results, self.n_blocks, n_sums, out))
        return out


@dataclass(frozen=True)
class Support:
    """The columns of a support, sorted, with coefficients at some points or with positions of bits.

    The columns in use divide the bins of a feature into few segments on which all of them are constant. The kernel
    `tabulate` computes the segment of each bin and, for each segment, its contribution to the score at each point (or
    the bits of the columns that are 1). A row then needs its code, the segment of the code, and one table entry.

    Layout (structure `Support` in `evaluate.cu`), with f features in use, t columns and p points:

        f, t, p                 3 words
        features                f words: features in use
        first column            f + 1 words: position in `column` where those of each feature start, and the end
        first bin               f + 1 words: position in the table of segments by bin
        first segment           f + 1 words: position in the table of contributions
        column                  t words: position of each column within its feature
        bit                     t words: bit that represents the column, -1 where there are coefficients
        intercept               p words
        coefficients            t x p words, those of a column adjacent
    """

    words: Words
    n_features: int
    n_bins: int
    n_segments: int
    width: int  # entries of a segment: coefficients, or 32-bit words of bits

    def shared_bytes(self, entry_bytes: int, limit: int) -> int:
        """Return the shared memory that the tables of a pass can use, at most `limit` bytes."""
        descriptors, entries = 32 * self.n_features, entry_bytes * self.n_segments * self.width
        return min(descriptors + entries + 2 * self.n_bins + 64, limit)


def support_of_points(codes: DeviceCodes, points: Sequence[_core.Point]) -> Support:
    """Describe the columns and coefficients of up to MAX_POINTS points, padded to the next width of a kernel."""
    width = next(size for size in (1, 2, 4, 8) if size >= len(points))
    columns = np.unique(np.concatenate([point.columns for point in points]))
    coef, intercept = np.zeros((columns.size, width)), np.zeros(width)
    for p, point in enumerate(points):
        coef[np.searchsorted(columns, point.columns), p] = point.coef
        intercept[p] = point.intercept
    return _support(codes, columns, np.full(columns.size, -1), width, intercept, coef)


def support_of_bits(codes: DeviceCodes, columns: IntArray) -> Support:
    """Describe columns that are represented by one bit each, in the order given."""
    order = np.argsort(columns, kind="stable")
    return _support(codes, columns[order], order, -(-columns.size // 32), np.zeros(0), np.zeros(0))


def _support(
    codes: DeviceCodes, columns: IntArray, bits: IntArray, width: int, intercept: FloatArray, coef: FloatArray
) -> Support:
    if columns.size == 0:
        return Support(pack_words([0, 0, intercept.size, 0, 0, 0], intercept), 0, 0, 0, width)
    feature = codes.feature_of[columns]
    first = np.flatnonzero(np.diff(feature, prepend=-1))
    used = feature[first]
    n_bins = codes.n_bins[used]
    n_segments = np.minimum(np.add.reduceat(codes.max_changes[columns], first) + 1, n_bins)
    first_bin, first_segment = (np.append(0, np.cumsum(sizes)) for sizes in (n_bins, n_segments))
    sizes = used.size, columns.size, intercept.size
    starts = first, columns.size, first_bin, first_segment
    words = pack_words(sizes, used, *starts, codes.position[columns], bits, intercept, coef)
    return Support(words, used.size, int(first_bin[-1]), int(first_segment[-1]), width)


class RowValues(NamedTuple):
    """Values to accumulate, one for each row: structure `RowValues` in `histogram.cu`.

    Attributes
    ----------
    values : device array of float32 or None
        The values; None for 1 in each row.
    max_address : int
        Address of the largest absolute value (float64), which sets the scale of the fixed-point numbers.
    signed : bool
        Whether values may be negative.
    """

    values: Any
    max_address: int
    signed: bool = False


ONES = RowValues(None, 0)


@dataclass(frozen=True)
class Channels:
    """Channel descriptors: what is accumulated for each bin or column; structure `Channels` in `histogram.cu`.

    The channels are, in this order, those of `base` (values of all rows), one for each 0/1 column (`curvature` of the
    rows where the column is 1) and one for each ramp (`curvature` times the absolute value of the ramp).

    Attributes
    ----------
    base : sequence of RowValues
        Up to three values of each row: gradient, curvature, loss.
    curvature : RowValues
        Values accumulated for 0/1 columns and ramps.
    bits : device array of uint32 or None
        Bit c % 32 of word c // 32 of a row is 1 if column c is 1 in the row. The words of all rows with the same
        c // 32 are adjacent, `padded_size(n_rows)` of them.
    inverted : ndarray of uint32 or None
        Bits of the columns whose complement is stored in `bits`.
    ramps : device array of float32 or None
        Absolute values, `padded_size(n_rows)` for each ramp.
    n_bits, n_ramps : int
        Number of 0/1 columns and of ramps.
    """

    base: Sequence[RowValues]
    curvature: RowValues = ONES
    bits: Any = None
    inverted: NDArray[np.uint32] | None = None
    ramps: Any = None
    n_bits: int = 0
    n_ramps: int = 0

    @property
    def count(self) -> int:
        """Number of channels."""
        return len(self.base) + self.n_bits + self.n_ramps

    def send(self, device: Device, n_rows: int, precision: int) -> int:
        """Send the descriptors to the device and return their address."""
        inverted = np.zeros(self.n_bits // 32 + 1, dtype=np.uint32) if self.inverted is None else self.inverted
        inverted_address = device.send(pad_to_words(inverted))
        values = [*self.base, *[ONES] * (3 - len(self.base)), self.curvature]
        row_values = [(device.address(each.values), each.max_address, each.signed) for each in values]
        arrays = device.address(self.bits), inverted_address, device.address(self.ramps)
        sizes = padded_size(n_rows), len(self.base), self.n_bits, self.n_ramps, precision, n_rows
        return device.send(pack_words(row_values, arrays, sizes))


def channel_groups(channels: Channels, max_bins: int) -> IntArray:
    """Divide the channels into groups whose sums fit into the shared memory of a block.

    Returns a row of six words for each group (structure `Group` in `histogram.cu`): whether it includes the base
    channels; word, first bit and number of bits of its 0/1 columns; first and number of its ramps.
    """
    n_base, capacity = len(channels.base), 32 + len(channels.base)
    if max_bins <= SHARED_MEMORY_BINS:
        capacity = max(SHARED_MEMORY_BYTES // (SUM_BYTES * max_bins), n_base + 1)
    groups, room, has_base = [], capacity - n_base, 1
    for word in range(-(-channels.n_bits // 32)):
        bit, last = 0, min(channels.n_bits - 32 * word, 32)
        while bit < last:
            count = min(room, last - bit)
            groups.append((has_base, word, bit, count, 0, 0))
            bit, room, has_base = bit + count, capacity, 0
    ramp = 0
    while ramp < channels.n_ramps or has_base:
        count = min(room, channels.n_ramps - ramp)
        groups.append((has_base, 0, 0, 0, ramp, count))
        ramp, room, has_base = ramp + count, capacity, 0
    return np.array(groups, dtype=np.int64)


@dataclass(frozen=True)
class PairTables:
    """Tables of sums over pairs of features, concatenated: a row for each cell of the first feature.

    Attributes
    ----------
    pairs : ndarray
        Seven words for each pair (structure `Pair` in `pairs.cu`): its two features; where the cells of their bins
        start in `cell_of`; number of rows and columns of the table; where its sums start.
    cell_of : ndarray of uint16
        The cell of each bin, for one feature after the other.
    n_sums : int
        Number of cells of all tables.
    """

    pairs: IntArray
    cell_of: NDArray[np.uint16]
    n_sums: int

    @classmethod
    def of(cls, cells: Sequence[CoarseBins | None], pairs: IntArray) -> "PairTables":
        """Describe the tables of some pairs; `cells` is None for features in no pair."""
        first_cell, n_cells = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.int64)
        cell_of, n_bins = [np.zeros(0, dtype=np.uint16)], 0
        for j, mine in enumerate(cells):
            if mine is not None:
                first_cell[j], n_cells[j] = n_bins, mine[2]
                n_bins += len(mine[0])
                cell_of.append(np.asarray(mine[0], dtype=np.uint16))
        sizes = n_cells[pairs].prod(axis=1)
        descriptors = np.column_stack([pairs, first_cell[pairs], n_cells[pairs], np.cumsum(sizes) - sizes])
        return cls(descriptors, np.concatenate(cell_of), int(sizes.sum()))

    @property
    def n_rows(self) -> IntArray:
        """Number of rows of the table of each pair."""
        return self.pairs[:, 4]

    @property
    def bytes_per_row(self) -> IntArray:
        """Bytes that the two sums of each cell in a row take, for each pair."""
        return 2 * SUM_BYTES * self.pairs[:, 5]


@lru_cache(maxsize=256)
def gram_layout(n_columns: int) -> tuple[IntArray, IntArray]:
    """Return which joint counts a Gram matrix needs, and how its entries are read from them.

    The columns are divided into halves of HALF_BITS columns. A joint count adds, for each combination of the bits of
    two halves, the values of the rows with these bits. An entry of the Gram matrix is the sum over all combinations in
    which the bits of both its columns are set.

    Returns
    -------
    counts : ndarray of shape (n_counts, 3)
        Two halves and a channel, 0 for the gradient and 1 for the curvature (structure `JointCount` in `gram.cu`).
    entries : ndarray of shape (n_entries, 4)
        Joint count, bit masks in its two halves, and zero (structure `Entry`). First the upper triangle of the Gram
        matrix, row by row, then the gradient, whose fourth words the caller sets to the number of rows of the column.
    """
    n_halves = max(-(-n_columns // HALF_BITS), 2)
    pairs = [(i, j, 1) for i in range(n_halves) for j in range(i + 1, n_halves)]
    gradients = [(i, min(i + 1, n_halves - 1), 0) for i in range(0, n_halves, 2)]
    counts = [(i if i < j else i - 1, j, channel) for i, j, channel in [*pairs, *gradients]]
    index_of_pair = {count[:2]: index for index, count in enumerate(pairs)}
    entries = []
    for a in range(n_columns):
        for b in range(a, n_columns):
            i, j = a // HALF_BITS, b // HALF_BITS
            masks = [1 << a % HALF_BITS, 1 << b % HALF_BITS]
            if i == j:
                # Both columns are in one half: any joint count of that half with another one holds the entry.
                both = sum(set(masks))
                i, j, masks = (i, i + 1, [both, 0]) if i + 1 < n_halves else (i - 1, i, [0, both])
            entries.append((index_of_pair[i, j], *masks, 0))
    for a in range(n_columns):
        half = a // HALF_BITS
        index = len(pairs) + half // 2
        mask = 1 << a % HALF_BITS
        entries.append((index, mask, 0, 0) if counts[index][0] == half else (index, 0, mask, 0))
    return np.array(counts, dtype=np.int64), np.array(entries, dtype=np.int64).reshape(-1, 4)
