// sparsegam/kernels_dense.hpp: kernels for matrices: products, the inverse, and updates of many columns at once. Part
// of kernels.hpp, which explains how it is compiled.
#pragma once

#include <math.h>  // C's: its functions are not instantiated anywhere

#include <cstdint>
#include <cstring>

#include "kernel_table.hpp"

#ifndef SPARSEGAM_ARCH
#error "define SPARSEGAM_ARCH before including kernels.hpp"
#endif

#if defined(_MSC_VER)
#define SPARSEGAM_INLINE static __forceinline
#else
#define SPARSEGAM_INLINE static inline __attribute__((always_inline))
#endif

namespace sparsegam::SPARSEGAM_ARCH {

#if defined(_MSC_VER)
SPARSEGAM_INLINE float root(float x) { return sqrtf(x); }
SPARSEGAM_INLINE double root(double x) { return sqrt(x); }
#else
SPARSEGAM_INLINE float root(float x) { return __builtin_sqrtf(x); }
SPARSEGAM_INLINE double root(double x) { return __builtin_sqrt(x); }
#endif

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

// The i-th column leaves the support; see projection.hpp for the formulas of this function and the next.
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

// Updates the cached products of all columns when a column enters the support.
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

// score[i] += sum of coef[j] * columns[j][i], for four columns at a time, to read and write the scores less often.
static void add_columns(std::int64_t n, std::int64_t k, const double* coef, const double* const* columns,
                        double* __restrict score) noexcept {
    std::int64_t j = 0;
    for (; j + 4 <= k; j += 4) {
        const double *x0 = columns[j], *x1 = columns[j + 1], *x2 = columns[j + 2], *x3 = columns[j + 3];
        const double w0 = coef[j], w1 = coef[j + 1], w2 = coef[j + 2], w3 = coef[j + 3];
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) score[i] += (w0 * x0[i] + w1 * x1[i]) + (w2 * x2[i] + w3 * x3[i]);
    }
    for (; j < k; ++j) {
        const double *x = columns[j], w = coef[j];
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) score[i] += w * x[i];
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

// Sum of weight * x^2 over the rows of a column.
template <class Real>
static double sum_squares(std::int64_t n, const double* weight, const Real* column) noexcept {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += weight[i] * double(column[i]) * double(column[i]);
    return sum;
}

// Adds weight * x^2 of one row to the sums of all columns.
template <class Real>
static void add_squares(std::int64_t n, double weight, const Real* __restrict row, double* __restrict sums) noexcept {
#pragma omp simd
    for (std::int64_t c = 0; c < n; ++c) sums[c] += weight * double(row[c]) * double(row[c]);
}

// --- Matrix products: one panel of A and four columns of B at a time, with sums in registers

#if defined(__AVX512F__)
static constexpr int register_bytes = 64;
#else
static constexpr int register_bytes = 32;
#endif

#if defined(__GNUC__)
template <class Real>
struct Wide {
    typedef Real type __attribute__((vector_size(register_bytes), may_alias));
    // Possibly unaligned.
    typedef Real loose __attribute__((vector_size(register_bytes), may_alias, aligned(sizeof(Real))));
};
#endif

// Number of values per register, and maximum number of registers per column of a panel.
template <class Real>
static constexpr std::int64_t lanes = register_bytes / std::int64_t(sizeof(Real));
static constexpr std::int64_t most_registers = 3;

// c[j] = sum over i of b_j[i] * panel[i], for `columns` columns of B at once. The loops are unrolled, so that sums stay
// in registers.
template <class Real, int registers, int columns>
SPARSEGAM_INLINE void multiply_panel(std::int64_t k, const Real* __restrict panel, const Real* const* b,
                                     std::int64_t b_down, Real* __restrict c) {
#if defined(__GNUC__)
    using Register = typename Wide<Real>::type;
    Register sums[columns][registers] = {};
    const Register* row = reinterpret_cast<const Register*>(panel);
    for (std::int64_t i = 0; i < k; ++i, row += registers) {
        Register a[registers];
#pragma GCC unroll 4
        for (int r = 0; r < registers; ++r) a[r] = row[r];
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j) {
            const Real factor = b[j][i * b_down];
#pragma GCC unroll 4
            for (int r = 0; r < registers; ++r) sums[j][r] += a[r] * factor;
        }
    }
    std::memcpy(c, sums, sizeof sums);
#else
    constexpr std::int64_t height = registers * lanes<Real>;
    for (std::int64_t e = 0; e < columns * height; ++e) c[e] = Real(0);
    for (std::int64_t i = 0; i < k; ++i)
        for (int j = 0; j < columns; ++j)
            for (std::int64_t r = 0; r < height; ++r) c[j * height + r] += panel[i * height + r] * b[j][i * b_down];
#endif
}

