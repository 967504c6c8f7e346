// kernels/evaluate.cu: losses at several points in one pass, and derivatives, scores and columns of each row at one point.
//
// The columns of a support divide the bins of a feature into few segments on which all of them are constant. `tabulate`
// finds the segments and computes the contribution of each to the score at every point. The score of a row is then a sum
// over the features in use: look up the code of the row, the segment of the code, and one number per point.

// Columns of a support with coefficients or bits; see the class of the same name in layouts.py for the layout.
struct Support {
    i64 n_features, n_columns, n_points;
    const i64 *feature, *first_column, *first_bin, *first_segment, *column, *bit;
    const double *intercept, *coef;
};

__device__ Support support_of(const i64* words) {
    Support out;
    out.n_features = words[0], out.n_columns = words[1], out.n_points = words[2];
    out.feature = words + 3;
    out.first_column = out.feature + out.n_features;
    out.first_bin = out.first_column + out.n_features + 1;
    out.first_segment = out.first_bin + out.n_features + 1;
    out.column = out.first_segment + out.n_features + 1;
    out.bit = out.column + out.n_columns;
    out.intercept = reinterpret_cast<const double*>(out.bit + out.n_columns);
    out.coef = out.intercept + out.n_points;
    return out;
}

// Computes the tables of a support, one block per feature in use: the segment of each bin, the contributions of each
// segment to the scores, and the bits of the columns that are not zero in it (n_words words of 32 bits).
//
// Each thread has a range of consecutive bins. It counts the segments that start in its range; the sum of the counts of
// the threads before it is the segment in which its range starts.
extern "C" __global__ void tabulate(const Design* design_, const i64* words, u16* segment_of, double* scores, u32* bits,
                                    i64 n_words) {
    __shared__ int n_starts[max_threads];
    const Design design = *design_;
    const Support support = support_of(words);
    const int u = blockIdx.x;
    const Feature feature = design.features[support.feature[u]];
    const i64 first_column = support.first_column[u], last_column = support.first_column[u + 1];
    const i64 bins_per_thread = (feature.n_bins + blockDim.x - 1) / blockDim.x;
    const i64 begin = smaller(threadIdx.x * bins_per_thread, feature.n_bins);
    const i64 end = smaller(begin + bins_per_thread, feature.n_bins);
    const auto starts_segment = [&](i64 bin) {
        bool changes = bin == 0;
        for (i64 c = first_column; c < last_column && !changes; ++c)
            changes = may_change_at(design, feature, support.column[c], bin);
        return changes;
    };
    int count = 0;
    for (i64 bin = begin; bin < end; ++bin) count += starts_segment(bin);
    n_starts[threadIdx.x] = count;
    __syncthreads();
    int segment = -1;
    for (int t = 0; t < threadIdx.x; ++t) segment += n_starts[t];
    for (i64 bin = begin; bin < end; ++bin) {
        const bool is_first = starts_segment(bin);
        segment += is_first;
        segment_of[support.first_bin[u] + bin] = static_cast<u16>(segment);
        if (!is_first) continue;
        const i64 entry = support.first_segment[u] + segment;
        for (i64 p = 0; p < support.n_points; ++p) {
            double sum = 0.0;
            for (i64 c = first_column; c < last_column; ++c)
                sum += support.coef[c * support.n_points + p] * column_in_bin(design, feature, support.column[c], bin);
            scores[entry * support.n_points + p] = sum;
        }
        for (int w = 0; w < n_words; ++w) {
            u32 word = 0;
            for (i64 c = first_column; c < last_column; ++c)
                if (support.bit[c] / 32 == w && column_in_bin(design, feature, support.column[c], bin) != 0.0)
                    word |= 1u << (support.bit[c] % 32);
            bits[entry * n_words + w] = word;
        }
    }
}

// Description of a feature in use that a block reads.
struct UsedFeature {
    const void* codes;
    i64 is_16_bit, first_bin, first_segment;
};

// The tables of a support. Copies the features in use, the entries of the segments and the segments of the bins to shared
// memory, in this order, as far as they fit; what does not fit is read from global memory.
template <class Number>
struct Tables {
    const UsedFeature* features;
    const u16* segment_of;
    const Number* entries;

    __device__ Tables(const Design& design, const Support& support, const u16* global_segments,
                      const Number* global_entries, i64 width, i64 shared_bytes)
        : segment_of(global_segments), entries(global_entries) {
        UsedFeature* shared_features = reinterpret_cast<UsedFeature*>(shared);
        for (i64 u = threadIdx.x; u < support.n_features; u += blockDim.x) {
            const Feature& feature = design.features[support.feature[u]];
            shared_features[u] = {reinterpret_cast<const void*>(feature.codes), feature.is_16_bit, support.first_bin[u],
                                  support.first_segment[u]};
        }
        features = shared_features;
        const i64 n_bins = support.first_bin[support.n_features];
        const i64 n_entries = support.first_segment[support.n_features] * width;
        i64 used = support.n_features * sizeof(UsedFeature);
        if (used + n_entries * sizeof(Number) <= shared_bytes) {
            Number* copy = reinterpret_cast<Number*>(shared + used);
            for (i64 i = threadIdx.x; i < n_entries; i += blockDim.x) copy[i] = global_entries[i];
            entries = copy;
            used += n_entries * sizeof(Number);
        }
        if (used + n_bins * sizeof(u16) <= shared_bytes) {
            u16* copy = reinterpret_cast<u16*>(shared + used);
            for (i64 i = threadIdx.x; i < n_bins; i += blockDim.x) copy[i] = global_segments[i];
            segment_of = copy;
        }
        __syncthreads();
    }

