// kernels/histogram.cu: sums of row values by bin, in fixed point, and the sums by column that follow from them.
//
// Rows carry float values. A channel (one kind of value) is multiplied by a power of two such that its largest absolute
// value has `precision` bits, rounded to integers and added. Sums of integers have the same bits in any order.

// Values of all rows; see RowValues in layouts.py.
struct RowValues {
    const float* values;  // null: 1 for each row
    const double* max;    // largest absolute value
    i64 is_signed;
};

// Values to accumulate; see Channels in layouts.py. The channels are the base values, then the curvature of the rows of
// each 0/1 column, then the curvature times each ramp.
struct Channels {
    RowValues base[3];  // gradient, curvature, loss
    RowValues curvature;
    const u32* bits;
    const u32* inverted;  // columns whose complement is in `bits`
    const float* ramps;
    i64 stride;  // number of elements from one word of bits, or from one ramp, to the next
    i64 n_base, n_bits, n_ramps, precision, n_rows;

    __device__ i64 count() const { return n_base + n_bits + n_ramps; }
};

constexpr int max_exponent = 120;

// The power of two that scales values to less than 2^precision.
__device__ float scale_of(const RowValues& values, i64 precision) {
    if (!values.values) return 1.0f;
    int exponent;
    frexp(*values.max, &exponent);
    const i64 wanted = *values.max > 0.0 ? precision - exponent : 0;
    return ldexpf(1.0f, static_cast<int>(smaller(wanted, max_exponent)));
}

// Converts values to fixed point. Signed values are shifted by 2^precision to be non-negative; the shift is subtracted
// again from each sum, once for each of its rows.
struct FixedPoint {
    const float* values;
    float scale;
    u32 offset;

    __device__ FixedPoint(const RowValues& values_, i64 precision)
        : values(values_.values),
          scale(scale_of(values_, precision)),
          offset(values_.is_signed ? 1u << precision : 0u) {}

    __device__ u32 fixed(float value) const { return static_cast<u32>(__float2int_rn(value * scale)) + offset; }
    __device__ float4 read(i64 row) const {
        return values ? reinterpret_cast<const float4*>(values)[row / rows_at_once] : float4{1.0f, 1.0f, 1.0f, 1.0f};
    }
};

// Channels that a block accumulates; see `channel_groups` in layouts.py.
struct Group {
    i64 has_base, word, first_bit, n_bits, first_ramp, n_ramps;

    __device__ i64 count(const Channels& channels) const { return (has_base ? channels.n_base : 0) + n_bits + n_ramps; }
    // Position among all channels of the c-th channel of the group.
    __device__ i64 position(const Channels& channels, i64 c) const {
        const i64 own_base = has_base ? channels.n_base : 0;
        if (c < own_base) return c;
        if (c < own_base + n_bits) return channels.n_base + word * 32 + first_bit + c - own_base;
        return channels.n_base + channels.n_bits + first_ramp + c - own_base - n_bits;
    }
};

// Features to sum over. Layout: n_features and n_groups; the features (n_features words); where the sums of each
// start, and where all end (n_features + 1 words); the groups (6 words each). The sums of a feature have an entry
// for each bin and, within a bin, for each channel.
struct Request {
    i64 n_features, n_groups;
    const i64 *features, *first_sum;
    const Group* groups;
};

__device__ Request request_of(const i64* words) {
    Request out;
    out.n_features = words[0], out.n_groups = words[1];
    out.features = words + 2;
    out.first_sum = out.features + out.n_features;
    out.groups = reinterpret_cast<const Group*>(out.first_sum + out.n_features + 1);
    return out;
}

// Sums of a block in shared memory. An integer is split into a low part of `shift` bits and a high part, each of which is
// added to a 32-bit word: 32-bit atomic additions without a result are fast, and neither word overflows while a block has
// few enough rows (`Summation._pieces` in passes.py). There are as many copies of the sums as fit, and consecutive
// threads use different copies, so that threads with the same bin rarely collide.
struct SharedSums {
    u32 *low, *high;
    int n_copies, copy, shift;

