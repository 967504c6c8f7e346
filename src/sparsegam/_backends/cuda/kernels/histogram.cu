// kernels/histogram.cu: sums per bin of what each row carries, in fixed point, and the columns those sums stand for.
//
// Rows carry floats. A channel is scaled by a power of two, so that its largest number takes `precision` bits, rounded to
// whole numbers and added up as such: in any order the sums are the same bits.

struct Base {
    const float* values;  // null: each row counts one
    const double* most;   // the largest |value|
    i64 is_signed;
};

struct Channels {
    Base base[3];  // gradient, curvature, loss
    Base held;     // what marked columns carry
    const u32* marks;
    const u32* flip;  // bits that stand for the complement of a column
    const float* reals;
    i64 stride;  // between words of marks, and between real columns
    i64 n_base, n_bits, n_reals, precision, n_rows;

    __device__ i64 count() const { return n_base + n_bits + n_reals; }
};

constexpr int largest_exponent = 120;

// The power of two that takes numbers up to `most` below 2^precision.
__device__ float scale_of(const Base& base, i64 precision) {
    if (!base.values) return 1.0f;
    int exponent;
    frexp(*base.most, &exponent);
    const i64 wanted = *base.most > 0.0 ? precision - exponent : 0;
    return ldexpf(1.0f, static_cast<int>(smaller(wanted, largest_exponent)));
}

// Signed numbers are moved up by 2^precision, which is taken off again for each row of a bin.
struct Scaled {
    const float* values;
    float scale;
    u32 offset;

    __device__ Scaled(const Base& base, i64 precision)
        : values(base.values), scale(scale_of(base, precision)), offset(base.is_signed ? 1u << precision : 0u) {}

    __device__ u32 fixed(float value) const { return static_cast<u32>(__float2int_rn(value * scale)) + offset; }
    __device__ float4 read(i64 row) const {
        return values ? reinterpret_cast<const float4*>(values)[row / at_once] : float4{1.0f, 1.0f, 1.0f, 1.0f};
    }
};

// Words: n_listed, n_groups; the features asked for; where the sums of each begin; of each group of channels whether it
// has those of the base, and its marks and reals.
struct Group {
    i64 has_base, word, first_bit, n_bits, first_real, n_reals;

    __device__ i64 count(const Channels& channels) const { return (has_base ? channels.n_base : 0) + n_bits + n_reals; }
    // Where the c-th channel of the group stands among all.
    __device__ i64 place(const Channels& channels, i64 c) const {
        const i64 own_base = has_base ? channels.n_base : 0;
        if (c < own_base) return c;
        if (c < own_base + n_bits) return channels.n_base + word * 32 + first_bit + c - own_base;
        return channels.n_base + channels.n_bits + first_real + c - own_base - n_bits;
    }
};

struct Listed {
    i64 n_features, n_groups;
    const i64 *features, *first_cell;
    const Group* groups;
};

__device__ Listed listed_of(const i64* words) {
    Listed out;
    out.n_features = words[0], out.n_groups = words[1];
    out.features = words + 2;
    out.first_cell = out.features + out.n_features;
    out.groups = reinterpret_cast<const Group*>(out.first_cell + out.n_features + 1);
    return out;
}

// Sums of a block. A whole number is the sum of a low and a high part, and each has a word of its own in shared memory: both
// are added without waiting for what was there, and neither overflows while a block has few enough rows (`most_rows`).
// There are as many copies as there is room for, so that threads that meet in one bin meet in several cells.
struct Cells {
    u32 *low, *high;
    int copies, copy, shift;

