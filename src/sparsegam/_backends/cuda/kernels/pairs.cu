// kernels/pairs.cu: sums of two channels over the cells of pairs of features.
//
// The table of a pair has a row for each cell of the first feature and a column for each cell of the second. A block
// accumulates a piece of the rows of the data into as many rows of the table as fit into shared memory. The number of
// data rows in a cell is not known, so there is no offset to subtract, and fixed-point values are signed here.

// Two features; where the cells of their bins start in `cell_of`; rows and columns of the table; where its sums start.
struct Pair {
    i64 feature[2], first_cell[2];
    i64 n_rows, n_columns, first_sum;
};

// Sums of a block in shared memory in which the high part of a value is signed and the low part is not.
struct SignedSums : SharedSums {
    __device__ SignedSums(i64 shared_bytes, i64 n_sums, i64 precision) : SharedSums(shared_bytes, n_sums, precision) {}

    __device__ void add(i64 sum, u32 value) {
        const i64 i = sum * n_copies + copy;
        atomicAdd(low + i, value & ((1u << shift) - 1u));
        atomicAdd(high + i, static_cast<u32>(static_cast<int>(value) >> shift));
    }
    __device__ u64 total(i64 sum) const {
        i64 out = 0;
        for (int c = 0; c < n_copies; ++c) {
            const i64 i = sum * n_copies + c;
            out += static_cast<i64>(static_cast<int>(high[i])) * (1 << shift) + low[i];
        }
        return static_cast<u64>(out);
    }
};

// Sums of the first channel for the tables of all pairs, then those of the second, in fixed point. The grid has a block
// for each pair, piece of the rows, and part of the table.
extern "C" __global__ void __launch_bounds__(512, 3)
    pair_sums(const Design* design, const Channels* channels_, const Pair* pairs, const u16* cell_of,
              i64 rows_per_piece, i64 shared_bytes, i64 n_sums, u64* sums) {
    const Channels channels = *channels_;
    const Pair pair = pairs[blockIdx.x];
    const i64 rows_of_part = shared_bytes / static_cast<i64>(pair.n_columns * 2 * sizeof(u64));
    const i64 first_row = blockIdx.z * rows_of_part, n_rows = smaller(rows_of_part, pair.n_rows - first_row);
    // Smaller tables have fewer parts than the largest one, for which the grid is made.
    if (n_rows <= 0) return;
    const Feature one = design->features[pair.feature[0]], two = design->features[pair.feature[1]];
    const u16 *row_of_bin = cell_of + pair.first_cell[0], *column_of_bin = cell_of + pair.first_cell[1];
    const i64 n_cells = n_rows * pair.n_columns;
    const FixedPoint first(channels.base[0], channels.precision), second(channels.base[1], channels.precision);
    const i64 begin = blockIdx.y * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    SignedSums block_sums(shared_bytes, 2 * n_cells, channels.precision);
    for (i64 row = begin + threadIdx.x * rows_at_once; row < end; row += blockDim.x * rows_at_once) {
        u32 bins_of_one[rows_at_once], bins_of_two[rows_at_once];
        read_codes(reinterpret_cast<const void*>(one.codes), one.is_16_bit, row, bins_of_one);
        read_codes(reinterpret_cast<const void*>(two.codes), two.is_16_bit, row, bins_of_two);
        const int count = static_cast<int>(smaller(rows_at_once, end - row));
        const FourValues grad(first, first.read(row), count), curv(second, second.read(row), count);
#pragma unroll
        for (int q = 0; q < rows_at_once; ++q) {
            const i64 table_row = row_of_bin[bins_of_one[q]] - first_row;
            if (q >= count || table_row < 0 || table_row >= n_rows) continue;
            const i64 cell = table_row * pair.n_columns + column_of_bin[bins_of_two[q]];
            block_sums.add(cell, grad.value[q]);
            block_sums.add(n_cells + cell, curv.value[q]);
        }
    }
    __syncthreads();
    u64* out = sums + pair.first_sum + first_row * pair.n_columns;
    for (i64 i = threadIdx.x; i < 2 * n_cells; i += blockDim.x) {
        const u64 total = block_sums.total(i);
        if (total) atomicAdd(out + (i < n_cells ? i : n_sums + i - n_cells), total);
    }
}

// Converts the sums from fixed point.
extern "C" __global__ void pair_sums_to_double(const Channels* channels_, const u64* sums, i64 n_sums, double* out) {
    const Channels channels = *channels_;
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
    for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < 2 * n_sums; i += step)
        out[i] = static_cast<i64>(sums[i]) * unit_of(channels, i / n_sums);
}
