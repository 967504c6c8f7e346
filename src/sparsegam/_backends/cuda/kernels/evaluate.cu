// kernels/evaluate.cu: losses of several points in one pass, and gradient and curvature of each row at one.
//
// The columns of a support cut the bins of a feature into few segments. `prepare` finds them, with what each adds to the
// score of every point; a row then needs its code, the segment of the code, and one number per point.

// A question about points. Words: n_used, n_terms, n_points; the features in use; for each where its terms, its bins and
// its segments begin (and where all end); of each term its column within the feature, and the bit that stands for it;
// the intercepts; the coefficients, those of a term together.
struct Lookup {
    i64 n_used, n_terms, n_points;
    const i64 *used, *first_term, *first_bin, *first_segment, *column, *bit;
    const double *intercept, *coef;
};

__device__ Lookup lookup_of(const i64* words) {
    Lookup out;
    out.n_used = words[0], out.n_terms = words[1], out.n_points = words[2];
    out.used = words + 3;
    out.first_term = out.used + out.n_used;
    out.first_bin = out.first_term + out.n_used + 1;
    out.first_segment = out.first_bin + out.n_used + 1;
    out.column = out.first_segment + out.n_used + 1;
    out.bit = out.column + out.n_terms;
    out.intercept = reinterpret_cast<const double*>(out.bit + out.n_terms);
    out.coef = out.intercept + out.n_points;
    return out;
}

// A block for each feature in use: the segment of each bin, what it adds to the scores, and the bits of its columns.
extern "C" __global__ void prepare(const Design* design_, const i64* words, u16* segment_of, double* scores, u32* bits,
                                   i64 n_words) {
    __shared__ int starts[most_threads];
    const Design design = *design_;
    const Lookup look = lookup_of(words);
    const int u = blockIdx.x;
    const Feature feature = design.features[look.used[u]];
    const i64 first_term = look.first_term[u], last_term = look.first_term[u + 1];
    const i64 share = (feature.n_bins + blockDim.x - 1) / blockDim.x;
    const i64 begin = smaller(threadIdx.x * share, feature.n_bins), end = smaller(begin + share, feature.n_bins);
    const auto starts_segment = [&](i64 bin) {
        bool changes = bin == 0;
        for (i64 t = first_term; t < last_term && !changes; ++t)
            changes = changes_at(design, feature, look.column[t], bin);
        return changes;
    };
    int mine = 0;
    for (i64 bin = begin; bin < end; ++bin) mine += starts_segment(bin);
    starts[threadIdx.x] = mine;
    __syncthreads();
    int segment = -1;
    for (int t = 0; t < threadIdx.x; ++t) segment += starts[t];
    for (i64 bin = begin; bin < end; ++bin) {
        const bool first = starts_segment(bin);
        segment += first;
        segment_of[look.first_bin[u] + bin] = static_cast<u16>(segment);
        if (!first) continue;
        const i64 at = look.first_segment[u] + segment;
        for (i64 p = 0; p < look.n_points; ++p) {
            double sum = 0.0;
            for (i64 t = first_term; t < last_term; ++t)
                sum += look.coef[t * look.n_points + p] * column_in_bin(design, feature, look.column[t], bin);
            scores[at * look.n_points + p] = sum;
        }
        for (int w = 0; w < n_words; ++w) {
            u32 word = 0;
            for (i64 t = first_term; t < last_term; ++t)
                if (look.bit[t] / 32 == w && column_in_bin(design, feature, look.column[t], bin) != 0.0)
                    word |= 1u << (look.bit[t] % 32);
            bits[at * n_words + w] = word;
        }
    }
}

// What a block keeps at hand of a feature in use.
struct Unit {
    const void* codes;
    i64 wide, first_bin, first_segment;
};

// Lays out units, segments of bins and what segments have in shared memory; where there is no room, they are read where
// they are.
template <class Number>
struct Tables {
    const Unit* units;
    const u16* segment_of;
    const Number* entries;