    __device__ Cells(i64 room, i64 n_cells, i64 precision)
        : low(reinterpret_cast<u32*>(shared)), copies(32), shift(static_cast<int>(precision) / 2 + 1) {
        while (copies > 1 && n_cells * copies * 2 * sizeof(u32) > room) copies /= 2;
        high = low + n_cells * copies;
        copy = threadIdx.x % copies;
        for (i64 i = threadIdx.x; i < n_cells * copies * 2; i += blockDim.x) low[i] = 0;
        __syncthreads();
    }
    __device__ void add(int cell, u32 value) {
        const int at = cell * copies + copy;
        atomicAdd(low + at, value & ((1u << shift) - 1u));
        atomicAdd(high + at, value >> shift);
    }
    // The same for four rows at once; zeros are left out.
    __device__ void add(const int (&cell)[at_once], const u32 (&value)[at_once]) {
#pragma unroll
        for (int q = 0; q < at_once; ++q)
            if (value[q]) add(cell[q], value[q]);
    }
    __device__ u64 sum(i64 cell) const {
        u64 out = 0;
        for (int c = 0; c < copies; ++c)
            out += (static_cast<u64>(high[cell * copies + c]) << shift) + low[cell * copies + c];
        return out;
    }
};

// Sums by bin that all blocks share, for features of more bins than a block has room for.
struct FarCells {
    u64* sums;
    int n_bins, n_channels;
    const Channels& channels;
    const Group& group;

    __device__ void add(const int (&cell)[at_once], const u32 (&value)[at_once]) {
        for (int q = 0; q < at_once; ++q)
            if (value[q]) {
                const i64 c = cell[q] / n_bins, bin = cell[q] % n_bins;
                atomicAdd(sums + bin * n_channels + group.place(channels, c), static_cast<u64>(value[q]));
            }
    }
};

// What four rows carry of one channel, as whole numbers; rows past the last carry nothing.
struct Four {
    u32 value[at_once];

    __device__ Four(const Scaled& scaled, const float4& four, int count) {
        const float read[at_once] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int q = 0; q < at_once; ++q) value[q] = q < count ? scaled.fixed(read[q]) : 0u;
    }
};

template <class To>
__device__ void add_channel(To& cells, int first_cell, const u32 (&bins)[at_once], const Four& four) {
    const int cell[at_once] = {first_cell + static_cast<int>(bins[0]), first_cell + static_cast<int>(bins[1]),
                               first_cell + static_cast<int>(bins[2]), first_cell + static_cast<int>(bins[3])};
    cells.add(cell, four.value);
}

// One mark of each of the four rows at a time.
template <class To>
__device__ void add_marked(To& cells, int first_cell, int n_bins, const u32 (&bins)[at_once], u32 (&left)[at_once],
                           const Four& four) {
    while (left[0] | left[1] | left[2] | left[3]) {
        int cell[at_once];
        u32 value[at_once];
#pragma unroll
        for (int q = 0; q < at_once; ++q) {
            cell[q] = first_cell + (__ffs(left[q]) - 1) * n_bins + static_cast<int>(bins[q]);
            value[q] = left[q] ? four.value[q] : 0u;
            left[q] &= left[q] - 1;
        }
        cells.add(cell, value);
    }
}

