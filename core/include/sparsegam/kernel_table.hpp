// sparsegam/kernel_table.hpp: the kernels as function pointers, so that one binary uses the best instruction set of
// every CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loss.hpp"

namespace sparsegam {

struct LossArgs {
    std::int64_t n;
    // IN
    const double *score, *y, *weight;
    // OUT
    double *grad, *curv, *value;
};

struct LossSums {
    double value, grad, curv;
};

struct ValueArgs {
    std::int64_t n;
    // IN
    const double *score, *y, *weight;
};

// For the exponential loss, the loss of a row is multiplied by one of four constants, which depends on its label and on
// a 0/1 column.
struct ReweightArgs {
    std::int64_t n;
    // IN
    const double *x, *y;
    // The change of the score where x is 1 and where x is 0.
    double on, off;
    // exp(on) and exp(off): the factors for negative labels.
    double up_on, up_off;
    // exp(-on) and exp(-off): the factors for positive labels.
    double down_on, down_off;
    // IN and OUT
    double *score, *grad, *curv;
    double* value;
};

// Short arrays that a kernel processes in groups of eight are padded to a multiple of eight.
inline constexpr std::int64_t octet = 8;
inline constexpr std::int64_t in_octets(std::int64_t n) { return (n + octet - 1) / octet * octet; }

// In float32, since these are many predictions, computed from Q in float32. Arrays are padded to a multiple of eight,
// costs with infinity.
struct SwapArgs {
    std::int64_t k;
    // Q_c without the entry of the intercept.
    const float* q;
    // w_j / M_jj, 1 / M_jj and the cost of dropping j.
    const float *shift, *inverse, *cost;
    float grad, curv, floor;
    // The part of the gradient that lambda1 cancels.
    float slack;
    // Whether the coefficient of the column may be positive, or negative.
    bool may_rise, may_fall;
};

// n columns with `size` values each, `stride` apart, and one curvature each.
struct ColumnArgs {
    std::int64_t n, size, stride;
    float* q;
    double* curv;
};

struct NestedPairArgs {
    std::int64_t n;
    // Per column b.
    const float *grad, *curv, *raw, *adjusted, *usable;
    float grad_a, curv_a, raw_a, collinear;
    // Whether the loss is multiplicative, so that gains of groups are known exactly.
    bool multiplicative;
};

// Interactions of one condition with each of n others, in units of the total curvature: sums over the rows where both
// hold, where the other condition holds, where the one condition holds, and over all rows.
struct QuadrantArgs {
    std::int64_t n;
    // Per other condition.
    const double *grad, *curv, *grad_b, *curv_b;
    double grad_a, curv_a, total_grad;
    // The minimum curvature of the rows where an interaction holds and of the others, and the curvature below which a
    // sum is rounding error.
    double ridge, least, empty;
};

// C (m x n) += A (m x k) B (k x n), where C is stored by columns and contiguous. The next element in a column of A or B
// is at a distance `down`, the next in a row at a distance `across`.
template <class Real>
struct ProductArgs {
    std::int64_t m, n, k;
    const Real* a;
    std::int64_t a_down, a_across;
    const Real* b;
    std::int64_t b_down, b_across;
    Real* c;
};

template <class Real, class Code>
struct HistogramKernels {
    void (*fill_channel)(std::int64_t, const Code*, unsigned, unsigned, const double*, std::int64_t, Real*) noexcept;
    void (*accumulate)(std::int64_t, std::int64_t, const Code* const*, std::int64_t, const Real*,
                       Real* const*) noexcept;
};

// Number of rows of a matrix that are processed at a time, so that products stay in the second-level cache.
inline constexpr std::int64_t panel_rows = 512;

// Size of the workspace of add_gram for a matrix of the given size.
inline constexpr std::int64_t gram_room(std::int64_t size) { return 2 * size * panel_rows; }

template <class Real>
struct DenseKernels {
    double (*sum_squares)(std::int64_t, const double*, const Real*) noexcept;
    void (*add_squares)(std::int64_t, double, const Real*, double*) noexcept;
    void (*add_product)(ProductArgs<Real>) noexcept;
    void (*add_gram)(std::int64_t, std::int64_t, const double* const*, const double*, Real*, Real*) noexcept;
};

struct KernelTable {
    // In the order of Loss.
    LossSums (*losses[n_losses])(LossArgs) noexcept;
    // The sums of the losses without derivatives.
    double (*values[n_losses])(ValueArgs) noexcept;
    LossSums (*reweight)(ReweightArgs) noexcept;
    void (*add_table_8)(std::int64_t, const std::uint8_t*, const double*, double*) noexcept;
    void (*add_table_16)(std::int64_t, const std::uint16_t*, const double*, double*) noexcept;
    void (*add_tables_8)(std::int64_t, const std::uint8_t*, const double*, double*) noexcept;
    void (*add_tables_16)(std::int64_t, const std::uint16_t*, const double*, double*) noexcept;
    HistogramKernels<float, std::uint8_t> float_8;
    HistogramKernels<float, std::uint16_t> float_16;
    HistogramKernels<double, std::uint8_t> double_8;
    HistogramKernels<double, std::uint16_t> double_16;
    DenseKernels<float> dense_float;
    DenseKernels<double> dense_double;
    float (*swap_gains)(SwapArgs, float*) noexcept;
    void (*nested_pair_gains)(NestedPairArgs, float*) noexcept;
    void (*quadrant_gains)(QuadrantArgs, double*, double*) noexcept;
    double (*dot)(std::int64_t, const double*, const double*) noexcept;
    bool (*invert)(std::int64_t, double*, double*) noexcept;
    void (*dots)(ColumnArgs, const double*, double*) noexcept;
    void (*leave)(ColumnArgs, std::int64_t, const double*, double) noexcept;
    void (*join)(ColumnArgs, const double*, const double*, double, double) noexcept;
    void (*add_columns)(std::int64_t, std::int64_t, const double*, const double* const*, double*) noexcept;
    void (*sparse_products)(std::int64_t, const std::int32_t*, const double*, std::int64_t, const double*,
                            double*) noexcept;

    template <class Real, class Code>
    const HistogramKernels<Real, Code>& histogram() const noexcept {
        if constexpr (sizeof(Real) == 4 && sizeof(Code) == 1)
            return float_8;
        else if constexpr (sizeof(Real) == 4)
            return float_16;
        else if constexpr (sizeof(Code) == 1)
            return double_8;
        else
            return double_16;
    }

    template <class Real>
    const DenseKernels<Real>& dense() const noexcept {
        if constexpr (sizeof(Real) == 4)
            return dense_float;
        else
            return dense_double;
    }

    LossSums evaluate(Loss loss, const LossArgs& args) const noexcept {
        return losses[static_cast<std::size_t>(loss)](args);
    }
    double value(Loss loss, const ValueArgs& args) const noexcept {
        return values[static_cast<std::size_t>(loss)](args);
    }
};

// Return the tables for this CPU, defined in bind/kernels_baseline.cpp. The table for matrices of raw columns may use
// wider registers: matrix products are limited by arithmetic, while histograms are limited by memory, for which AVX-512
// did not help in measurements.
const KernelTable& kernels() noexcept;
const KernelTable& matrix_kernels() noexcept;

}  // namespace sparsegam
