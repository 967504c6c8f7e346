// kernels/gram.cu: Gram matrix and gradient of 0/1 columns, from joint counts.
//
// A row has a bit for each column. The columns are divided into halves of six, and the bits of two halves form an index
// of 12 bits. A joint count has a sum for each of the 4096 indices, and one addition per row contributes to 36 pairs of
// columns: a support of 24 columns takes 8 additions per row instead of 300. The entry of two columns is the sum over all
// indices in which both bits are set.

constexpr int half_bits = 6;
constexpr i64 n_indices = 1 << (2 * half_bits);

// Two halves, and the base channel that is added (0: gradient, 1: curvature). `gram_layout` in layouts.py lists them.
struct JointCount {
    i64 first, second, channel;
};

// The bits of a half in one row; they may lie in two words.
__device__ u32 half_of(const u32* bits, i64 stride, i64 n_bits, i64 half, i64 row) {
    const i64 bit = half * half_bits, word = bit / 32, shift = bit % 32;
    if (bit >= n_bits) return 0;
    u32 out = bits[word * stride + row] >> shift;
    if (shift > 32 - half_bits && (word + 1) * 32 < n_bits) out |= bits[(word + 1) * stride + row] << (32 - shift);
    const i64 n_left = smaller(n_bits - bit, half_bits);
    return out & ((1u << n_left) - 1u);
}

// Computes joint counts in fixed point, one block for each piece of the rows and batch of joint counts.
extern "C" __global__ void joint_counts(const Channels* channels_, const JointCount* counts, i64 n_counts,
                                        i64 counts_per_block, i64 rows_per_piece, i64 shared_bytes, u64* sums) {
    const Channels channels = *channels_;
    const i64 first = blockIdx.y * counts_per_block, n = smaller(counts_per_block, n_counts - first);
    SharedSums block_sums(shared_bytes, n_indices * counts_per_block, channels.precision);
    const FixedPoint grad(channels.base[0], channels.precision), curv(channels.base[1], channels.precision);
    const i64 begin = blockIdx.x * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    for (i64 row = begin + threadIdx.x; row < end; row += blockDim.x) {
        const u32 g = grad.fixed(grad.values[row]), h = curv.fixed(curv.values[row]);
        for (i64 i = 0; i < n; ++i) {
            const JointCount count = counts[first + i];
            const u32 a = half_of(channels.bits, channels.stride, channels.n_bits, count.first, row);
            const u32 b = half_of(channels.bits, channels.stride, channels.n_bits, count.second, row);
            // The index 0 contributes to no entry.
            if (a | b) block_sums.add(static_cast<int>(i * n_indices) + (a << half_bits) + b, count.channel ? h : g);
        }
    }
    __syncthreads();
    for (i64 i = threadIdx.x; i < n * n_indices; i += blockDim.x) {
        const u64 total = block_sums.total(i);
        if (total) atomicAdd(sums + first * n_indices + i, total);
    }
}

// An entry of the Gram matrix or of the gradient: the joint count that contains it, the bits of its columns in the two
// halves, and (for the gradient) the number of rows of the column, to subtract the offset of signed values.
struct Entry {
    i64 count, first_mask, second_mask, n_rows;
};

// Reads the entries from the joint counts, one block for each entry.
extern "C" __global__ void gram_entries(const Channels* channels_, const JointCount* counts, const Entry* entries,
                                        const u64* sums, double* out) {
    __shared__ u64 buffer[max_threads];
    const Channels channels = *channels_;
    const Entry entry = entries[blockIdx.x];
    const RowValues& values = channels.base[counts[entry.count].channel];
    const u32 mask = static_cast<u32>(entry.first_mask << half_bits | entry.second_mask);
    u64 sum = 0;
    for (i64 index = threadIdx.x; index < n_indices; index += blockDim.x)
        if ((index & mask) == mask) sum += sums[entry.count * n_indices + index];
    const u64 total = block_sum(sum, buffer);
    if (threadIdx.x != 0) return;
    const i64 fixed = static_cast<i64>(total) - (values.is_signed ? entry.n_rows << channels.precision : 0);
    out[blockIdx.x] = static_cast<double>(fixed) / scale_of(values, channels.precision);
}