    __device__ SharedSums(i64 shared_bytes, i64 n_sums, i64 precision)
        : low(reinterpret_cast<u32*>(shared)), n_copies(32), shift(static_cast<int>(precision) / 2 + 1) {
        while (n_copies > 1 && n_sums * n_copies * 2 * sizeof(u32) > shared_bytes) n_copies /= 2;
        high = low + n_sums * n_copies;
        copy = threadIdx.x % n_copies;
        for (i64 i = threadIdx.x; i < n_sums * n_copies * 2; i += blockDim.x) low[i] = 0;
        __syncthreads();
    }
    __device__ void add(int sum, u32 value) {
        const int i = sum * n_copies + copy;
        atomicAdd(low + i, value & ((1u << shift) - 1u));
        atomicAdd(high + i, value >> shift);
    }
    // Adds the values of four rows; zeros are skipped.
    __device__ void add(const int (&sum)[rows_at_once], const u32 (&value)[rows_at_once]) {
#pragma unroll
        for (int q = 0; q < rows_at_once; ++q)
            if (value[q]) add(sum[q], value[q]);
    }
    __device__ u64 total(i64 sum) const {
        u64 out = 0;
        for (int c = 0; c < n_copies; ++c)
            out += (static_cast<u64>(high[sum * n_copies + c]) << shift) + low[sum * n_copies + c];
        return out;
    }
};

// Sums in global memory, shared by all blocks, for features with more bins than fit into shared memory.
struct GlobalSums {
    u64* sums;
    int n_bins, n_channels;
    const Channels& channels;
    const Group& group;

    __device__ void add(const int (&sum)[rows_at_once], const u32 (&value)[rows_at_once]) {
        for (int q = 0; q < rows_at_once; ++q)
            if (value[q]) {
                const i64 c = sum[q] / n_bins, bin = sum[q] % n_bins;
                atomicAdd(sums + bin * n_channels + group.position(channels, c), static_cast<u64>(value[q]));
            }
    }
};

// Fixed-point values of four rows in one channel; rows beyond the last have the value zero.
struct FourValues {
    u32 value[rows_at_once];

    __device__ FourValues(const FixedPoint& fixed_point, const float4& four, int n_rows) {
        const float values[rows_at_once] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int q = 0; q < rows_at_once; ++q) value[q] = q < n_rows ? fixed_point.fixed(values[q]) : 0u;
    }
};

// Adds four values to the sums of one channel, which start at `first_sum`.
template <class Sums>
__device__ void add_channel(Sums& sums, int first_sum, const u32 (&bins)[rows_at_once], const FourValues& four) {
    const int sum[rows_at_once] = {first_sum + static_cast<int>(bins[0]), first_sum + static_cast<int>(bins[1]),
                                   first_sum + static_cast<int>(bins[2]), first_sum + static_cast<int>(bins[3])};
    sums.add(sum, four.value);
}

// Adds four values to the sums of the 0/1 columns whose bits are set: in each step, one column of each of the four rows.
template <class Sums>
__device__ void add_columns(Sums& sums, int first_sum, int n_bins, const u32 (&bins)[rows_at_once],
                            u32 (&columns)[rows_at_once], const FourValues& four) {
    while (columns[0] | columns[1] | columns[2] | columns[3]) {
        int sum[rows_at_once];
        u32 value[rows_at_once];
#pragma unroll
        for (int q = 0; q < rows_at_once; ++q) {
            sum[q] = first_sum + (__ffs(columns[q]) - 1) * n_bins + static_cast<int>(bins[q]);
            value[q] = columns[q] ? four.value[q] : 0u;
            columns[q] &= columns[q] - 1;
        }
        sums.add(sum, value);
    }
}