    __device__ Tables(const Design& design, const Lookup& look, const u16* segments, const Number* numbers, i64 width,
                      i64 room)
        : segment_of(segments), entries(numbers) {
        Unit* mine = reinterpret_cast<Unit*>(shared);
        for (i64 u = threadIdx.x; u < look.n_used; u += blockDim.x) {
            const Feature& feature = design.features[look.used[u]];
            mine[u] = {reinterpret_cast<const void*>(feature.codes), feature.wide, look.first_bin[u],
                       look.first_segment[u]};
        }
        units = mine;
        const i64 n_bins = look.first_bin[look.n_used], n_numbers = look.first_segment[look.n_used] * width;
        i64 used = look.n_used * sizeof(Unit);
        if (used + n_numbers * sizeof(Number) <= room) {
            Number* to = reinterpret_cast<Number*>(shared + used);
            for (i64 i = threadIdx.x; i < n_numbers; i += blockDim.x) to[i] = numbers[i];
            entries = to;
            used += n_numbers * sizeof(Number);
        }
        if (used + n_bins * sizeof(u16) <= room) {
            u16* to = reinterpret_cast<u16*>(shared + used);
            for (i64 i = threadIdx.x; i < n_bins; i += blockDim.x) to[i] = segments[i];
            segment_of = to;
        }
        __syncthreads();
    }

    __device__ const Number* at(i64 u, u32 code, i64 width) const {
        return entries + (units[u].first_segment + segment_of[units[u].first_bin + code]) * width;
    }
};

// Scores of a row at P points.
template <int P>
__device__ void score(const Lookup& look, const Tables<double>& tables, i64 row, double (&scores)[P]) {
#pragma unroll
    for (int p = 0; p < P; ++p) scores[p] = look.intercept[p];
    for (i64 u = 0; u < look.n_used; ++u) {
        const Unit& unit = tables.units[u];
        const u32 code = unit.wide ? static_cast<const u16*>(unit.codes)[row] : static_cast<const u8*>(unit.codes)[row];
        const double* mine = tables.at(u, code, P);
#pragma unroll
        for (int p = 0; p < P; ++p) scores[p] += mine[p];
    }
}

// Scores of four rows at one point.
__device__ void score_four(const Lookup& look, const Tables<double>& tables, i64 row, double (&scores)[at_once]) {
#pragma unroll
    for (int q = 0; q < at_once; ++q) scores[q] = look.intercept[0];
    for (i64 u = 0; u < look.n_used; ++u) {
        u32 codes[at_once];
        read_codes(tables.units[u].codes, tables.units[u].wide, row, codes);
#pragma unroll
        for (int q = 0; q < at_once; ++q) scores[q] += *tables.at(u, codes[q], 1);
    }
}

// Losses at P points: sums of a block of rows, to be added up by `reduce`.
template <int P>
__device__ void losses(const Design& design, const Target& target, const i64* words, const u16* segment_of,
                       const double* entries, i64 rows_per_block, i64 room, double* sums) {
    __shared__ double added[most_threads];
    const Lookup look = lookup_of(words);
    const Tables<double> tables(design, look, segment_of, entries, P, room);
    const i64 begin = blockIdx.x * rows_per_block, end = smaller(begin + rows_per_block, target.n_rows);
    LossSum sum[P];
    const bool even = !target.weight;
    int unsettled = 0;
    for (i64 row = begin + threadIdx.x; row < end; row += blockDim.x) {
        double scores[P];
        score<P>(look, tables, row, scores);
        const double y = target.y(row), w = target.w(row);
#pragma unroll
        for (int p = 0; p < P; ++p) sum[p].add(target.loss, scores[p], y, w, even);
        if (++unsettled < settled_after) continue;
        for (int p = 0; p < P; ++p) sum[p].settle();
        unsettled = 0;
    }
#pragma unroll
    for (int p = 0; p < P; ++p) {
        sum[p].settle();
        const double all = block_sum(sum[p].sum, added);
        if (threadIdx.x == 0) sums[p * gridDim.x + blockIdx.x] = all;
    }
}

#define LOSSES(P)                                                                                       \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                \
        losses_##P(const Design* design, const Target* target, const i64* words, const u16* segment_of, \
                   const double* entries, i64 rows_per_block, i64 room, double* sums) {                 \
        losses<P>(*design, *target, words, segment_of, entries, rows_per_block, room, sums);            \
    }
LOSSES(1)
LOSSES(2)
LOSSES(4)
LOSSES(8)

