// kernels/pairs.cu: sums of two channels over the cells of two features at once.
//
// A block has a pair, a piece of the rows, and as many lines of the pair's table as it has room for. There is no count of
// the rows in a cell to take an offset off with, so whole numbers keep their signs here.

// Words: the two features; where the cells of their bins begin; lines and width of the table, and where its sums begin.
struct Pair {
    i64 feature[2], cells[2];
    i64 n_lines, width, first_sum;
};

// Sums of a block in which the high part of a number is signed, and the low one is not.
struct SignedCells : Cells {
    __device__ SignedCells(i64 room, i64 n_cells, i64 precision) : Cells(room, n_cells, precision) {}

    __device__ void add(i64 cell, u32 value) {
        const i64 at = cell * copies + copy;
        atomicAdd(low + at, value & ((1u << shift) - 1u));
        atomicAdd(high + at, static_cast<u32>(static_cast<int>(value) >> shift));
    }
    __device__ u64 sum(i64 cell) const {
        i64 out = 0;
        for (int c = 0; c < copies; ++c)
            out += static_cast<i64>(static_cast<int>(high[cell * copies + c])) * (1 << shift) + low[cell * copies + c];
        return static_cast<u64>(out);
    }
};

// Sums of the first channel for the tables of all pairs, then those of the second.
extern "C" __global__ void __launch_bounds__(512, 3)
    pair_sums(const Design* design, const Channels* channels_, const Pair* pairs, const u16* cell_of,
              i64 rows_per_piece, i64 room, i64 n_sums, u64* sums) {
    const Channels channels = *channels_;
    const Pair pair = pairs[blockIdx.x];
    const i64 lines_at_once = room / static_cast<i64>(pair.width * 2 * sizeof(u64));
    const i64 first_line = blockIdx.z * lines_at_once, n_lines = smaller(lines_at_once, pair.n_lines - first_line);
    if (n_lines <= 0) return;  // a smaller table than others
    const Feature one = design->features[pair.feature[0]], two = design->features[pair.feature[1]];
    const u16 *lines = cell_of + pair.cells[0], *places = cell_of + pair.cells[1];
    const i64 n_cells = n_lines * pair.width;
    const Scaled first(channels.base[0], channels.precision), second(channels.base[1], channels.precision);
    const i64 begin = blockIdx.y * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    SignedCells cells(room, 2 * n_cells, channels.precision);
    for (i64 row = begin + threadIdx.x * at_once; row < end; row += blockDim.x * at_once) {
        u32 in_one[at_once], in_two[at_once];
        read_codes(reinterpret_cast<const void*>(one.codes), one.wide, row, in_one);
        read_codes(reinterpret_cast<const void*>(two.codes), two.wide, row, in_two);
        const int count = static_cast<int>(smaller(at_once, end - row));
        const Four grad(first, first.read(row), count), curv(second, second.read(row), count);
#pragma unroll
        for (int q = 0; q < at_once; ++q) {
            const i64 line = lines[in_one[q]] - first_line;
            if (q >= count || line < 0 || line >= n_lines) continue;
            const i64 cell = line * pair.width + places[in_two[q]];
            cells.add(cell, grad.value[q]);
            cells.add(n_cells + cell, curv.value[q]);
        }
    }
    __syncthreads();
    u64* out = sums + pair.first_sum + first_line * pair.width;
    for (i64 cell = threadIdx.x; cell < 2 * n_cells; cell += blockDim.x) {
        const u64 sum = cells.sum(cell);
        if (sum) atomicAdd(out + (cell < n_cells ? cell : n_sums + cell - n_cells), sum);
    }
}

// The same in numbers again.
extern "C" __global__ void pair_numbers(const Channels* channels_, const u64* sums, i64 n_sums, double* out) {
    const Channels channels = *channels_;
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
    for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < 2 * n_sums; i += step)
        out[i] = static_cast<i64>(sums[i]) * unit_of(channels, i / n_sums);
}
