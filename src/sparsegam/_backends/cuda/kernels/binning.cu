// kernels/binning.cu: the bin of each value of a numeric column.

// Computes the same codes as the core's bin_codes and `Feature.codes_of`: the bin of an ordered value is the number of
// edges below it. Special values have bins of their own after the n_edges + 1 ordered ones. NaN gets the bin `missing`.
template <class Code>
__device__ void bin_values(const double* values, i64 n_rows, const double* edges, i64 n_edges, const double* special,
                           i64 n_special, i64 missing, Code* codes) {
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
    for (i64 row = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; row < n_rows; row += step) {
        const double value = values[row];
        i64 low = 0, high = n_edges;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (edges[middle] < value)
                low = middle + 1;
            else
                high = middle;
        }
        for (i64 s = 0; s < n_special; ++s)
            if (value == special[s]) low = n_edges + 1 + s;
        codes[row] = static_cast<Code>(value == value ? low : missing);
    }
}

extern "C" __global__ void bin_values_8(const double* values, i64 n_rows, const double* edges, i64 n_edges,
                                        const double* special, i64 n_special, i64 missing, u8* codes) {
    bin_values(values, n_rows, edges, n_edges, special, n_special, missing, codes);
}

extern "C" __global__ void bin_values_16(const double* values, i64 n_rows, const double* edges, i64 n_edges,
                                         const double* special, i64 n_special, i64 missing, u16* codes) {
    bin_values(values, n_rows, edges, n_edges, special, n_special, missing, codes);
}