template <class To>
__device__ void add_rows(const Feature& feature, const Channels& channels, const Group& group, i64 begin, i64 end,
                         To& cells) {
    const int n_bins = static_cast<int>(feature.n_bins), n_bits = static_cast<int>(group.n_bits);
    const int n_base = group.has_base ? static_cast<int>(channels.n_base) : 0;
    const Scaled first(channels.base[0], channels.precision), second(channels.base[1], channels.precision);
    const Scaled third(channels.base[2], channels.precision), held(channels.held, channels.precision);
    const u32* marks = channels.marks + group.word * channels.stride;
    const u32 asked = n_bits == 32 ? ~0u : (1u << n_bits) - 1u;
    for (i64 row = begin + threadIdx.x * at_once; row < end; row += blockDim.x * at_once) {
        u32 bins[at_once];
        read_codes(reinterpret_cast<const void*>(feature.codes), feature.wide, row, bins);
        const int count = static_cast<int>(smaller(at_once, end - row));
        const bool carries = n_bits + group.n_reals > 0;
        const float4 one = n_base > 0 ? first.read(row) : float4{}, two = n_base > 1 ? second.read(row) : float4{};
        const float4 own = carries ? held.read(row) : float4{};
        const uint4 words = n_bits > 0 ? reinterpret_cast<const uint4*>(marks)[row / at_once] : uint4{};
        if (n_base > 0) add_channel(cells, 0, bins, Four(first, one, count));
        if (n_base > 1) add_channel(cells, n_bins, bins, Four(second, two, count));
        if (n_base > 2) add_channel(cells, 2 * n_bins, bins, Four(third, third.read(row), count));
        if (n_bits > 0) {
            u32 left[at_once] = {words.x >> group.first_bit & asked, words.y >> group.first_bit & asked,
                                 words.z >> group.first_bit & asked, words.w >> group.first_bit & asked};
            add_marked(cells, n_base * n_bins, n_bins, bins, left, Four(held, own, count));
        }
        for (i64 r = 0; r < group.n_reals; ++r) {
            const float* real = channels.reals + (group.first_real + r) * channels.stride + row;
            const float4 times{own.x * real[0], own.y * real[1], own.z * real[2], own.w * real[3]};
            add_channel(cells, static_cast<int>(n_base + n_bits + r) * n_bins, bins, Four(held, times, count));
        }
    }
}

// A block for each feature, piece of the rows and group of channels; blocks of one piece are neighbours, so that what its
// rows carry is read from memory once.
extern "C" __global__ void __launch_bounds__(512, 3)
    histogram(const Design* design, const Channels* channels_, const i64* words, i64 rows_per_piece, i64 room,
              u64* sums) {
    const Channels channels = *channels_;
    const Listed listed = listed_of(words);
    const Feature feature = design->features[listed.features[blockIdx.x]];
    const Group group = listed.groups[blockIdx.z];
    const i64 n_bins = feature.n_bins, n_cells = group.count(channels) * n_bins;
    const i64 begin = blockIdx.y * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    Cells cells(room, n_cells, channels.precision);
    add_rows(feature, channels, group, begin, end, cells);
    __syncthreads();
    u64* out = sums + listed.first_cell[blockIdx.x];
    for (i64 cell = threadIdx.x; cell < n_cells; cell += blockDim.x) {
        const u64 sum = cells.sum(cell);
        if (sum) atomicAdd(out + cell % n_bins * channels.count() + group.place(channels, cell / n_bins), sum);
    }
}

// The same where a block has no room for the sums of a feature.
extern "C" __global__ void __launch_bounds__(512, 3)
    histogram_far(const Design* design, const Channels* channels_, const i64* words, i64 rows_per_piece, u64* sums) {
    const Channels channels = *channels_;
    const Listed listed = listed_of(words);
    const Feature feature = design->features[listed.features[blockIdx.x]];
    const Group group = listed.groups[blockIdx.z];
    const i64 begin = blockIdx.y * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    FarCells cells{sums + listed.first_cell[blockIdx.x], static_cast<int>(feature.n_bins),
                   static_cast<int>(channels.count()), channels, group};
    add_rows(feature, channels, group, begin, end, cells);
}

// The sum of a channel in a bin, with signs and complements put right, still in whole numbers.
__device__ i64 whole(const Design& design, const Channels& channels, const Feature& feature, const u64* sums, i64 bin,
                     i64 c) {
    const u64* mine = sums + bin * channels.count();
    const i64 bit = c - channels.n_base;
    if (c < channels.n_base && channels.base[c].is_signed)
        return static_cast<i64>(mine[c]) - (design.bin_rows[feature.first_bin + bin] << channels.precision);
    if (bit >= 0 && bit < channels.n_bits && channels.flip[bit / 32] >> (bit % 32) & 1)
        return static_cast<i64>(mine[1] - mine[c]);
    return static_cast<i64>(mine[c]);
}

