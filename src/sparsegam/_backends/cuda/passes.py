"""Passes over the rows on a device: losses, derivatives, scores, and sums of row values by bin, column and pair.

Losses are added up in double precision in a fixed order. All other sums are of fixed-point integers, for which the
order does not matter. Results therefore have the same bits from run to run.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.cuda.layouts import (
    MAX_POINTS,
    ONES,
    SHARED_MEMORY_BINS,
    SUM_BYTES,
    THREADS,
    Channels,
    CoarseBins,
    DeviceCodes,
    DeviceTarget,
    IntArray,
    PairTables,
    RowValues,
    Support,
    channel_groups,
    gram_layout,
    pack_words,
    pad_to_words,
    padded_size,
    support_of_bits,
    support_of_points,
)
from sparsegam.arrays import FloatArray

# Bits of the largest value in fixed point: for scans, which predict improvements, and for sums that must be accurate.
COARSE, FINE = 25, 29
SUM_THREADS = 512  # threads of a block that accumulates in shared memory
MIN_ROWS = 4 * SUM_THREADS  # rows of such a block
BLOCKS_PER_PROCESSOR = 16  # enough that no processor waits long for the last block
COUNTS_PER_BLOCK = 3  # joint counts of a block: 98 KB of shared memory
JOINT_CELLS = 4096
TABLE_BYTES = 40_000  # shared memory for the tables of a support
COPY_BYTES = 72_000  # Small sums are accumulated in several copies of up to this size; three blocks share a processor.
RESERVED_BYTES = 1024  # shared memory of a block that CUDA reserves


class Evaluation:
    """Losses, derivatives and scores of rows at given points, and the columns of a support by row."""

    def __init__(self, codes: DeviceCodes, target: DeviceTarget) -> None:
        self.codes, self.target, self.device = codes, target, codes.device

    def losses(self, points: Sequence[_core.Point]) -> FloatArray:
        """Return the loss at each point."""
        xp, target, n = self.device.xp, self.target, len(points)
        out = xp.zeros(n + MAX_POINTS)
        for first in range(0, n, MAX_POINTS):
            support = support_of_points(self.codes, points[first : first + MAX_POINTS])
            tables, shared_bytes = self._tabulate(support)
            block_sums = xp.empty(support.width * target.n_blocks)
            sizes = target.rows_per_block, shared_bytes
            arguments = (self.codes.design, target.struct, *tables, *sizes, block_sums)
            self.device.launch(f"losses_{support.width}", (target.n_blocks,), THREADS, arguments, shared_bytes)
            target.reduce(block_sums, support.width, support.width, out[first : first + support.width])
        return self.device.download(out)[:n]

    def derivatives(self, point: _core.Point, grad: Any, curv: Any, value: Any) -> Any:
        """Fill in gradient, curvature and, unless None, loss of each row at a point.

        Returns a device array with the sums of loss, gradient and curvature and the largest absolute value of each.
        """
        xp, target = self.device.xp, self.target
        tables, shared_bytes = self._tabulate(support_of_points(self.codes, [point]))
        block_results = xp.empty(6 * target.n_blocks)
        results = grad, curv, 0 if value is None else value, block_results
        arguments = (self.codes.design, target.struct, *tables, target.rows_per_block, shared_bytes, *results)
        self.device.launch("row_derivatives", (target.n_blocks,), THREADS, arguments, shared_bytes)
        return target.reduce(block_results, 6, 3, xp.empty(6))

    def scores(self, point: _core.Point) -> Any:
        """Return the score of each row as a device array."""
        tables, shared_bytes = self._tabulate(support_of_points(self.codes, [point]))
        out = self.device.xp.empty(self.codes.n_rows)
        arguments = (self.codes.design, *tables, self.codes.n_rows, shared_bytes, out)
        self.device.launch("scores", (self._n_blocks,), THREADS, arguments, shared_bytes)
        return out

    def column_bits(self, columns: IntArray, inverted: NDArray[np.uint32]) -> Any:
        """Return the bits of 0/1 columns for each row (see `Channels`), None without columns."""
        if columns.size == 0:
            return None
        device, xp, support = self.device, self.device.xp, support_of_bits(self.codes, columns)
        words, inverted_address = device.send(support.words), device.send(pad_to_words(inverted))
        segments, shared_bytes = xp.empty(support.n_bins, dtype=np.uint16), support.shared_bytes(4, TABLE_BYTES)
        bits = xp.zeros(support.n_segments * support.width, dtype=np.uint32)
        arguments = (self.codes.design, words, segments, 0, bits, support.width)
        device.launch("tabulate", (support.n_features,), THREADS, arguments)
        stride = padded_size(self.codes.n_rows)
        out = xp.empty(support.width * stride, dtype=np.uint32)
        tables, sizes = (words, segments, bits), (self.codes.n_rows, stride, support.width, shared_bytes)
        row_arguments = (self.codes.design, *tables, inverted_address, *sizes, out)
        device.launch("column_bits", (self._n_blocks,), THREADS, row_arguments, shared_bytes)
        return out

    def ramp_values(self, columns: IntArray) -> Any:
        """Return the absolute values of ramps for each row, None without columns."""
        if columns.size == 0:
            return None
        codes = self.codes
        out = self.device.xp.empty((columns.size, padded_size(codes.n_rows)), dtype=np.float32)
        for i, column in enumerate(columns.tolist()):
            where = int(codes.feature_of[column]), int(codes.position[column])
            arguments = (codes.design, *where, codes.n_rows, out[i])
            self.device.launch("ramp_values", (self._n_blocks,), THREADS, arguments)
        return out

    def _tabulate(self, support: Support) -> tuple[tuple[int, Any, Any], int]:
        """Compute the tables of a support.

        Returns the address of its description, the segment of each bin and the scores of each segment; and the shared
        memory that a pass should reserve for them.
        """
        xp, words = self.device.xp, self.device.send(support.words)
        segments = xp.empty(max(support.n_bins, 1), dtype=np.uint16)
        scores = xp.zeros(max(support.n_segments * support.width, 1))
        if support.n_features:
            arguments = (self.codes.design, words, segments, scores, 0, 0)
            self.device.launch("tabulate", (support.n_features,), THREADS, arguments)
        return (words, segments, scores), support.shared_bytes(8, TABLE_BYTES)

    @property
    def _n_blocks(self) -> int:
        """Number of blocks of a kernel that writes a result per row."""
        return min(-(-self.codes.n_rows // (4 * THREADS)), 16 * self.device.n_processors)


class Summation:
    """Sums of row values by column and by pair of features, and Gram matrices."""

    def __init__(self, codes: DeviceCodes) -> None:
        self.codes, self.device = codes, codes.device
        with self.device:
            counts = Channels([ONES])
            address = counts.send(self.device, codes.n_rows, COARSE)
            sums = self._by_bin(counts, address, np.arange(codes.n_bins.size), COARSE)
            codes.rows_by_bin[...] = sums.view(np.int64)

    def by_column(self, channels: Channels, features: IntArray, precision: int) -> FloatArray:
        """Sum channels over the rows of each column of some features.

        Returns a row for each column, feature after feature, with the sum of each channel. If the design has ramps, a
        last entry is added: for a ramp x and the second channel h, the sum of h x^2; for a step, the sum of h times the
        bin centres.
        """
        codes, device, xp = self.codes, self.device, self.device.xp
        channels_address = channels.send(device, codes.n_rows, precision)
        sums = self._by_bin(channels, channels_address, features, precision)
        first_column = np.append(0, np.cumsum(codes.width[features]))
        n_entries = channels.count + codes.has_ramps
        features_address = device.send(pack_words(features.size, 0, features, self._first_sum(channels, features)))
        first_column_address = device.send(pack_words(first_column))
        out = (xp.zeros if codes.has_ramps else xp.empty)((int(first_column[-1]), n_entries))
        addresses = channels_address, features_address, first_column_address
        arguments = (codes.design, *addresses, n_entries, sums, out)
        device.launch("sums_by_column", (features.size, channels.count), THREADS, arguments)
        return device.download(out)

    def gram(self, channels: Channels, n_rows: FloatArray) -> FloatArray:
        """Return the Gram matrix of 0/1 columns (the upper triangle, row by row), then their gradients.

        Parameters
        ----------
        channels : Channels
            Gradient, curvature and the bits of the columns.
        n_rows : ndarray
            Number of rows where each column is 1.
        """
        device, xp = self.device, self.device.xp
        counts, entries = gram_layout(channels.n_bits)
        entries = entries.copy()
        entries[-channels.n_bits :, 3] = n_rows
        channels_address = channels.send(device, self.codes.n_rows, FINE)
        counts_address, entries_address = device.send(pack_words(counts)), device.send(pack_words(entries))
        n_batches, shared_bytes = -(-len(counts) // COUNTS_PER_BLOCK), SUM_BYTES * COUNTS_PER_BLOCK * JOINT_CELLS
        n_pieces, rows_per_piece = self._pieces(n_batches, FINE)
        sums = xp.zeros(len(counts) * JOINT_CELLS, dtype=np.uint64)
        sizes = len(counts), COUNTS_PER_BLOCK, rows_per_piece, shared_bytes
        arguments: tuple[Any, ...] = (channels_address, counts_address, *sizes, sums)
        device.launch("joint_counts", (n_pieces, n_batches), SUM_THREADS, arguments, shared_bytes)
        out = xp.empty(len(entries))
        arguments = (channels_address, counts_address, entries_address, sums, out)
        device.launch("gram_entries", (len(entries),), THREADS, arguments)
        return device.download(out)

    def by_pair(self, values: Sequence[RowValues], cells: Sequence[CoarseBins | None], pairs: IntArray) -> FloatArray:
        """Sum two values of each row over the cells of pairs of features.

        Returns an array with one row per value: the tables of all pairs, flattened row by row and concatenated.
        """
        device, xp, tables = self.device, self.device.xp, PairTables.of(cells, pairs)
        if tables.n_sums == 0:
            return np.zeros((2, 0))
        channels = Channels([each._replace(signed=False) for each in values])
        channels_address = channels.send(device, self.codes.n_rows, FINE)
        pairs_address, cells_address = device.send(pack_words(tables.pairs)), device.send(pad_to_words(tables.cell_of))
        shared_bytes = self._shared_bytes(int((tables.n_rows * tables.bytes_per_row).max()))
        n_parts = int((-(-tables.n_rows // (shared_bytes // tables.bytes_per_row))).max())
        n_pieces, rows_per_piece = self._pieces(len(pairs) * n_parts, FINE)
        sums = xp.zeros(2 * tables.n_sums, dtype=np.uint64)
        addresses, sizes = (pairs_address, cells_address), (rows_per_piece, shared_bytes, tables.n_sums)
        arguments: tuple[Any, ...] = (self.codes.design, channels_address, *addresses, *sizes, sums)
        device.launch("pair_sums", (len(pairs), n_pieces, n_parts), SUM_THREADS, arguments, shared_bytes)
        out = xp.empty((2, tables.n_sums))
        arguments = (channels_address, sums, tables.n_sums, out)
        device.launch("pair_sums_to_double", (-(-2 * tables.n_sums // THREADS),), THREADS, arguments)
        return device.download(out)

    def _by_bin(self, channels: Channels, channels_address: int, features: IntArray, precision: int) -> Any:
        """Sum channels by bin in fixed point. Features with too many bins for shared memory have a separate kernel."""
        first_sum = self._first_sum(channels, features)
        sums = self.device.xp.zeros(int(first_sum[-1]), dtype=np.uint64)
        n_bins = self.codes.n_bins[features]
        for part in (n_bins <= SHARED_MEMORY_BINS, n_bins > SHARED_MEMORY_BINS):
            if not part.any():
                continue
            max_bins, n_features = int(n_bins[part].max()), int(np.count_nonzero(part))
            groups = channel_groups(channels, max_bins)
            words = pack_words(n_features, len(groups), features[part], first_sum[:-1][part], 0, groups)
            n_pieces, rows_per_piece = self._pieces(n_features * len(groups), precision)
            grid = n_features, n_pieces, len(groups)
            arguments = self.codes.design, channels_address, self.device.send(words), rows_per_piece
            if max_bins > SHARED_MEMORY_BINS:
                self.device.launch("histogram_global", grid, SUM_THREADS, (*arguments, sums))
                continue
            max_channels = int((groups[:, 0] * len(channels.base) + groups[:, 3] + groups[:, 5]).max())
            shared_bytes = self._shared_bytes(SUM_BYTES * max_bins * max_channels)
            self.device.launch("histogram", grid, SUM_THREADS, (*arguments, shared_bytes, sums), shared_bytes)
        return sums

    def _shared_bytes(self, needed: int) -> int:
        """Return the shared memory of a block whose sums take `needed` bytes: more if there is room for copies."""
        return min(max(needed, COPY_BYTES), self.device.shared_bytes - RESERVED_BYTES)

    def _pieces(self, blocks_per_piece: int, precision: int) -> tuple[int, int]:
        """Divide the rows so that all processors are busy; return the number of pieces and the rows of each.

        A block adds half of the bits of each value (precision / 2 + 1) in a 32-bit word, which overflows with more than
        2^(31 - precision / 2 - 1) rows.
        """
        n_rows, max_rows = self.codes.n_rows, 2 ** (31 - precision // 2 - 1)
        wanted = -(-BLOCKS_PER_PROCESSOR * self.device.n_processors // blocks_per_piece)
        rows = min(max(-(-n_rows // wanted), MIN_ROWS), max_rows)
        rows = -(-rows // MIN_ROWS) * MIN_ROWS
        return -(-n_rows // rows), rows

    def _first_sum(self, channels: Channels, features: IntArray) -> IntArray:
        """Return where the sums of each feature start, and where all end."""
        return np.append(0, np.cumsum(self.codes.n_bins[features] * channels.count))
