// sparsegam/kernels_dense.hpp: the kernels of matrices: products, the inverse, updates of many columns at once. Part of
// kernels.hpp, which says how it is compiled.
#pragma once

#include "kernels_inline.hpp"

namespace sparsegam::SPARSEGAM_ARCH {

// out[c] = q_c'x
static void dots(ColumnArgs a, const double* __restrict x, double* __restrict out) noexcept {
    for (std::int64_t c = 0; c < a.n; ++c) {
        const float* __restrict q = a.q + c * a.stride;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t i = 0; i < a.size; ++i) sum += q[i] * x[i];
        out[c] = sum;
    }
}

// The i-th of the support leaves: the formulas of this and the next are in projection.hpp.
static void leave(ColumnArgs a, std::int64_t i, const double* __restrict mine, double inverse) noexcept {
    for (std::int64_t c = 0; c < a.n; ++c) {
        float* q = a.q + c * a.stride;
        const double share = q[i] * inverse;
        a.curv[c] += q[i] * share;
#pragma omp simd
        for (std::int64_t j = 0; j < i; ++j) q[j] = float(q[j] - mine[j] * share);
        for (std::int64_t j = i + 1; j < a.size; ++j) q[j - 1] = float(q[j] - mine[j] * share);
    }
}

// A column joins the support, whose entry is in the units of its curvature.
static void join(ColumnArgs a, const double* __restrict solved, const double* __restrict cross, double inverse,
                 double unit) noexcept {
    for (std::int64_t c = 0; c < a.n; ++c) {
        float* __restrict q = a.q + c * a.stride;
        const double share = cross[c] * inverse;
        a.curv[c] -= cross[c] * share;
#pragma omp simd
        for (std::int64_t j = 0; j < a.size; ++j) q[j] = float(q[j] - solved[j] * share);
        q[a.size] = float(share * unit);
    }
}

// out[:] += sum of value * channels[row][:] over the entries of one sparse column.
static void sparse_products(std::int64_t n, const std::int32_t* rows, const double* values, std::int64_t m,
                            const double* __restrict channels, double* __restrict out) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
        const double value = values[i];
        const double* __restrict row = channels + std::int64_t(rows[i]) * m;
#pragma omp simd
        for (std::int64_t j = 0; j < m; ++j) out[j] += value * row[j];
    }
}

// sum of weight * x^2 over the rows of a column
template <class Real>
static double sum_squares(std::int64_t n, const double* weight, const Real* column) noexcept {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += weight[i] * double(column[i]) * double(column[i]);
    return sum;
}

// the same for many columns, one row at a time
template <class Real>
static void add_squares(std::int64_t n, double weight, const Real* __restrict row, double* __restrict sums) noexcept {
#pragma omp simd
    for (std::int64_t c = 0; c < n; ++c) sums[c] += weight * double(row[c]) * double(row[c]);
}

// --- products of matrices: a panel of A at a time, four columns of B beside it, sums in registers

static constexpr std::int64_t panel_rows = 512;  // of B: a panel of A stays in the second-level cache

#if defined(__GNUC__)
template <class Real>
struct Wide {
    typedef Real type __attribute__((vector_size(32), may_alias));
};
#endif

// Rows of A that a panel has: three registers' worth.
template <class Real>
static constexpr std::int64_t panel_height = 3 * 32 / std::int64_t(sizeof(Real));

// c[:] = sum over i of b[i] * panel[i][:]
template <class Real>
SPARSEGAM_INLINE void multiply_panel(std::int64_t k, const Real* __restrict panel, const Real* b, std::int64_t b_down,
                                     Real* __restrict c) {
    for (std::int64_t r = 0; r < panel_height<Real>; ++r) c[r] = Real(0);
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t r = 0; r < panel_height<Real>; ++r) c[r] += panel[i * panel_height<Real> + r] * b[i * b_down];
}

