// kernels/matrix.cu: rows of a matrix of real numbers: derivatives at given scores, and squared norms of columns.

// Computes gradient and curvature of each row, and the sums of loss, gradient and curvature over a block of rows. If
// `grad` is null, only the losses are added up.
extern "C" __global__ void matrix_derivatives(const Target* target_, const double* score, i64 rows_per_block,
                                              double* grad, double* curv, double* block_sums) {
    __shared__ double buffer[max_threads];
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
        const double total = block_sum(sum[c], buffer);
        if (threadIdx.x == 0) block_sums[c * gridDim.x + blockIdx.x] = total;
    }
}

// Computes sum_i w_i (x_ic - m_c)^2 of each column c, one block per column. The matrix is column-major; a null `centre`
// stands for m = 0.
extern "C" __global__ void squared_norms(const double* x, i64 n_rows, const double* weight, const double* centre,
                                         double* out) {
    __shared__ double buffer[max_threads];
    const double* column = x + blockIdx.x * n_rows;
    const double mean = centre ? centre[blockIdx.x] : 0.0;
    double sum = 0.0;
    for (i64 row = threadIdx.x; row < n_rows; row += blockDim.x)
        sum += weight[row] * (column[row] - mean) * (column[row] - mean);
    const double total = block_sum(sum, buffer);
    if (threadIdx.x == 0) out[blockIdx.x] = total;
}
