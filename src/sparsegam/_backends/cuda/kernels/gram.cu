// kernels/gram.cu: the Gram matrix of 0/1 columns from joint counts of six of them with six others.
//
// A row has a bit for each column. Six bits make a half, two halves a cell of 64 x 64, and one addition to a cell tells
// of 36 pairs of columns at once: a support of 24 takes 8 additions a row instead of 300.

constexpr int half_bits = 6;
constexpr i64 n_cells = 1 << (2 * half_bits);

// Two halves, and which of the base channels (0: gradient, 1: curvature) is summed over their cells.
struct Job {
    i64 first, second, channel;
};

// Six bits of a row, which may lie in two words.
__device__ u32 six_bits(const u32* marks, i64 stride, i64 n_bits, i64 half, i64 row) {
    const i64 bit = half * half_bits, word = bit / 32, shift = bit % 32;
    if (bit >= n_bits) return 0;
    u32 out = marks[word * stride + row] >> shift;
    if (shift > 32 - half_bits && (word + 1) * 32 < n_bits) out |= marks[(word + 1) * stride + row] << (32 - shift);
    const i64 left = smaller(n_bits - bit, half_bits);
    return out & ((1u << left) - 1u);
}

// A block for each piece of the rows and a few jobs.
extern "C" __global__ void joint_counts(const Channels* channels_, const Job* jobs, i64 n_jobs, i64 jobs_per_block,
                                        i64 rows_per_piece, i64 room, u64* sums) {
    const Channels channels = *channels_;
    const i64 first_job = blockIdx.y * jobs_per_block, count = smaller(jobs_per_block, n_jobs - first_job);
    Cells cells(room, n_cells * jobs_per_block, channels.precision);
    const Scaled first(channels.base[0], channels.precision), second(channels.base[1], channels.precision);
    const i64 begin = blockIdx.x * rows_per_piece, end = smaller(begin + rows_per_piece, channels.n_rows);
    for (i64 row = begin + threadIdx.x; row < end; row += blockDim.x) {
        const u32 grad = first.fixed(first.values[row]), curv = second.fixed(second.values[row]);
        for (i64 j = 0; j < count; ++j) {
            const Job job = jobs[first_job + j];
            const u32 a = six_bits(channels.marks, channels.stride, channels.n_bits, job.first, row);
            const u32 b = six_bits(channels.marks, channels.stride, channels.n_bits, job.second, row);
            if (a | b) cells.add(static_cast<int>(j * n_cells) + (a << half_bits) + b, job.channel ? curv : grad);
        }
    }
    __syncthreads();
    for (i64 cell = threadIdx.x; cell < count * n_cells; cell += blockDim.x) {
        const u64 sum = cells.sum(cell);
        if (sum) atomicAdd(sums + first_job * n_cells + cell, sum);
    }
}

// An entry of the Gram matrix, or of the gradient: two bits of the cells of a job, and the rows that the column holds for.
struct Entry {
    i64 job, first_mask, second_mask, n_rows;
};

extern "C" __global__ void gram_entries(const Channels* channels_, const Job* jobs, const Entry* entries,
                                        const u64* sums, double* out) {
    __shared__ u64 added[most_threads];
    const Channels channels = *channels_;
    const Entry entry = entries[blockIdx.x];
    const Base& base = channels.base[jobs[entry.job].channel];
    const u32 wanted = static_cast<u32>(entry.first_mask << half_bits | entry.second_mask);
    u64 own = 0;
    for (i64 cell = threadIdx.x; cell < n_cells; cell += blockDim.x)
        if ((cell & wanted) == wanted) own += sums[entry.job * n_cells + cell];
    const u64 all = block_sum(own, added);
    if (threadIdx.x != 0) return;
    const i64 whole = static_cast<i64>(all) - (base.is_signed ? entry.n_rows << channels.precision : 0);
    out[blockIdx.x] = static_cast<double>(whole) / scale_of(base, channels.precision);
}
