// sparsegam/kernels.hpp: the loops over rows, written such that compilers vectorise them.
//
// This file is compiled once per instruction set: bind/kernels_*.cpp defines the namespace SPARSEGAM_ARCH, and
// kernel_table.hpp selects one table at run time. All functions are noexcept and do not allocate memory. Nothing from
// the standard library is instantiated here: the linker could keep an inline std:: function compiled with AVX-512 and
// use it on old CPUs.
#pragma once

#include "kernels_dense.hpp"

namespace sparsegam::SPARSEGAM_ARCH {

// The polynomial in x with these coefficients, from the highest power to the lowest.
template <class... Others>
SPARSEGAM_INLINE double horner(double x, double first, Others... others) {
    ((first = first * x + others), ...);
    return first;
}

// exp(x) with x = k log 2 + r and |r| <= log(2)/2: a Taylor polynomial of degree 13 in r (relative error below 1e-17),
// and 2^k written into the exponent bits. Arguments are clamped to the range of normal numbers.
SPARSEGAM_INLINE double fast_exp(double x) {
    // 1.5 * 2^52: adding this rounds to an integer, which is then in the low bits.
    const double magic = 6755399441055744.0;
    x = x > 708.0 ? 708.0 : x;
    x = x < -708.0 ? -708.0 : x;
    const double shifted = x * 1.4426950408889634074 + magic;
    const double k = shifted - magic;
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    const double p =
        horner(r, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
               1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0);
    std::int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits + 1023) << 52);
    double scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

// log(1 + e) for 0 <= e <= 1 as 2 atanh(s), s = e / (2 + e) <= 1/3: the series in s^2 needs 17 terms.
SPARSEGAM_INLINE double fast_log1p(double e) {
    const double s = e / (2.0 + e), q = s * s;
    const double p =
        horner(q, 1.0 / 33.0, 1.0 / 31.0, 1.0 / 29.0, 1.0 / 27.0, 1.0 / 25.0, 1.0 / 23.0, 1.0 / 21.0, 1.0 / 19.0,
               1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0);
    return 2.0 * s * p;
}

// --- Losses: value, gradient and curvature of a row of weight one, as in loss.hpp

struct Row {
    double value, grad, curv;
};

struct LogisticRow {
    SPARSEGAM_INLINE Row at(double f, double y) {
        const double margin = y * f;
        const double e = fast_exp(margin > 0 ? -margin : margin);
        const double inverse = 1.0 / (1.0 + e);
        const double wrong = (margin > 0 ? e : 1.0) * inverse;
        return {fast_log1p(e) + (margin < 0 ? -margin : 0.0), -y * wrong, e * inverse * inverse};
    }
};

struct ExponentialRow {
    SPARSEGAM_INLINE Row at(double f, double y) {
        const double e = fast_exp(-y * f);
        return {e, -y * e, e};
    }
};

struct SquaredRow {
    SPARSEGAM_INLINE Row at(double f, double y) {
        const double residual = f - y;
        return {0.5 * residual * residual, residual, 1.0};
    }
};

struct SquaredHingeRow {
    SPARSEGAM_INLINE Row at(double f, double y) {
        const double rest = 1.0 - y * f;
        const double violation = rest > 0.0 ? rest : 0.0;
        return {violation * violation, -2.0 * y * violation, rest > 0.0 ? 2.0 : 0.0};
    }
};

template <class Loss>
static LossSums evaluate(LossArgs a) noexcept {
    double sum = 0.0, sum_grad = 0.0, sum_curv = 0.0;
#pragma omp simd reduction(+ : sum, sum_grad, sum_curv)
    for (std::int64_t i = 0; i < a.n; ++i) {
        const Row row = Loss::at(a.score[i], a.y[i]);
        const double value = a.weight[i] * row.value, grad = a.weight[i] * row.grad, curv = a.weight[i] * row.curv;
        a.grad[i] = grad;
        a.curv[i] = curv;
        a.value[i] = value;
        sum += value;
        sum_grad += grad;
        sum_curv += curv;
    }
    return {sum, sum_grad, sum_curv};
}

// The sum of the losses without derivatives, for trials.
template <class Loss>
static double value(ValueArgs a) noexcept {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < a.n; ++i) sum += a.weight[i] * Loss::at(a.score[i], a.y[i]).value;
    return sum;
}

// The exponential loss after a shift of two groups of rows, by multiplications instead of exponentials.
static LossSums reweight(ReweightArgs a) noexcept {
    double sum = 0.0, sum_grad = 0.0;
#pragma omp simd reduction(+ : sum, sum_grad)
    for (std::int64_t i = 0; i < a.n; ++i) {
        const bool on = a.x[i] > 0.0;
        const double up = on ? a.up_on : a.up_off, down = on ? a.down_on : a.down_off;
        const double value = a.value[i] * (a.y[i] > 0.0 ? down : up);
        const double grad = -a.y[i] * value;
        a.score[i] += on ? a.on : a.off;
        a.grad[i] = grad;
        a.curv[i] = value;
        a.value[i] = value;
        sum += value;
        sum_grad += grad;
    }
    return {sum, sum_grad, sum};
}

