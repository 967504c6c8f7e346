// kernels/design.cuh: what all kernels share: types, the features as the card has them, and one row's worth of reading.
//
// Structures are made on the host as rows of 64-bit words, so that a question travels in one copy.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#ifdef __CUDACC__
extern __shared__ __align__(16) u8 shared[];  // as much as a launch asks for
#endif

constexpr int at_once = 4;         // rows that a thread reads in one go
constexpr int most_threads = 256;  // of a block that adds up in shared memory

// One feature: its codes, one or two bytes each; its first n_ordered bins are ordered, the later ones stand alone.
// Columns are numbered as in the core: one for each bin, then one for each ramp.
struct Feature {
    u64 codes;
    i64 wide, n_bins, n_ordered, n_columns;
    i64 first_bin;  // in tables that have a row for each bin of all features
    i64 ramps;      // where the places and ends of its ordered bins are; -1 where it has no ramps
    i64 knots;      // where the bins of its knots are
};

struct Design {
    const Feature* features;
    const i64* bin_rows;  // how many rows each bin holds
    const double *place, *end;
    const i64* knots;
};

struct Target {
    const signed char* label;  // -1 and 1; null where there is a response
    const double* response;
    const double* weight;  // null where all are one
    i64 n_rows;
    i64 loss;

    __device__ double y(i64 row) const { return label ? static_cast<double>(label[row]) : response[row]; }
    __device__ double w(i64 row) const { return weight ? weight[row] : 1.0; }
};

__device__ double column_in_bin(const Design& design, const Feature& feature, i64 column, i64 bin) {
    if (column < feature.n_ordered) return bin <= column ? 1.0 : 0.0;
    if (column < feature.n_bins) return bin == column ? 1.0 : 0.0;
    const i64 knot = design.knots[feature.knots + column - feature.n_bins];
    return bin <= knot ? design.place[feature.ramps + bin] - design.end[feature.ramps + knot] : 0.0;
}

// Whether a column may be another in this bin than in the one before.
__device__ bool changes_at(const Design& design, const Feature& feature, i64 column, i64 bin) {
    if (bin == 0) return true;
    if (column < feature.n_ordered) return bin == column + 1;
    if (column < feature.n_bins) return bin == column || bin == column + 1;
    return bin <= design.knots[feature.knots + column - feature.n_bins] + 1;
}

// Codes of rows [row, row + at_once); row is a multiple of it, and codes go on to the next multiple past the last row.
__device__ void read_codes(const void* codes, bool wide, i64 row, u32* out) {
    if (wide) {
        const ushort4 four = reinterpret_cast<const ushort4*>(codes)[row / at_once];
        out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
    } else {
        const uchar4 four = reinterpret_cast<const uchar4*>(codes)[row / at_once];
        out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
    }
}

__device__ i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

// Adds up what the threads of a block have, always in the same order; thread 0 has the sum.
template <class Number>
__device__ Number block_sum(Number mine, Number* room) {
    room[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
        __syncthreads();
    }
    const Number sum = room[0];
    __syncthreads();
    return sum;
}

__device__ double block_max(double mine, double* room) {
    room[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) room[threadIdx.x] = fmax(room[threadIdx.x], room[threadIdx.x + half]);
        __syncthreads();
    }
    const double most = room[0];
    __syncthreads();
    return most;
}
