// kernels/matrix.cu: rows over a matrix of numbers: derivatives at given scores, and squares of columns.

// Loss, gradient and curvature of each row; sums of a block of rows. Without room for them, losses alone.
extern "C" __global__ void derive(const Target* target_, const double* score, i64 rows_per_block, double* grad,
                                  double* curv, double* sums) {
    __shared__ double added[most_threads];
    const Target target = *target_;
    const i64 begin = blockIdx.x * rows_per_block, end = smaller(begin + rows_per_block, target.n_rows);
    double sum[3] = {};
    for (i64 row = begin + threadIdx.x; row < end; row += blockDim.x) {
        const double w = target.w(row);
        const Derivatives at = derivatives(target.loss, score[row], target.y(row));
        sum[0] += w * at.value;
        if (!grad) continue;
        sum[1] += grad[row] = w * at.grad;
        sum[2] += curv[row] = w * at.curv;
    }
    for (int c = 0; c < (grad ? 3 : 1); ++c) {
        const double all = block_sum(sum[c], added);
        if (threadIdx.x == 0) sums[c * gridDim.x + blockIdx.x] = all;
    }
}

// sum_i h_i (x_ic - m_c)^2 of each column, a block each; columns are one after the other in memory.
extern "C" __global__ void squares(const double* x, i64 n_rows, const double* weight, const double* centre,
                                   double* out) {
    __shared__ double added[most_threads];
    const double* mine = x + blockIdx.x * n_rows;
    const double from = centre ? centre[blockIdx.x] : 0.0;
    double own = 0.0;
    for (i64 row = threadIdx.x; row < n_rows; row += blockDim.x)
        own += weight[row] * (mine[row] - from) * (mine[row] - from);
    const double all = block_sum(own, added);
    if (threadIdx.x == 0) out[blockIdx.x] = all;
}
