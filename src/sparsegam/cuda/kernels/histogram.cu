// kernels/histogram.cu: sums per bin of what each row carries, in fixed point, and the columns those sums stand for.
//
// Rows carry floats. A channel is scaled by a power of two, so that its largest number takes `precision` bits, rounded to
// whole numbers and added up as such: in any order the sums are the same bits. Whole numbers are 32 bits, and so are the
// sums that a block keeps in shared memory, where a carry into a second word is rare.

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

    __device__ u32 fixed(float value, float times = 1.0f) const {
        return static_cast<u32>(__float2int_rn(value * scale * times)) + offset;
    }
    __device__ float4 read(i64 row) const {
        return values ? reinterpret_cast<const float4*>(values)[row / at_once] : float4{1.0f, 1.0f, 1.0f, 1.0f};
    }
};

// Words: n_listed, n_groups; the features asked for; where the sums of each begin; of each group of channels whether it
// has those of the base, and its marks and reals.
struct Group {
    i64 has_base, word, first_bit, n_bits, first_real, n_reals;

    __device__ i64 count(const Channels& channels) const {
        return (has_base ? channels.n_base : 0) + n_bits + n_reals;
    }
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

// Sums of a block: two words for each cell, in as many copies as there is room for, so that threads that meet in one bin
// meet in several cells. Without room for one copy there is none.
struct Cells {
    u32 *low, *high;
    int copies, copy;

