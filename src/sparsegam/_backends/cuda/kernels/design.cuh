// kernels/design.cuh: types shared by all kernels, the design and the target in device memory, and block-wide reductions.
//
// Structures are packed on the host as sequences of 64-bit words (`layouts.py`), so their members are 8 bytes each: i64,
// double, or a pointer. The order of the members here is the order of the words there.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#ifdef __CUDACC__
extern __shared__ __align__(16) u8 shared[];  // dynamic shared memory, sized by the launch
#endif

constexpr int rows_at_once = 4;   // consecutive rows that a thread reads in one instruction
constexpr int max_threads = 256;  // threads of a block that reduces in shared memory

// A feature: its codes and its columns. The first n_ordered bins are ordered, the others are unordered (levels, special
// and missing values). Columns are numbered as in the core: one for each bin, then one for each ramp.
struct Feature {
    u64 codes;      // address of the codes, of u8 or u16
    i64 is_16_bit;  // whether the codes are u16
    i64 n_bins, n_ordered, n_columns;
    i64 first_bin;   // where its bins start in arrays with an entry for each bin of all features
    i64 first_ramp;  // where its ordered bins start in `centre` and `edge`; -1 without ramps
    i64 first_knot;  // where its ramps start in `knot`
};

// All features. A ramp with the knot at the upper edge of bin k is min(x - edge[k], 0). In the bin b it has the value
// min(centre[b] - edge[k], 0), where centre[b] is the mean of the rows in the bin.
struct Design {
    const Feature* features;
    const i64* rows_by_bin;  // number of rows in each bin
    const double *centre, *edge;
    const i64* knot;  // bin whose upper edge is the knot of a ramp
};

struct Target {
    const signed char* label;  // -1 and 1; null for a regression
    const double* response;    // null for a classification
    const double* weight;      // null if all weights are 1
    i64 n_rows;
    i64 loss;

    __device__ double y(i64 row) const { return label ? static_cast<double>(label[row]) : response[row]; }
    __device__ double w(i64 row) const { return weight ? weight[row] : 1.0; }
};

// Value of a column of a feature in a bin.
__device__ double column_in_bin(const Design& design, const Feature& feature, i64 column, i64 bin) {
    if (column < feature.n_ordered) return bin <= column ? 1.0 : 0.0;
    if (column < feature.n_bins) return bin == column ? 1.0 : 0.0;
    const i64 knot = design.knot[feature.first_knot + column - feature.n_bins];
    return bin <= knot ? design.centre[feature.first_ramp + bin] - design.edge[feature.first_ramp + knot] : 0.0;
}

// Whether the value of a column may differ between a bin and the bin before it.
__device__ bool may_change_at(const Design& design, const Feature& feature, i64 column, i64 bin) {
    if (bin == 0) return true;
    if (column < feature.n_ordered) return bin == column + 1;
    if (column < feature.n_bins) return bin == column || bin == column + 1;
    return bin <= design.knot[feature.first_knot + column - feature.n_bins] + 1;
}

// Reads the codes of rows [row, row + rows_at_once). `row` must be a multiple of rows_at_once; codes are padded beyond
// the last row to such a multiple.
__device__ void read_codes(const void* codes, bool is_16_bit, i64 row, u32* out) {
    if (is_16_bit) {
        const ushort4 four = reinterpret_cast<const ushort4*>(codes)[row / rows_at_once];
        out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
    } else {
        const uchar4 four = reinterpret_cast<const uchar4*>(codes)[row / rows_at_once];
        out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
    }
}

__device__ i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

// Adds the values of all threads of a block, always in the same order. The result is valid in all threads.
template <class Number>
__device__ Number block_sum(Number value, Number* buffer) {
    buffer[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) buffer[threadIdx.x] += buffer[threadIdx.x + half];
        __syncthreads();
    }
    const Number sum = buffer[0];
    __syncthreads();
    return sum;
}

// Returns the largest value of all threads of a block.
__device__ double block_max(double value, double* buffer) {
    buffer[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) buffer[threadIdx.x] = fmax(buffer[threadIdx.x], buffer[threadIdx.x + half]);
        __syncthreads();
    }
    const double largest = buffer[0];
    __syncthreads();
    return largest;
}