// Copies rows [first, first + m) of A and columns [start, start + k) to a panel, padded with zeros.
template <class Real>
SPARSEGAM_INLINE void fill_panel(const ProductArgs<Real>& p, std::int64_t first, std::int64_t m, std::int64_t start,
                                 std::int64_t k, std::int64_t height, Real* __restrict panel) {
    for (std::int64_t i = 0; i < k; ++i) {
        const Real* from = p.a + first * p.a_down + (start + i) * p.a_across;
        Real* to = panel + i * height;
        for (std::int64_t r = 0; r < m; ++r) to[r] = from[r * p.a_down];
        for (std::int64_t r = m; r < height; ++r) to[r] = Real(0);
    }
}

// Multiplies a panel by all columns of B.
template <class Real, int registers>
static void add_panel(const ProductArgs<Real>& p, std::int64_t first, std::int64_t m, std::int64_t start,
                      std::int64_t k, const Real* panel) noexcept {
    constexpr std::int64_t height = registers * lanes<Real>;
    alignas(64) Real sums[4 * height];
    for (std::int64_t j = 0; j < p.n; j += 4) {
        const std::int64_t columns = p.n - j < 4 ? p.n - j : 4;
        const Real* b[4];
        for (std::int64_t c = 0; c < columns; ++c) b[c] = p.b + start * p.b_down + (j + c) * p.b_across;
        if (columns == 4)
            multiply_panel<Real, registers, 4>(k, panel, b, p.b_down, sums);
        else
            for (std::int64_t c = 0; c < columns; ++c)
                multiply_panel<Real, registers, 1>(k, panel, b + c, p.b_down, sums + c * height);
        for (std::int64_t c = 0; c < columns; ++c)
            for (std::int64_t r = 0; r < m; ++r) p.c[(j + c) * p.m + first + r] += sums[c * height + r];
    }
}

// A with few rows and B with contiguous columns are multiplied along the columns of B, since the rows of A would leave
// most of a register empty.
template <class Real>
static constexpr std::int64_t thin = 3 * lanes<Real> / 4;

template <class Real>
SPARSEGAM_INLINE Real sum_of(std::int64_t n, const Real* x) {
    Real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += x[i];
    return sum;
}

// c[j * c_across + r] += a_r'b_j for some rows of A, `panel_rows` apart, and some columns of B at once.
template <class Real, int rows, int columns>
SPARSEGAM_INLINE void multiply_thin(std::int64_t k, const Real* __restrict a, const Real* __restrict b,
                                    std::int64_t b_across, Real* __restrict c, std::int64_t c_across) {
    Real totals[columns][rows] = {};
    std::int64_t i = 0;
#if defined(__GNUC__)
    using Register = typename Wide<Real>::loose;
    Register sums[columns][rows] = {};
    for (; i + lanes<Real> <= k; i += lanes<Real>) {
        Register x[rows];
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) x[r] = *reinterpret_cast<const Register*>(a + r * panel_rows + i);
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j) {
            const Register y = *reinterpret_cast<const Register*>(b + j * b_across + i);
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r) sums[j][r] += x[r] * y;
        }
    }
    Real spread[columns][rows][lanes<Real>];
    std::memcpy(spread, sums, sizeof sums);
    for (int j = 0; j < columns; ++j)
        for (int r = 0; r < rows; ++r) totals[j][r] = sum_of(lanes<Real>, spread[j][r]);
#endif
    for (; i < k; ++i)
        for (int j = 0; j < columns; ++j)
            for (int r = 0; r < rows; ++r) totals[j][r] += a[r * panel_rows + i] * b[j * b_across + i];
    for (int j = 0; j < columns; ++j)
        for (int r = 0; r < rows; ++r) c[j * c_across + r] += totals[j][r];
}

// Multiplies one to three rows by four columns, or by each of the last columns.
template <class Real, int columns>
SPARSEGAM_INLINE void multiply_thin(std::int64_t k, std::int64_t m, const Real* a, const Real* b, std::int64_t b_across,
                                    Real* c, std::int64_t c_across) {
    std::int64_t r = 0;
    for (; r + 3 <= m; r += 3) multiply_thin<Real, 3, columns>(k, a + r * panel_rows, b, b_across, c + r, c_across);
    if (r + 2 == m) multiply_thin<Real, 2, columns>(k, a + r * panel_rows, b, b_across, c + r, c_across);
    if (r + 1 == m) multiply_thin<Real, 1, columns>(k, a + r * panel_rows, b, b_across, c + r, c_across);
}