    __device__ Cells(i64 room, i64 n_cells) : low(reinterpret_cast<u32*>(shared)), copies(32) {
        while (copies > 0 && n_cells * copies * 2 * sizeof(u32) > room) copies /= 2;
        high = low + n_cells * copies;
        copy = copies > 0 ? threadIdx.x % copies : 0;
        for (i64 i = threadIdx.x; i < n_cells * copies * 2; i += blockDim.x) low[i] = 0;
        __syncthreads();
    }
    __device__ void add(int cell, u32 value) {
        const int at = cell * copies + copy;
        const u32 before = atomicAdd(low + at, value);
        if (before + value < before) atomicAdd(high + at, 1u);
    }
    __device__ u64 sum(i64 cell) const {
        u64 out = 0;
        for (int c = 0; c < copies; ++c)
            out += (static_cast<u64>(high[cell * copies + c]) << 32) + low[cell * copies + c];
        return out;
    }
};

__device__ void split(const float4& four, float* out) {
    out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
}

// What four rows carry goes to their bins: `add` takes a channel of the group, a bin and a whole number.
template <class Add>
__device__ void add_base(const Scaled& scaled, int c, i64 row, int count, const u32* bins, const Add& add) {
    float values[at_once];
    split(scaled.read(row), values);
    for (int q = 0; q < at_once; ++q)
        if (q < count) add(c, bins[q], scaled.fixed(values[q]));
}

template <class Add>
__device__ void add_held(const Channels& channels, const Group& group, const Scaled& held, int n_base, i64 row,
                         int count, const u32* bins, const Add& add) {
    float values[at_once];
    split(held.read(row), values);
    const int n_bits = static_cast<int>(group.n_bits), n_reals = static_cast<int>(group.n_reals);
    if (n_bits > 0) {
        const u32 asked = n_bits == 32 ? ~0u : (1u << n_bits) - 1u;
        const uint4 words = reinterpret_cast<const uint4*>(channels.marks + group.word * channels.stride)[row / at_once];
        const u32 marks[at_once] = {words.x, words.y, words.z, words.w};
        for (int q = 0; q < at_once; ++q) {
            if (q >= count) break;
            const u32 value = held.fixed(values[q]);
            for (u32 left = marks[q] >> group.first_bit & asked; left; left &= left - 1)
                add(n_base + __ffs(left) - 1, bins[q], value);
        }
    }
    for (int r = 0; r < n_reals; ++r)
        for (int q = 0; q < at_once; ++q)
            if (q < count) {
                const float real = channels.reals[(group.first_real + r) * channels.stride + row + q];
                add(n_base + n_bits + r, bins[q], held.fixed(values[q], real));
            }
}

// A block for each feature, piece of the rows and group of channels; blocks of one piece are neighbours, so that what its
// rows carry is read from memory once. Without room in shared memory, rows are added to the sums of all blocks.
extern "C" __global__ void histogram(const Design* design, const Channels* channels_, const i64* words,
                                     i64 rows_per_piece, i64 room, u64* sums) {
    const Channels channels = *channels_;
    const Listed listed = listed_of(words);
    const Feature feature = design->features[listed.features[blockIdx.x]];
    const Group group = listed.groups[blockIdx.z];
    u64* out = sums + listed.first_cell[blockIdx.x];
    const int n_bins = static_cast<int>(feature.n_bins), n_channels = static_cast<int>(channels.count());
    const int n_base = group.has_base ? static_cast<int>(channels.n_base) : 0;
    const i64 n_cells = group.count(channels) * n_bins;
    Cells cells(room, n_cells);
    const auto far = [&](i64 c, i64 bin) { return out + bin * n_channels + group.place(channels, c); };
    const auto add = [&](int c, u32 bin, u32 value) {
        if (cells.copies > 0)
            cells.add(c * n_bins + bin, value);
        else
            atomicAdd(far(c, bin), static_cast<u64>(value));
    };
    const Scaled first(channels.base[0], channels.precision), second(channels.base[1], channels.precision);
    const Scaled third(channels.base[2], channels.precision), held(channels.held, channels.precision);
    const i64 begin = blockIdx.y * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    for (i64 row = begin + threadIdx.x * at_once; row < end; row += blockDim.x * at_once) {
        u32 bins[at_once];
        read_codes(reinterpret_cast<const void*>(feature.codes), feature.wide, row, bins);
        const int count = static_cast<int>(smaller(at_once, end - row));
        if (n_base > 0) add_base(first, 0, row, count, bins, add);
        if (n_base > 1) add_base(second, 1, row, count, bins, add);
        if (n_base > 2) add_base(third, 2, row, count, bins, add);
        if (group.n_bits + group.n_reals > 0) add_held(channels, group, held, n_base, row, count, bins, add);
    }
    __syncthreads();
    if (cells.copies == 0) return;
    for (i64 cell = threadIdx.x; cell < n_cells; cell += blockDim.x) {
        const u64 sum = cells.sum(cell);
        if (sum) atomicAdd(far(cell / n_bins, cell % n_bins), sum);
    }
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
    return (c < channels.n_base + channels.n_bits ? 1.0 : -1.0) / scale;  // real columns are ramps, which are below zero
}

// Ramps of a feature, as the core sums them: from a knot to the next, d further up, S = sum c, L = sum (x - t) c and
// Q = sum (x - t)^2 h become S, L - d S and Q - 2 d L + d^2 S. One thread does it: knots are few.
__device__ void sum_ramps(const Design& design, const Channels& channels, const Feature& feature, const u64* sums,
                          i64 c, double* out, i64 stride) {
    const double unit = unit_of(channels, c), *place = design.place + feature.ramps, *end = design.end + feature.ramps;
    const i64 n_ramps = feature.n_columns - feature.n_bins;
    double sum = 0.0, line = 0.0, square = 0.0, last_end = end[0];
    for (i64 bin = 0, ramp = 0; bin < feature.n_ordered && ramp < n_ramps; ++bin) {
        const double mine = whole(design, channels, feature, sums, bin, c) * unit;
        const double d = end[bin] - last_end, z = place[bin] - end[bin];
        square += d * (d * sum - 2.0 * line) + z * z * mine;
        line += z * mine - d * sum;
        sum += mine;
        last_end = end[bin];
        if (design.knots[feature.knots + ramp] != bin) continue;
        double* to = out + (feature.n_bins + ramp++) * stride;
        to[c] = line;
        if (c == 1) to[channels.count()] = square;
    }
}

// A block for each feature and channel: prefix sums over its ordered bins, the others as they are, then its ramps. Columns
// follow each other in `out`, `stride` numbers each; where there are ramps, the last one is for their own squares.
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
