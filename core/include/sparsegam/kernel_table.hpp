// sparsegam/kernel_table.hpp: the kernels as function pointers, so that one binary runs at its best on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loss.hpp"

namespace sparsegam {

struct LossArgs {
    std::int64_t n;
    const double *score, *y, *weight;  // IN
    double *grad, *curv, *value;       // OUT
};

struct LossSums {
    double value, grad, curv;
};

struct ValueArgs {
    std::int64_t n;
    const double *score, *y, *weight;  // IN
};

// Exponential loss: a row's weight is multiplied by one of four constants, from its label and a 0/1 column.
struct ReweightArgs {
    std::int64_t n;
    const double *x, *y;          // IN
    double on, off;               // what the scores move by where x is 1 and where it is 0
    double up_on, up_off;         // exp(on), exp(off): the factors of negative labels
    double down_on, down_off;     // exp(-on), exp(-off): of positive ones
    double *score, *grad, *curv;  // IN and OUT
    double* value;
};

// Short arrays that a kernel goes through in octets have room for the last one.
inline constexpr std::int64_t octet = 8;
inline constexpr std::int64_t in_octets(std::int64_t n) { return (n + octet - 1) / octet * octet; }

// In floats: these are predictions, from Q that is in floats, and there are many of them. In octets, with infinite
// costs beyond k.
struct SwapArgs {
    std::int64_t k;
    const float* q;                       // Q_c without the intercept
    const float *shift, *inverse, *cost;  // w_j / M_jj, 1 / M_jj, the cost of dropping j
    float grad, curv, floor;
    float slack;              // of the gradient, which lambda1 takes
    bool may_rise, may_fall;  // the signs that the column's coefficient may have
};

// n columns with `size` numbers each, `stride` apart, and one curvature each.
struct ColumnArgs {
    std::int64_t n, size, stride;
    float* q;
    double* curv;
};

struct NestedPairArgs {
    std::int64_t n;
    const float *grad, *curv, *raw, *adjusted, *usable;  // per column b
    float grad_a, curv_a, raw_a, collinear;
    bool multiplicative;  // the loss: gains of groups are known beyond the quadratic model
};

// Products of one condition with each of n others, in units of the total curvature: sums where both hold, where the
// others do, where the one does, and of all rows.
struct QuadrantArgs {
    std::int64_t n;
    const double *grad, *curv, *grad_b, *curv_b;  // per other condition
    double grad_a, curv_a, total_grad;
    double ridge, least, empty;  // the least curvature where a product holds or not; what is rounding
};

// C (m x n) += A (m x k) B (k x n), C by columns without gaps; an element of A or B is `down` from the next in its column
// and `across` from the next in its row.
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

inline constexpr std::int64_t panel_rows = 512;  // of a matrix at a time: their products stay in the second-level cache

// What add_gram needs to work in, for a matrix of `size`.
inline constexpr std::int64_t gram_room(std::int64_t size) { return 2 * size * panel_rows; }

template <class Real>
struct DenseKernels {
    double (*sum_squares)(std::int64_t, const double*, const Real*) noexcept;
    void (*add_squares)(std::int64_t, double, const Real*, double*) noexcept;
    void (*add_product)(ProductArgs<Real>) noexcept;
    void (*add_gram)(std::int64_t, std::int64_t, const double* const*, const double*, Real*, Real*) noexcept;
};

struct KernelTable {
    LossSums (*losses[n_losses])(LossArgs) noexcept;  // in the order of Loss
    double (*values[n_losses])(ValueArgs) noexcept;   // the sums of the losses alone
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

// The tables for this CPU; defined in bind/kernels_baseline.cpp. That for matrices of raw columns may be of wider registers:
// products wait for arithmetic, where histograms wait for memory, and AVX-512 was measured not to help those.
const KernelTable& kernels() noexcept;
const KernelTable& matrix_kernels() noexcept;

}  // namespace sparsegam