template <class Real>
static void add_thin_product(const ProductArgs<Real>& p, Real* a) noexcept {
    for (std::int64_t start = 0; start < p.k; start += panel_rows) {
        const std::int64_t k = p.k - start < panel_rows ? p.k - start : panel_rows;
        for (std::int64_t i = 0; i < k; ++i)
            for (std::int64_t r = 0; r < p.m; ++r) a[r * panel_rows + i] = p.a[r * p.a_down + (start + i) * p.a_across];
        const Real* b = p.b + start;
        std::int64_t j = 0;
        for (; j + 4 <= p.n; j += 4)
            multiply_thin<Real, 4>(k, p.m, a, b + j * p.b_across, p.b_across, p.c + j * p.m, p.m);
        for (; j < p.n; ++j) multiply_thin<Real, 1>(k, p.m, a, b + j * p.b_across, p.b_across, p.c + j * p.m, p.m);
    }
}

template <class Real>
static void add_product(ProductArgs<Real> p) noexcept {
    constexpr std::int64_t most = most_registers * lanes<Real>;
    alignas(64) Real panel[panel_rows * most];
    if (p.m <= thin<Real> && p.b_down == 1) return add_thin_product(p, panel);
    for (std::int64_t start = 0; start < p.k; start += panel_rows) {
        const std::int64_t k = p.k - start < panel_rows ? p.k - start : panel_rows;
        for (std::int64_t first = 0; first < p.m; first += most) {
            const std::int64_t m = p.m - first < most ? p.m - first : most;
            const std::int64_t registers = (m + lanes<Real> - 1) / lanes<Real>;
            fill_panel(p, first, m, start, k, registers * lanes<Real>, panel);
            if (registers == 1)
                add_panel<Real, 1>(p, first, m, start, k, panel);
            else if (registers == 2)
                add_panel<Real, 2>(p, first, m, start, k, panel);
            else
                add_panel<Real, 3>(p, first, m, start, k, panel);
        }
    }
}

// gram[j * size + i] += sum of weight x_i x_j for i <= j; some entries with i > j change, too. `work` has
// gram_room(size) values.
template <class Real>
static void add_gram(std::int64_t n, std::int64_t size, const double* const* x, const double* weight,
                     Real* __restrict gram, Real* __restrict work) noexcept {
    Real* __restrict plain = work, * __restrict weighted = work + size * panel_rows;
    for (std::int64_t start = 0; start < n; start += panel_rows) {
        const std::int64_t k = n - start < panel_rows ? n - start : panel_rows;
        for (std::int64_t j = 0; j < size; ++j) {
            const double *from = x[j] + start, *h = weight + start;
            Real *to = plain + j * panel_rows, *times = weighted + j * panel_rows;
#pragma omp simd
            for (std::int64_t i = 0; i < k; ++i) {
                to[i] = Real(from[i]);
                times[i] = Real(h[i]) * Real(from[i]);
            }
        }
        std::int64_t j = 0;
        for (; j + 4 <= size; j += 4)
            multiply_thin<Real, 4>(k, j + 4, plain, weighted + j * panel_rows, panel_rows, gram + j * size, size);
        for (; j < size; ++j)
            multiply_thin<Real, 1>(k, j + 1, plain, weighted + j * panel_rows, panel_rows, gram + j * size, size);
    }
}

static double dot(std::int64_t n, const double* __restrict a, const double* __restrict b) noexcept {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

// Inverts a positive definite matrix in place by the Cholesky factor L: M = (1/L)'(1/L). `work` has the size of the
// matrix. Returns false, with undefined contents, if the matrix is not positive definite.
static bool invert(std::int64_t n, double* matrix, double* work) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
        // Rows equal columns, since the matrix is symmetric.
        double* row = matrix + i * n;
        for (std::int64_t j = 0; j < i; ++j) row[j] = (row[j] - dot(j, row, matrix + j * n)) * matrix[j * n + j];
        const double rest = row[i] - dot(i, row, row);
        if (!(rest > 0.0)) return false;
        // Stores the inverse of the diagonal entry to avoid divisions.
        row[i] = 1.0 / root(rest);
    }
    // Row j of `work` is column j of 1/L.
    for (std::int64_t j = 0; j < n; ++j) {
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
static constexpr DenseKernels<Real> dense_kernels = {sum_squares<Real>, add_squares<Real>, add_product<Real>,
                                                     add_gram<Real>};

}  // namespace sparsegam::SPARSEGAM_ARCH