// The same for four columns of B at once: twelve sums, each with a name, or they would not stay in registers.
template <class Real>
SPARSEGAM_INLINE void multiply_panel_4(std::int64_t k, const Real* __restrict panel, const Real* const* b,
                                       std::int64_t b_down, Real (*__restrict c)[panel_height<Real>]) {
#if defined(__GNUC__)
    using Register = typename Wide<Real>::type;
    Register a0{}, a1{}, a2{}, b0{}, b1{}, b2{}, c0{}, c1{}, c2{}, d0{}, d1{}, d2{};
    const Register* row = reinterpret_cast<const Register*>(panel);
    for (std::int64_t i = 0; i < k; ++i, row += 3) {
        const Register x = row[0], y = row[1], z = row[2];
        const Real p = b[0][i * b_down], q = b[1][i * b_down], r = b[2][i * b_down], s = b[3][i * b_down];
        a0 += x * p, a1 += y * p, a2 += z * p;
        b0 += x * q, b1 += y * q, b2 += z * q;
        c0 += x * r, c1 += y * r, c2 += z * r;
        d0 += x * s, d1 += y * s, d2 += z * s;
    }
    const Register sums[4][3] = {{a0, a1, a2}, {b0, b1, b2}, {c0, c1, c2}, {d0, d1, d2}};
    std::memcpy(c, sums, sizeof sums);
#else
    for (int j = 0; j < 4; ++j) multiply_panel(k, panel, b[j], b_down, c[j]);
#endif
}

// Rows [first, first + height) of A and columns [i, i + k) as a panel, filled up with zeros.
template <class Real>
SPARSEGAM_INLINE void fill_panel(const ProductArgs<Real>& p, std::int64_t first, std::int64_t height,
                                 std::int64_t start, std::int64_t k, Real* __restrict panel) {
    for (std::int64_t i = 0; i < k; ++i) {
        const Real* from = p.a + first * p.a_down + (start + i) * p.a_across;
        Real* to = panel + i * panel_height<Real>;
        for (std::int64_t r = 0; r < height; ++r) to[r] = from[r * p.a_down];
        for (std::int64_t r = height; r < panel_height<Real>; ++r) to[r] = Real(0);
    }
}

template <class Real>
static void add_product(ProductArgs<Real> p) noexcept {
    constexpr std::int64_t height = panel_height<Real>;
    alignas(64) Real panel[panel_rows * height];
    alignas(64) Real sums[4][height];
    for (std::int64_t start = 0; start < p.k; start += panel_rows) {
        const std::int64_t k = p.k - start < panel_rows ? p.k - start : panel_rows;
        for (std::int64_t first = 0; first < p.m; first += height) {
            const std::int64_t m = p.m - first < height ? p.m - first : height;
            fill_panel(p, first, m, start, k, panel);
            for (std::int64_t j = 0; j < p.n; j += 4) {
                const std::int64_t columns = p.n - j < 4 ? p.n - j : 4;
                const Real* b[4];
                for (std::int64_t c = 0; c < columns; ++c) b[c] = p.b + start * p.b_down + (j + c) * p.b_across;
                if (columns == 4)
                    multiply_panel_4(k, panel, b, p.b_down, sums);
                else
                    for (std::int64_t c = 0; c < columns; ++c) multiply_panel(k, panel, b[c], p.b_down, sums[c]);
                for (std::int64_t c = 0; c < columns; ++c)
                    for (std::int64_t r = 0; r < m; ++r) p.c[(j + c) * p.m + first + r] += sums[c][r];
            }
        }
    }
}

SPARSEGAM_INLINE double dot(std::int64_t n, const double* __restrict a, const double* __restrict b) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

// The inverse of a positive definite matrix in its place, by Cholesky's L: M = (1/L)'(1/L). `work` has room for as much.
// False, and nothing of use, where it is not positive definite.
static bool invert(std::int64_t n, double* matrix, double* work) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
        double* row = matrix + i * n;  // by rows: the matrix is symmetric
        for (std::int64_t j = 0; j < i; ++j) row[j] = (row[j] - dot(j, row, matrix + j * n)) * matrix[j * n + j];
        const double rest = row[i] - dot(i, row, row);
        if (!(rest > 0.0)) return false;
        row[i] = 1.0 / root(rest);  // its inverse, so that nothing is divided twice
    }
    for (std::int64_t j = 0; j < n; ++j) {  // row j of `work` is column j of 1/L
        double* column = work + j * n;
        column[j] = matrix[j * n + j];
        for (std::int64_t i = j + 1; i < n; ++i)
            column[i] = -dot(i - j, matrix + i * n + j, column + j) * matrix[i * n + i];
    }
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i; j < n; ++j)
            matrix[i * n + j] = matrix[j * n + i] = dot(n - j, work + i * n + j, work + j * n + j);
    return true;
}

template <class Real>
static constexpr DenseKernels<Real> dense_kernels = {sum_squares<Real>, add_squares<Real>, add_product<Real>};

}  // namespace sparsegam::SPARSEGAM_ARCH