    // The `width` entries of a code of the u-th feature in use.
    __device__ const Number* at(i64 u, u32 code, i64 width) const {
        return entries + (features[u].first_segment + segment_of[features[u].first_bin + code]) * width;
    }
};

// Computes the scores of one row at P points.
template <int P>
__device__ void score(const Support& support, const Tables<double>& tables, i64 row, double (&scores)[P]) {
#pragma unroll
    for (int p = 0; p < P; ++p) scores[p] = support.intercept[p];
    for (i64 u = 0; u < support.n_features; ++u) {
        const UsedFeature& feature = tables.features[u];
        const u32 code = feature.is_16_bit ? static_cast<const u16*>(feature.codes)[row]
                                           : static_cast<const u8*>(feature.codes)[row];
        const double* contribution = tables.at(u, code, P);
#pragma unroll
        for (int p = 0; p < P; ++p) scores[p] += contribution[p];
    }
}

// Computes the scores of four rows at one point.
__device__ void score_four(const Support& support, const Tables<double>& tables, i64 row,
                           double (&scores)[rows_at_once]) {
#pragma unroll
    for (int q = 0; q < rows_at_once; ++q) scores[q] = support.intercept[0];
    for (i64 u = 0; u < support.n_features; ++u) {
        u32 codes[rows_at_once];
        read_codes(tables.features[u].codes, tables.features[u].is_16_bit, row, codes);
#pragma unroll
        for (int q = 0; q < rows_at_once; ++q) scores[q] += *tables.at(u, codes[q], 1);
    }
}

// Computes the losses at P points, summed over a block of rows; `reduce_blocks` adds the blocks.
template <int P>
__device__ void losses(const Design& design, const Target& target, const i64* words, const u16* segment_of,
                       const double* entries, i64 rows_per_block, i64 shared_bytes, double* block_sums) {
    __shared__ double buffer[max_threads];
    const Support support = support_of(words);
    const Tables<double> tables(design, support, segment_of, entries, P, shared_bytes);
    const i64 begin = blockIdx.x * rows_per_block, end = smaller(begin + rows_per_block, target.n_rows);
    LossSum sum[P];
    const bool uniform_weights = !target.weight;
    int n_unflushed = 0;
    for (i64 row = begin + threadIdx.x; row < end; row += blockDim.x) {
        double scores[P];
        score<P>(support, tables, row, scores);
        const double y = target.y(row), w = target.w(row);
#pragma unroll
        for (int p = 0; p < P; ++p) sum[p].add(target.loss, scores[p], y, w, uniform_weights);
        if (++n_unflushed < flush_after) continue;
        for (int p = 0; p < P; ++p) sum[p].flush();
        n_unflushed = 0;
    }
#pragma unroll
    for (int p = 0; p < P; ++p) {
        sum[p].flush();
        const double total = block_sum(sum[p].sum, buffer);
        if (threadIdx.x == 0) block_sums[p * gridDim.x + blockIdx.x] = total;
    }
}

#define LOSSES(P)                                                                                          \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                   \
        losses_##P(const Design* design, const Target* target, const i64* words, const u16* segment_of,    \
                   const double* entries, i64 rows_per_block, i64 shared_bytes, double* block_sums) {      \
        losses<P>(*design, *target, words, segment_of, entries, rows_per_block, shared_bytes, block_sums); \
    }
LOSSES(1)
LOSSES(2)
LOSSES(4)
LOSSES(8)