// score[i] += table[codes[i]]
template <class Code>
static void add_table(std::int64_t n, const Code* codes, const double* table, double* score) noexcept {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) score[i] += table[codes[i]];
}

// scores[4 i + p] += tables[4 codes[i] + p] for p < 4: one load and one sum for four points.
template <class Code>
static void add_tables(std::int64_t n, const Code* codes, const double* __restrict tables,
                       double* __restrict scores) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
        const double* from = tables + 4 * std::int64_t(codes[i]);
#pragma omp simd
        for (int p = 0; p < 4; ++p) scores[4 * i + p] += from[p];
    }
}

// channel[i * stride] = first <= codes[i] <= last ? curv[i] : 0
template <class Real, class Code>
static void fill_channel(std::int64_t n, const Code* codes, unsigned first, unsigned last, const double* curv,
                         std::int64_t stride, Real* channel) noexcept {
    const unsigned span = last - first;
    for (std::int64_t i = 0; i < n; ++i)
        channel[i * stride] = (unsigned(codes[i]) - first <= span) ? Real(curv[i]) : Real(0);
}

// histograms[f][codes[f][i]][:] += channels[i][:] for one or four features. Processing four features at once hides the
// latency of the previous store of each feature. There are 4 * Packs channels, a constant, so that the inner loop is
// unrolled.
template <int Packs, int Features, class Real, class Code>
static void accumulate_packs(std::int64_t n, const Code* const* codes, std::int64_t stride,
                             const Real* __restrict channels, Real* const* histograms) noexcept {
    const Code* __restrict code[Features];
    Real* __restrict histogram[Features];
    for (int f = 0; f < Features; ++f) code[f] = codes[f], histogram[f] = histograms[f];
    for (std::int64_t i = 0; i < n; ++i) {
        const Real* __restrict row = channels + i * stride;
        Real* __restrict bin[Features];
        for (int f = 0; f < Features; ++f) bin[f] = histogram[f] + std::int64_t(code[f][i]) * stride;
        for (int f = 0; f < Features; ++f) {
#pragma omp simd
            for (int c = 0; c < 4 * Packs; ++c) bin[f][c] += row[c];
        }
    }
}

// Accumulates 1 to 8 packs. Their number is known at run time only: recursion selects the function for it.
template <int Packs, int Features, class Real, class Code>
static void accumulate_last(std::int64_t packs, std::int64_t n, const Code* const* codes, std::int64_t stride,
                            const Real* channels, Real* const* histograms) noexcept {
    if constexpr (Packs < 8)
        if (packs > Packs) return accumulate_last<Packs + 1, Features>(packs, n, codes, stride, channels, histograms);
    accumulate_packs<Packs, Features>(n, codes, stride, channels, histograms);
}

// Processes at most eight packs (32 channels) at a time.
template <int Features, class Real, class Code>
static void accumulate(std::int64_t n, const Code* const* codes, std::int64_t stride, const Real* channels,
                       Real* const* histograms) noexcept {
    Real* histogram[Features];
    for (int f = 0; f < Features; ++f) histogram[f] = histograms[f];
    std::int64_t packs = stride / 4;
    for (; packs > 8; packs -= 8, channels += 32) {
        accumulate_packs<8, Features>(n, codes, stride, channels, histogram);
        for (int f = 0; f < Features; ++f) histogram[f] += 32;
    }
    accumulate_last<1, Features>(packs, n, codes, stride, channels, histogram);
}

// Processes one or four features at once.
template <class Real, class Code>
static void accumulate_any(std::int64_t features, std::int64_t n, const Code* const* codes, std::int64_t stride,
                           const Real* channels, Real* const* histograms) noexcept {
    if (features == 4)
        accumulate<4>(n, codes, stride, channels, histograms);
    else
        for (std::int64_t f = 0; f < features; ++f) accumulate<1>(n, codes + f, stride, channels, histograms + f);
}

// Gain of replacing each term j by one candidate, and the largest of these gains; see local_model.hpp for the formulas.
static float swap_gains(SwapArgs a, float* __restrict gains) noexcept {
    // Numbers instead of booleans, which compilers do not vectorise.
    const float rise = a.may_rise ? 1.0f : 0.0f, fall = a.may_fall ? 1.0f : 0.0f;
    constexpr float never = -1e30f;
    float most[octet];
    for (std::int64_t i = 0; i < octet; ++i) most[i] = never;
    for (std::int64_t first = 0; first < a.k; first += octet) {
#pragma omp simd
        for (std::int64_t i = 0; i < octet; ++i) {
            const std::int64_t j = first + i;
            const float q = a.q[j];
            const float grad = a.grad - q * a.shift[j];
            const float curv = a.curv + q * q * a.inverse[j];
            const float over = (grad < 0.0f ? -grad : grad) - a.slack, push = over > 0.0f ? over : 0.0f;
            const float gain = 0.5f * push * push / curv - a.cost[j];
            const float inside = (grad < 0.0f ? rise : fall) > 0.0f ? gain : never;
            const float kept = curv > a.floor ? inside : never;
            gains[j] = kept;
            most[i] = kept > most[i] ? kept : most[i];
        }
    }
    for (std::int64_t i = 1; i < octet; ++i) most[0] = most[i] > most[0] ? most[i] : most[0];
    return most[0];
}