// Gradient, curvature and, where there is room for it, loss of each row at one point; sums and largest numbers of a block.
extern "C" __global__ void go_to(const Design* design, const Target* target_, const i64* words, const u16* segment_of,
                                 const double* entries, i64 rows_per_block, i64 room, float* grad, float* curv,
                                 float* value, double* sums) {
    __shared__ double added[most_threads];
    const Target target = *target_;
    const Lookup look = lookup_of(words);
    const Tables<double> tables(*design, look, segment_of, entries, 1, room);
    const i64 begin = blockIdx.x * rows_per_block, end = smaller(begin + rows_per_block, target.n_rows);
    double sum[3] = {}, most[3] = {};
    for (i64 row = begin + threadIdx.x * at_once; row < end; row += blockDim.x * at_once) {
        double scores[at_once];
        score_four(look, tables, row, scores);
        float out[3][at_once] = {};
        for (int q = 0; q < at_once; ++q) {
            if (row + q >= end) break;
            const double w = target.w(row + q);
            const Derivatives at = derivatives(target.loss, scores[q], target.y(row + q));
            const double parts[3] = {w * at.value, w * at.grad, w * at.curv};
            for (int c = 0; c < 3; ++c) {
                sum[c] += parts[c];
                most[c] = fmax(most[c], fabs(parts[c]));
                out[c][q] = static_cast<float>(parts[c]);
            }
        }
        reinterpret_cast<float4*>(grad)[row / at_once] = {out[1][0], out[1][1], out[1][2], out[1][3]};
        reinterpret_cast<float4*>(curv)[row / at_once] = {out[2][0], out[2][1], out[2][2], out[2][3]};
        if (value) reinterpret_cast<float4*>(value)[row / at_once] = {out[0][0], out[0][1], out[0][2], out[0][3]};
    }
    for (int c = 0; c < 3; ++c) {
        const double all = block_sum(sum[c], added), largest = block_max(most[c], added);
        if (threadIdx.x == 0) {
            sums[c * gridDim.x + blockIdx.x] = all;
            sums[(3 + c) * gridDim.x + blockIdx.x] = largest;
        }
    }
}

// Adds up what blocks left, a block for each number: sums first, then largest ones.
extern "C" __global__ void reduce(const double* parts, i64 n_parts, i64 n_sums, double* out) {
    __shared__ double added[most_threads];
    const double* mine = parts + blockIdx.x * n_parts;
    const bool is_sum = blockIdx.x < n_sums;
    double own = 0.0;
    for (i64 i = threadIdx.x; i < n_parts; i += blockDim.x) own = is_sum ? own + mine[i] : fmax(own, mine[i]);
    const double all = is_sum ? block_sum(own, added) : block_max(own, added);
    if (threadIdx.x == 0) out[blockIdx.x] = all;
}

// A bit per row and column of a support, in words of 32; `flip` says of which columns the complement is meant.
extern "C" __global__ void mark(const Design* design, const i64* words, const u16* segment_of, const u32* entries,
                                const u32* flip, i64 n_rows, i64 stride, i64 n_words, i64 room, u32* out) {
    const Lookup look = lookup_of(words);
    const Tables<u32> tables(*design, look, segment_of, entries, n_words, room);
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x * at_once;
    for (i64 row = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) * at_once; row < n_rows; row += step)
        for (int w = 0; w < n_words; ++w) {
            u32 word[at_once] = {flip[w], flip[w], flip[w], flip[w]};
            for (i64 u = 0; u < look.n_used; ++u) {
                u32 codes[at_once];
                read_codes(tables.units[u].codes, tables.units[u].wide, row, codes);
                for (int q = 0; q < at_once; ++q) word[q] ^= tables.at(u, codes[q], n_words)[w];
            }
            reinterpret_cast<uint4*>(out + w * stride)[row / at_once] = {word[0], word[1], word[2], word[3]};
        }
}

// The value of one column for each row; ramps are below zero, and here above it.
extern "C" __global__ void column_values(const Design* design_, i64 f, i64 column, i64 n_rows, float* out) {
    const Design design = *design_;
    const Feature feature = design.features[f];
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x * at_once;
    for (i64 row = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) * at_once; row < n_rows; row += step) {
        u32 codes[at_once];
        read_codes(reinterpret_cast<const void*>(feature.codes), feature.wide, row, codes);
        for (int q = 0; q < at_once; ++q)
            out[row + q] = static_cast<float>(fabs(column_in_bin(design, feature, column, codes[q])));
    }
}

// The score of each row at one point.
extern "C" __global__ void scores(const Design* design, const i64* words, const u16* segment_of, const double* entries,
                                  i64 n_rows, i64 room, double* out) {
    const Lookup look = lookup_of(words);
    const Tables<double> tables(*design, look, segment_of, entries, 1, room);
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x * at_once;
    for (i64 row = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) * at_once; row < n_rows; row += step) {
        double mine[at_once];
        score_four(look, tables, row, mine);
        for (int q = 0; q < at_once && row + q < n_rows; ++q) out[row + q] = mine[q];
    }
}