// Adds the rows [begin, end) to the sums of a group of channels, which has an entry for each channel and, within a
// channel, for each bin.
template <class Sums>
__device__ void add_rows(const Feature& feature, const Channels& channels, const Group& group, i64 begin, i64 end,
                         Sums& sums) {
    const int n_bins = static_cast<int>(feature.n_bins), n_bits = static_cast<int>(group.n_bits);
    const int n_base = group.has_base ? static_cast<int>(channels.n_base) : 0;
    const FixedPoint first(channels.base[0], channels.precision), second(channels.base[1], channels.precision);
    const FixedPoint third(channels.base[2], channels.precision), curvature(channels.curvature, channels.precision);
    const u32* bits = channels.bits + group.word * channels.stride;
    const u32 mask = n_bits == 32 ? ~0u : (1u << n_bits) - 1u;
    for (i64 row = begin + threadIdx.x * rows_at_once; row < end; row += blockDim.x * rows_at_once) {
        u32 bins[rows_at_once];
        read_codes(reinterpret_cast<const void*>(feature.codes), feature.is_16_bit, row, bins);
        const int n_rows = static_cast<int>(smaller(rows_at_once, end - row));
        const bool needs_curvature = n_bits + group.n_ramps > 0;
        const float4 one = n_base > 0 ? first.read(row) : float4{}, two = n_base > 1 ? second.read(row) : float4{};
        const float4 h = needs_curvature ? curvature.read(row) : float4{};
        const uint4 words = n_bits > 0 ? reinterpret_cast<const uint4*>(bits)[row / rows_at_once] : uint4{};
        if (n_base > 0) add_channel(sums, 0, bins, FourValues(first, one, n_rows));
        if (n_base > 1) add_channel(sums, n_bins, bins, FourValues(second, two, n_rows));
        if (n_base > 2) add_channel(sums, 2 * n_bins, bins, FourValues(third, third.read(row), n_rows));
        if (n_bits > 0) {
            u32 columns[rows_at_once] = {words.x >> group.first_bit & mask, words.y >> group.first_bit & mask,
                                         words.z >> group.first_bit & mask, words.w >> group.first_bit & mask};
            add_columns(sums, n_base * n_bins, n_bins, bins, columns, FourValues(curvature, h, n_rows));
        }
        for (i64 r = 0; r < group.n_ramps; ++r) {
            const float* ramp = channels.ramps + (group.first_ramp + r) * channels.stride + row;
            const float4 weighted{h.x * ramp[0], h.y * ramp[1], h.z * ramp[2], h.w * ramp[3]};
            const int first_sum = static_cast<int>(n_base + n_bits + r) * n_bins;
            add_channel(sums, first_sum, bins, FourValues(curvature, weighted, n_rows));
        }
    }
}

// Sums by bin. The grid has a block for each feature, piece of the rows and group of channels. Blocks of the same piece
// run at about the same time, so that the row values are read from memory once and then found in the cache.
extern "C" __global__ void __launch_bounds__(512, 3)
    histogram(const Design* design, const Channels* channels_, const i64* words, i64 rows_per_piece, i64 shared_bytes,
              u64* sums) {
    const Channels channels = *channels_;
    const Request request = request_of(words);
    const Feature feature = design->features[request.features[blockIdx.x]];
    const Group group = request.groups[blockIdx.z];
    const i64 n_bins = feature.n_bins, n_sums = group.count(channels) * n_bins;
    const i64 begin = blockIdx.y * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    SharedSums block_sums(shared_bytes, n_sums, channels.precision);
    add_rows(feature, channels, group, begin, end, block_sums);
    __syncthreads();
    u64* out = sums + request.first_sum[blockIdx.x];
    for (i64 i = threadIdx.x; i < n_sums; i += blockDim.x) {
        const u64 total = block_sums.total(i);
        if (total) atomicAdd(out + i % n_bins * channels.count() + group.position(channels, i / n_bins), total);
    }
}

// Sums by bin of features whose sums do not fit into shared memory.
extern "C" __global__ void __launch_bounds__(512, 3)
    histogram_global(const Design* design, const Channels* channels_, const i64* words, i64 rows_per_piece, u64* sums) {
    const Channels channels = *channels_;
    const Request request = request_of(words);
    const Feature feature = design->features[request.features[blockIdx.x]];
    const Group group = request.groups[blockIdx.z];
    const i64 begin = blockIdx.y * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    GlobalSums global_sums{sums + request.first_sum[blockIdx.x], static_cast<int>(feature.n_bins),
                           static_cast<int>(channels.count()), channels, group};
    add_rows(feature, channels, group, begin, end, global_sums);
}

// The sum of channel c in a bin, in fixed point, without the offset of signed values and with inverted columns restored:
// the curvature of the rows of a column is the curvature of all rows of the bin minus that of the complement.
__device__ i64 bin_sum(const Design& design, const Channels& channels, const Feature& feature, const u64* sums, i64 bin,
                       i64 c) {
    const u64* of_bin = sums + bin * channels.count();
    const i64 bit = c - channels.n_base;
    if (c < channels.n_base && channels.base[c].is_signed)
        return static_cast<i64>(of_bin[c]) - (design.rows_by_bin[feature.first_bin + bin] << channels.precision);
    if (bit >= 0 && bit < channels.n_bits && channels.inverted[bit / 32] >> (bit % 32) & 1)
        return static_cast<i64>(of_bin[1] - of_bin[c]);
    return static_cast<i64>(of_bin[c]);
}

// The factor that converts sums of channel c from fixed point. Ramps are at most zero and stored as absolute values.
__device__ double unit_of(const Channels& channels, i64 c) {
    const RowValues& values = c < channels.n_base ? channels.base[c] : channels.curvature;
    const double sign = c < channels.n_base + channels.n_bits ? 1.0 : -1.0;
    return sign / scale_of(values, channels.precision);
}