__device__ double unit_of(const Channels& channels, i64 c) {
    const Base& base = c < channels.n_base ? channels.base[c] : channels.held;
    const double scale = scale_of(base, channels.precision);
    return (c < channels.n_base + channels.n_bits ? 1.0 : -1.0) /
           scale;  // real columns are ramps, which are below zero
}

// Ramps of a feature, as the core sums them: from a knot to the next, d further up, S = sum c, L = sum (x - t) c and
// Q = sum (x - t)^2 h become S, L - d S and Q - 2 d L + d^2 S; of a step, the places of its rows under the curvature. One
// thread does it: knots are few.
__device__ void sum_ramps(const Design& design, const Channels& channels, const Feature& feature, const u64* sums,
                          i64 c, double* out, i64 stride) {
    const double unit = unit_of(channels, c), *place = design.place + feature.ramps, *end = design.end + feature.ramps;
    const i64 n_ramps = feature.n_columns - feature.n_bins;
    double sum = 0.0, line = 0.0, square = 0.0, moment = 0.0, last_end = end[0];
    for (i64 bin = 0, ramp = 0; bin < feature.n_ordered; ++bin) {
        const double mine = whole(design, channels, feature, sums, bin, c) * unit;
        const double d = end[bin] - last_end, z = place[bin] - end[bin];
        square += d * (d * sum - 2.0 * line) + z * z * mine;
        line += z * mine - d * sum;
        sum += mine;
        last_end = end[bin];
        moment += place[bin] * mine;
        if (c == 1) out[bin * stride + channels.count()] = moment;
        if (ramp == n_ramps || design.knots[feature.knots + ramp] != bin) continue;
        double* to = out + (feature.n_bins + ramp++) * stride;
        to[c] = line;
        if (c == 1) to[channels.count()] = square;
    }
}

// A block for each feature and channel: prefix sums over its ordered bins, the others as they are, then its ramps. Columns
// follow each other in `out`, `stride` numbers each; where there are ramps, the last one is for their own squares, and for
// the moments of steps.
extern "C" __global__ void columns_of_bins(const Design* design_, const Channels* channels_, const i64* words,
                                           const i64* first_column, i64 stride, const u64* sums, double* out) {
    __shared__ i64 parts[2][most_threads];
    const Design design = *design_;
    const Channels channels = *channels_;
    const Listed listed = listed_of(words);
    const Feature feature = design.features[listed.features[blockIdx.x]];
    const i64 c = blockIdx.y;
    const u64* mine = sums + listed.first_cell[blockIdx.x];
    double* to = out + first_column[blockIdx.x] * stride;
    const double unit = unit_of(channels, c);
    const i64 share = (feature.n_ordered + blockDim.x - 1) / blockDim.x;
    const i64 begin = smaller(threadIdx.x * share, feature.n_ordered), end = smaller(begin + share, feature.n_ordered);
    i64 own = 0;
    for (i64 bin = begin; bin < end; ++bin) own += whole(design, channels, feature, mine, bin, c);
    int side = 0;
    parts[0][threadIdx.x] = own;
    __syncthreads();
    for (int apart = 1; apart < blockDim.x; apart *= 2, side = 1 - side) {
        const i64 before = threadIdx.x >= apart ? parts[side][threadIdx.x - apart] : 0;
        parts[1 - side][threadIdx.x] = parts[side][threadIdx.x] + before;
        __syncthreads();
    }
    i64 upto = parts[side][threadIdx.x] - own;
    for (i64 bin = begin; bin < end; ++bin) {
        upto += whole(design, channels, feature, mine, bin, c);
        to[bin * stride + c] = upto * unit;
    }
    for (i64 bin = feature.n_ordered + threadIdx.x; bin < feature.n_bins; bin += blockDim.x)
        to[bin * stride + c] = whole(design, channels, feature, mine, bin, c) * unit;
    if (feature.ramps >= 0 && threadIdx.x == 0) sum_ramps(design, channels, feature, mine, c, to, stride);
}