// Computes gradient, curvature and (unless `value` is null) loss of each row at one point. Block results are the sums of
// loss, gradient and curvature, then the largest absolute value of each.
extern "C" __global__ void row_derivatives(const Design* design, const Target* target_, const i64* words,
                                           const u16* segment_of, const double* entries, i64 rows_per_block,
                                           i64 shared_bytes, float* grad, float* curv, float* value,
                                           double* block_results) {
    __shared__ double buffer[max_threads];
    const Target target = *target_;
    const Support support = support_of(words);
    const Tables<double> tables(*design, support, segment_of, entries, 1, shared_bytes);
    const i64 begin = blockIdx.x * rows_per_block, end = smaller(begin + rows_per_block, target.n_rows);
    double sum[3] = {}, largest[3] = {};
    for (i64 row = begin + threadIdx.x * rows_at_once; row < end; row += blockDim.x * rows_at_once) {
        double scores[rows_at_once];
        score_four(support, tables, row, scores);
        float out[3][rows_at_once] = {};
        for (int q = 0; q < rows_at_once; ++q) {
            if (row + q >= end) break;
            const double w = target.w(row + q);
            const Derivatives at = derivatives(target.loss, scores[q], target.y(row + q));
            const double weighted[3] = {w * at.value, w * at.grad, w * at.curv};
            for (int c = 0; c < 3; ++c) {
                sum[c] += weighted[c];
                largest[c] = fmax(largest[c], fabs(weighted[c]));
                out[c][q] = static_cast<float>(weighted[c]);
            }
        }
        reinterpret_cast<float4*>(grad)[row / rows_at_once] = {out[1][0], out[1][1], out[1][2], out[1][3]};
        reinterpret_cast<float4*>(curv)[row / rows_at_once] = {out[2][0], out[2][1], out[2][2], out[2][3]};
        if (value) reinterpret_cast<float4*>(value)[row / rows_at_once] = {out[0][0], out[0][1], out[0][2], out[0][3]};
    }
    for (int c = 0; c < 3; ++c) {
        const double total = block_sum(sum[c], buffer), maximum = block_max(largest[c], buffer);
        if (threadIdx.x == 0) {
            block_results[c * gridDim.x + blockIdx.x] = total;
            block_results[(3 + c) * gridDim.x + blockIdx.x] = maximum;
        }
    }
}

// Combines the results of n_blocks blocks, one block of this kernel per result: the first n_sums results are sums, the
// others maxima of non-negative numbers.
extern "C" __global__ void reduce_blocks(const double* block_results, i64 n_blocks, i64 n_sums, double* out) {
    __shared__ double buffer[max_threads];
    const double* results = block_results + blockIdx.x * n_blocks;
    const bool is_sum = blockIdx.x < n_sums;
    double mine = 0.0;
    for (i64 i = threadIdx.x; i < n_blocks; i += blockDim.x) mine = is_sum ? mine + results[i] : fmax(mine, results[i]);
    const double result = is_sum ? block_sum(mine, buffer) : block_max(mine, buffer);
    if (threadIdx.x == 0) out[blockIdx.x] = result;
}

// Writes a bit per row and column of a support, in words of 32 bits: word w of the row r is out[w * stride + r]. Columns
// whose bit is set in `inverted` are stored as their complement.
extern "C" __global__ void column_bits(const Design* design, const i64* words, const u16* segment_of,
                                       const u32* entries, const u32* inverted, i64 n_rows, i64 stride, i64 n_words,
                                       i64 shared_bytes, u32* out) {
    const Support support = support_of(words);
    const Tables<u32> tables(*design, support, segment_of, entries, n_words, shared_bytes);
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x * rows_at_once;
    for (i64 row = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) * rows_at_once; row < n_rows; row += step)
        for (int w = 0; w < n_words; ++w) {
            u32 word[rows_at_once] = {inverted[w], inverted[w], inverted[w], inverted[w]};
            for (i64 u = 0; u < support.n_features; ++u) {
                u32 codes[rows_at_once];
                read_codes(tables.features[u].codes, tables.features[u].is_16_bit, row, codes);
                for (int q = 0; q < rows_at_once; ++q) word[q] ^= tables.at(u, codes[q], n_words)[w];
            }
            reinterpret_cast<uint4*>(out + w * stride)[row / rows_at_once] = {word[0], word[1], word[2], word[3]};
        }
}

// Writes the absolute value of a ramp, which is at most zero, for each row.
extern "C" __global__ void ramp_values(const Design* design_, i64 f, i64 column, i64 n_rows, float* out) {
    const Design design = *design_;
    const Feature feature = design.features[f];
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x * rows_at_once;
    for (i64 row = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) * rows_at_once; row < n_rows;
         row += step) {
        u32 codes[rows_at_once];
        read_codes(reinterpret_cast<const void*>(feature.codes), feature.is_16_bit, row, codes);
        for (int q = 0; q < rows_at_once; ++q)
            out[row + q] = static_cast<float>(fabs(column_in_bin(design, feature, column, codes[q])));
    }
}

// Writes the score of each row at one point.
extern "C" __global__ void scores(const Design* design, const i64* words, const u16* segment_of, const double* entries,
                                  i64 n_rows, i64 shared_bytes, double* out) {
    const Support support = support_of(words);
    const Tables<double> tables(*design, support, segment_of, entries, 1, shared_bytes);
    const i64 step = static_cast<i64>(gridDim.x) * blockDim.x * rows_at_once;
    for (i64 row = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) * rows_at_once; row < n_rows;
         row += step) {
        double four[rows_at_once];
        score_four(support, tables, row, four);
        for (int q = 0; q < rows_at_once && row + q < n_rows; ++q) out[row + q] = four[q];
    }
}