// Sums over the ramps of a feature, computed as in the core by one thread, as knots are few. Let t be the upper edge of
// the current bin, v the values of channel c, and the sums be over all rows up to t:
//
//     S = sum v,   L = sum (x - t) v,   Q = sum (x - t)^2 v.
//
// When t moves up by d, they become S, L - d S and Q - 2 d L + d^2 S. The rows of the next bin, at its centre, then add v,
// z v and z^2 v with z = centre - t. At a knot, L is the sum for the ramp and, for c = 1 (the curvature), Q its squared
// norm. For each step and c = 1, the sum of the bin centres times v is stored as well.
__device__ void sum_ramps(const Design& design, const Channels& channels, const Feature& feature, const u64* sums,
                          i64 c, double* out, i64 stride) {
    const double unit = unit_of(channels, c);
    const double *centre = design.centre + feature.first_ramp, *edge = design.edge + feature.first_ramp;
    const i64 n_ramps = feature.n_columns - feature.n_bins;
    double S = 0.0, L = 0.0, Q = 0.0, moment = 0.0, last_edge = edge[0];
    for (i64 bin = 0, ramp = 0; bin < feature.n_ordered; ++bin) {
        const double v = bin_sum(design, channels, feature, sums, bin, c) * unit;
        const double d = edge[bin] - last_edge, z = centre[bin] - edge[bin];
        Q += d * (d * S - 2.0 * L) + z * z * v;
        L += z * v - d * S;
        S += v;
        last_edge = edge[bin];
        moment += centre[bin] * v;
        if (c == 1) out[bin * stride + channels.count()] = moment;
        if (ramp == n_ramps || design.knot[feature.first_knot + ramp] != bin) continue;
        double* of_ramp = out + (feature.n_bins + ramp++) * stride;
        of_ramp[c] = L;
        if (c == 1) of_ramp[channels.count()] = Q;
    }
}

// Converts sums by bin to sums by column, one block for each feature and channel: prefix sums over the ordered bins, the
// sums of the other bins, then the ramps. `out` has `stride` entries for each column, one for each channel; if the design
// has ramps, a last entry holds the squared norms of ramps and the moments of steps (see `sum_ramps`).
//
// Each thread adds a range of consecutive bins; a prefix sum over the threads (Hillis and Steele) gives where each starts.
extern "C" __global__ void sums_by_column(const Design* design_, const Channels* channels_, const i64* words,
                                          const i64* first_column, i64 stride, const u64* sums, double* out) {
    __shared__ i64 prefix[2][max_threads];
    const Design design = *design_;
    const Channels channels = *channels_;
    const Request request = request_of(words);
    const Feature feature = design.features[request.features[blockIdx.x]];
    const i64 c = blockIdx.y;
    const u64* of_feature = sums + request.first_sum[blockIdx.x];
    double* columns = out + first_column[blockIdx.x] * stride;
    const double unit = unit_of(channels, c);
    const i64 bins_per_thread = (feature.n_ordered + blockDim.x - 1) / blockDim.x;
    const i64 begin = smaller(threadIdx.x * bins_per_thread, feature.n_ordered);
    const i64 end = smaller(begin + bins_per_thread, feature.n_ordered);
    i64 of_thread = 0;
    for (i64 bin = begin; bin < end; ++bin) of_thread += bin_sum(design, channels, feature, of_feature, bin, c);
    int current = 0;
    prefix[0][threadIdx.x] = of_thread;
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2, current = 1 - current) {
        const i64 before = threadIdx.x >= distance ? prefix[current][threadIdx.x - distance] : 0;
        prefix[1 - current][threadIdx.x] = prefix[current][threadIdx.x] + before;
        __syncthreads();
    }
    i64 cumulative = prefix[current][threadIdx.x] - of_thread;
    for (i64 bin = begin; bin < end; ++bin) {
        cumulative += bin_sum(design, channels, feature, of_feature, bin, c);
        columns[bin * stride + c] = cumulative * unit;
    }
    for (i64 bin = feature.n_ordered + threadIdx.x; bin < feature.n_bins; bin += blockDim.x)
        columns[bin * stride + c] = bin_sum(design, channels, feature, of_feature, bin, c) * unit;
    if (feature.first_ramp >= 0 && threadIdx.x == 0)
        sum_ramps(design, channels, feature, of_feature, c, columns, stride);
}