// The gain of a pair beyond that of its inner column, times its curvature: from the quadratic model, or exactly for a
// multiplicative loss.
struct QuadraticFall {
    SPARSEGAM_INLINE float of(float grad, float) { return 0.5f * grad * grad; }
};
struct MultiplicativeFall {
    SPARSEGAM_INLINE float of(float grad, float mass) {
        const float rest = mass * mass - grad * grad;
        return mass * (mass - root(rest > 0.0f ? rest : 0.0f));
    }
};

// Gain of column a together with each nested column b; see nested_pairs.hpp for the formulas.
template <class Fall>
static void nested_pair_gains(const NestedPairArgs& a, float* __restrict gains) noexcept {
    const float inverse = 1.0f / a.curv_a, level = 0.5f * a.grad_a * a.grad_a * inverse;
    constexpr float never = -1e30f;
#pragma omp simd
    for (std::int64_t b = 0; b < a.n; ++b) {
        const float shared = a.raw_a - a.adjusted[b];
        const float with_a = shared - a.curv_a, mass = a.raw[b] - a.raw_a;
        const float grad = (a.grad[b] - a.grad_a) - with_a * inverse * a.grad_a;
        const float curv = (a.curv_a + a.curv[b] - 2.0f * shared) - with_a * with_a * inverse;
        const float gain = level + Fall::of(grad, mass) / curv;
        const float own = curv > a.collinear * mass ? gain : never;
        const float held = mass > 0.0f ? own : never;
        gains[b] = a.usable[b] > 0.0f ? held : never;
    }
}

static void nested_pair_gains(NestedPairArgs a, float* gains) noexcept {
    a.multiplicative ? nested_pair_gains<MultiplicativeFall>(a, gains) : nested_pair_gains<QuadraticFall>(a, gains);
}

// Gains of interactions relative to the intercept, and relative to both conditions; see interactions.hpp for the
// formulas. The result is -1 for interactions that are not allowed.
static void quadrant_gains(QuadrantArgs a, double* __restrict plain, double* __restrict contrast) noexcept {
#pragma omp simd
    for (std::int64_t q = 0; q < a.n; ++q) {
        const double g11 = a.grad[q], g10 = a.grad_a - g11, g01 = a.grad_b[q] - g11;
        const double d11 = a.curv[q], d10 = a.curv_a - d11, d01 = a.curv_b[q] - d11;
        const double g00 = a.total_grad - a.grad_a - g01, d00 = 1.0 - a.curv_a - d01;
        const bool allowed = (d11 >= a.least) & (1.0 - d11 >= a.least);
        const double slope = g11 - a.total_grad * d11, kept = d11 * (1.0 - d11) + a.ridge;
        plain[q] = allowed ? 0.5 * slope * slope / kept : -1.0;
        // c V = cross / below and V = above / below, with the common denominator of four fractions.
        const double with = d11 * d10, without = d01 * d00, above = with * without;
        const double below = with * (d01 + d00) + without * (d11 + d10);
        const double cross = (g11 * d10 - g10 * d11) * without - (g01 * d00 - g00 * d01) * with;
        const bool full = (d10 > a.empty) & (d01 > a.empty) & (d00 > a.empty);
        const double gain = full ? 0.5 * cross * cross / (below * (above + a.ridge * below)) : 0.0;
        contrast[q] = allowed ? gain : -1.0;
    }
}

template <class Real, class Code>
static constexpr HistogramKernels<Real, Code> histogram_kernels = {fill_channel<Real, Code>,
                                                                   accumulate_any<Real, Code>};

static constexpr KernelTable table = {
    {evaluate<LogisticRow>, evaluate<ExponentialRow>, evaluate<SquaredRow>, evaluate<SquaredHingeRow>},
    {value<LogisticRow>, value<ExponentialRow>, value<SquaredRow>, value<SquaredHingeRow>},
    reweight,
    add_table<std::uint8_t>,
    add_table<std::uint16_t>,
    add_tables<std::uint8_t>,
    add_tables<std::uint16_t>,
    histogram_kernels<float, std::uint8_t>,
    histogram_kernels<float, std::uint16_t>,
    histogram_kernels<double, std::uint8_t>,
    histogram_kernels<double, std::uint16_t>,
    dense_kernels<float>,
    dense_kernels<double>,
    swap_gains,
    nested_pair_gains,
    quadrant_gains,
    dot,
    invert,
    dots,
    leave,
    join,
    add_columns,
    sparse_products,
};

}  // namespace sparsegam::SPARSEGAM_ARCH
