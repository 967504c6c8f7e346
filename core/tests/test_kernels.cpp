// core/tests/test_kernels.cpp: all kernels, with every table that this CPU can run, against naive implementations.
#define SPARSEGAM_ARCH baseline
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/histogram.hpp"
#include "tables.hpp"

using namespace sparsegam;

namespace {

std::mt19937_64 random_engine(1);

double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_engine); }

float single(double low, double high) { return static_cast<float>(uniform(low, high)); }

// --- Losses

void test_exp() {
    for (double x = -708.0; x <= 708.0; x += 0.0078) {
        const double expected = std::exp(x);
        CHECK_NEAR(baseline::fast_exp(x) / expected, 1.0, 1e-15, "exp(" + std::to_string(x) + ")");
    }
    for (double x : {0.0, -0.0, 1e-300, -1e-300, 1e-17, -1e-17})
        CHECK_NEAR(baseline::fast_exp(x), 1.0, 3e-16, "exp near 0");
    for (double x : {709.0, 800.0, 1e6, 1e300, infinity})
        CHECK_NEAR(baseline::fast_exp(x) / std::exp(708.0), 1.0, 1e-15, "exp above its clamp");
    for (double x : {-709.0, -800.0, -1e6, -1e300, -infinity})
        CHECK_NEAR(baseline::fast_exp(x) / std::exp(-708.0), 1.0, 1e-15, "exp below its clamp");
}

void test_log1p() {
    for (double e = 0.0; e <= 1.0; e += 1e-5)
        CHECK_NEAR(baseline::fast_log1p(e), std::log1p(e), 1e-15 * std::log1p(e), "log1p(" + std::to_string(e) + ")");
    for (double e = 1.0; e > 1e-308; e *= 0.37)
        CHECK_NEAR(baseline::fast_log1p(e) / std::log1p(e), 1.0, 1e-15, "log1p of a small number");
    CHECK(baseline::fast_log1p(0.0) == 0.0, "log1p(0)");
}

// Tolerance for values of about exp(-708), where the kernels' exponential is clamped and std::exp is not.
constexpr double tiny = 1e-305;

struct LossRows {
    std::vector<double> score, y, weight, grad, curv, value;

    explicit LossRows(std::int64_t n) : score(n), y(n), weight(n), grad(n), curv(n), value(n) {}

    LossArgs args(std::int64_t first, std::int64_t n) {
        return {n, &score[first], &y[first], &weight[first], &grad[first], &curv[first], &value[first]};
    }
};

// Margins from -800 to 800, many of them near 0. naive_loss clamps the exponential as the kernels do.
LossRows loss_rows(Loss loss) {
    LossRows rows(2051);
    const double extreme[] = {-800.0, 800.0, -708.0, 708.0, -700.0, 700.0, -40.0, 40.0, 0.0, -0.0, 1e-12};
    for (std::size_t i = 0; i < rows.score.size(); ++i) {
        rows.score[i] = i < 22 ? extreme[i / 2] : uniform(-8.0, 8.0) * (i % 7 == 0 ? 50.0 : 1.0);
        rows.y[i] = loss == Loss::squared ? uniform(-3.0, 3.0) : i % 2 == 0 ? 1.0 : -1.0;
        rows.weight[i] = i % 13 == 0 ? 0.0 : uniform(0.1, 3.0);
    }
    return rows;
}

Derivatives naive_loss(Loss loss, double score, double y) {
    return traits(loss).derivatives(loss == Loss::exponential ? std::clamp(score, -708.0, 708.0) : score, y);
}

// Compares rows [first, first + n), and their sums, with the scalar definition.
void check_loss(const NamedTable& named, Loss loss, LossRows& rows, std::int64_t first, std::int64_t n) {
    const std::string where = named.name + " loss " + std::to_string(static_cast<int>(loss));
    const LossSums sums = named.table->evaluate(loss, rows.args(first, n));
    LossSums expected{0.0, 0.0, 0.0}, size{0.0, 0.0, 0.0};
    for (std::int64_t i = first; i < first + n; ++i) {
        const auto [value, grad, curv] = naive_loss(loss, rows.score[i], rows.y[i]);
        const std::string row = where + " at score " + std::to_string(rows.score[i]);
        const double w = rows.weight[i];
        CHECK_NEAR(rows.value[i], w * value, 2e-15 * w * value + tiny, row);
        CHECK_NEAR(rows.grad[i], w * grad, 2e-15 * w * std::abs(grad) + tiny, row);
        CHECK_NEAR(rows.curv[i], w * curv, 4e-15 * w * curv + tiny, row);
        expected = {expected.value + w * value, expected.grad + w * grad, expected.curv + w * curv};
        size = {size.value + w * value, size.grad + w * std::abs(grad), size.curv + w * curv};
    }
    CHECK_NEAR(sums.value, expected.value, 1e-13 * size.value + tiny, where + ", sum of values");
    const double alone = named.table->value(loss, {n, &rows.score[first], &rows.y[first], &rows.weight[first]});
    CHECK_NEAR(alone, expected.value, 1e-13 * size.value + tiny, where + ", sum of values alone");
    CHECK_NEAR(sums.grad, expected.grad, 1e-13 * size.grad + tiny, where + ", sum of gradients");
    CHECK_NEAR(sums.curv, expected.curv, 1e-13 * size.curv + tiny, where + ", sum of curvatures");
}

void test_losses(const NamedTable& named) {
    for (const LossTraits& entry : loss_table) {
        const Loss loss = entry.loss;
        LossRows rows = loss_rows(loss);
        for (std::int64_t first : {0, 1, 3})
            for (std::int64_t n : {0, 1, 2, 3, 5, 8, 17}) check_loss(named, loss, rows, first, n);
        // Without the extreme margins, which would dominate the sums.
        check_loss(named, loss, rows, 22, 2029);
        check_loss(named, loss, rows, 0, 22);
    }
}

// The exponential loss after a shift of two groups, computed from the shifted scores.
void check_reweight(const NamedTable& named, double on, double off, std::int64_t first, std::int64_t n) {
    LossRows rows = loss_rows(Loss::exponential);
    for (auto& score : rows.score) score = std::clamp(score, -30.0, 30.0);
    named.table->evaluate(Loss::exponential, rows.args(0, 2051));
    std::vector<double> x(2051);
    for (auto& holds : x) holds = random_engine() % 3 == 0 ? 1.0 : 0.0;
    LossRows naive = rows;
    for (std::int64_t i = first; i < first + n; ++i) naive.score[i] += x[i] > 0.0 ? on : off;
    const LossSums expected = named.table->evaluate(Loss::exponential, naive.args(first, n));
    const LossSums sums = named.table->reweight({n, &x[first], &rows.y[first], on, off, std::exp(on), std::exp(off),
                                                 std::exp(-on), std::exp(-off), &rows.score[first], &rows.grad[first],
                                                 &rows.curv[first], &rows.value[first]});
    for (std::int64_t i = 0; i < 2051; ++i) {
        const std::string row = named.name + " reweight, row " + std::to_string(i);
        CHECK(rows.score[i] == naive.score[i], row);
        CHECK_NEAR(rows.value[i], naive.value[i], 2e-14 * naive.value[i], row);
        CHECK_NEAR(rows.grad[i], naive.grad[i], 2e-14 * naive.value[i], row);
        CHECK_NEAR(rows.curv[i], naive.curv[i], 2e-14 * naive.value[i], row);
    }
    CHECK_NEAR(sums.value, expected.value, 1e-13 * expected.value, named.name + " reweight, sum of values");
    CHECK_NEAR(sums.grad, expected.grad, 1e-13 * expected.value, named.name + " reweight, sum of gradients");
    CHECK_NEAR(sums.curv, expected.curv, 1e-13 * expected.value, named.name + " reweight, sum of curvatures");
}

void test_reweight(const NamedTable& named) {
    for (double on : {-2.5, 0.0, 0.7})
        for (double off : {-0.3, 0.0, 9.0})
            for (std::int64_t n : {0, 1, 3, 8, 17, 2048}) check_reweight(named, on, off, 3, n);
}

// --- Bin codes

template <class Code>
std::vector<Code> random_codes(std::int64_t n, int n_bins) {
    std::vector<Code> codes(n);
    for (auto& code : codes) code = static_cast<Code>(random_engine() % n_bins);
    codes[0] = static_cast<Code>(n_bins - 1);
    return codes;
}

template <class Code>
void test_add_table(const NamedTable& named, void (*kernel)(std::int64_t, const Code*, const double*, double*)) {
    const int n_bins = sizeof(Code) == 1 ? 256 : 65536;
    const auto codes = random_codes<Code>(1000, n_bins);
    std::vector<double> table(n_bins);
    for (auto& t : table) t = uniform(-1.0, 1.0);
    for (std::int64_t n : {0, 1, 3, 4, 7, 64, 999})
        for (std::int64_t first : {0, 1}) {
            std::vector<double> score(1000, 0.25), expected = score;
            kernel(n, codes.data() + first, table.data(), score.data() + first);
            for (std::int64_t i = first; i < first + n; ++i) expected[i] += table[codes[i]];
            CHECK(score == expected, named.name + " add_table");
        }
}

template <class Code>
void test_add_tables(const NamedTable& named, void (*kernel)(std::int64_t, const Code*, const double*, double*)) {
    const int n_bins = sizeof(Code) == 1 ? 256 : 60000;
    const auto codes = random_codes<Code>(99, n_bins);
    std::vector<double> tables(4 * n_bins);
    for (auto& t : tables) t = uniform(-1.0, 1.0);
    for (std::int64_t n : {0, 1, 5, 98}) {
        std::vector<double> scores(4 * 99, 0.25), expected = scores;
        kernel(n, codes.data() + 1, tables.data(), scores.data());
        for (std::int64_t i = 0; i < n; ++i)
            for (int p = 0; p < 4; ++p) expected[4 * i + p] += tables[4 * codes[i + 1] + p];
        CHECK(scores == expected, named.name + " add_tables");
    }
}

template <class Real, class Code>
void test_fill_channel(const NamedTable& named) {
    const unsigned n_bins = sizeof(Code) == 1 ? 256 : 60000;
    const auto codes = random_codes<Code>(517, n_bins);
    std::vector<double> curv(codes.size());
    for (auto& h : curv) h = uniform(0.0, 2.0);
    const std::pair<unsigned, unsigned> ranges[] = {{0, 0}, {0, n_bins / 3},      {0, n_bins - 1},
                                                    {7, 7}, {codes[5], codes[5]}, {n_bins - 1, n_bins - 1}};
    for (std::int64_t stride : {1, 4, 12})
        for (auto [first, last] : ranges) {
            std::vector<Real> channel(codes.size() * stride, Real(-5)), expected = channel;
            named.table->histogram<Real, Code>().fill_channel(codes.size(), codes.data(), first, last, curv.data(),
                                                              stride, channel.data());
            for (std::size_t i = 0; i < codes.size(); ++i)
                expected[i * stride] = first <= codes[i] && codes[i] <= last ? Real(curv[i]) : Real(0);
            CHECK(channel == expected, named.name + " fill_channel");
        }
}

// Rows are added in order, so that naive sums are equal to the last bit.
template <class Real, class Code>
void check_accumulate(const NamedTable& named, int n_features, std::int64_t channels, std::int64_t n) {
    const std::int64_t stride = padded(channels);
    const int n_bins = sizeof(Code) == 1 ? 23 : 300;
    std::vector<Real> rows(n * stride);
    for (auto& r : rows) r = static_cast<Real>(uniform(-1.0, 1.0));
    std::vector<std::vector<Code>> codes;
    std::vector<std::vector<Real>> bins, expected;
    for (int f = 0; f < n_features; ++f) {
        codes.push_back(random_codes<Code>(std::max<std::int64_t>(n, 1), n_bins));
        bins.emplace_back(n_bins * stride, Real(f));
        expected.push_back(bins.back());
    }
    std::vector<const Code*> code_pointers;
    std::vector<Real*> bin_pointers;
    for (int f = 0; f < n_features; ++f) {
        code_pointers.push_back(codes[f].data());
        bin_pointers.push_back(bins[f].data());
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t c = 0; c < stride; ++c) expected[f][codes[f][i] * stride + c] += rows[i * stride + c];
    }
    named.table->histogram<Real, Code>().accumulate(n_features, n, code_pointers.data(), stride, rows.data(),
                                                    bin_pointers.data());
    CHECK(bins == expected, named.name + " accumulate, " + std::to_string(n_features) + " features, " +
                                std::to_string(channels) + " channels");
}

template <class Real, class Code>
void test_accumulate(const NamedTable& named) {
    for (int n_features : {1, 2, 4})
        for (std::int64_t channels = 1; channels <= 72; ++channels)
            check_accumulate<Real, Code>(named, n_features, channels, 61);
    for (std::int64_t n : {0, 1, 2}) check_accumulate<Real, Code>(named, 4, 5, n);
}

// --- Projections

// Columns of `size` values with gaps between them, which must not change.
void test_columns(const NamedTable& named) {
    for (std::int64_t size = 1; size < 20; ++size) {
        const std::int64_t n = 7, stride = size + 3;
        std::vector<float> q(n * stride);
        std::vector<double> curv(n), x(size), cross(n), out(n);
        for (float& v : q) v = static_cast<float>(uniform(-1.0, 1.0));
        for (auto* values : {&curv, &x, &cross})
            for (double& v : *values) v = uniform(-1.0, 1.0);
        named.table->dots({n, size, stride, q.data(), nullptr}, x.data(), out.data());
        auto joined = q, left = q;
        auto joined_curv = curv, left_curv = curv;
        named.table->join({n, size, stride, joined.data(), joined_curv.data()}, x.data(), cross.data(), 0.7, 1.3);
        const std::int64_t gone = size / 2;
        named.table->leave({n, size, stride, left.data(), left_curv.data()}, gone, x.data(), 0.7);
        for (std::int64_t c = 0; c < n; ++c) {
            const float *mine = &q[c * stride], *more = &joined[c * stride], *less = &left[c * stride];
            double dot = 0.0;
            for (std::int64_t j = 0; j < size; ++j) {
                dot += mine[j] * x[j];
                CHECK_NEAR(more[j], mine[j] - x[j] * cross[c] * 0.7, 1e-6, named.name + " join");
                if (j != gone)
                    CHECK_NEAR(less[j - (j > gone)], mine[j] - x[j] * mine[gone] * 0.7, 1e-6, named.name + " leave");
            }
            CHECK_NEAR(out[c], dot, 1e-13, named.name + " dots");
            CHECK_NEAR(more[size], cross[c] * 0.7 * 1.3, 1e-6, named.name + " join");
            CHECK(more[size + 1] == mine[size + 1], named.name + " join writes beyond its output");
            CHECK(less[size] == mine[size], named.name + " leave writes beyond its output");
            CHECK_NEAR(joined_curv[c], curv[c] - cross[c] * cross[c] * 0.7, 1e-14, named.name + " join");
            CHECK_NEAR(left_curv[c], curv[c] + double(mine[gone]) * mine[gone] * 0.7, 1e-14, named.name + " leave");
        }
    }
}

// --- Gains

constexpr float no_gain = -1e30f;

void test_swap_gains(const NamedTable& named) {
    for (std::int64_t k = 0; k < 40; ++k)
        for (int signs = 0; signs < 4; ++signs) {
            const std::int64_t room = in_octets(k);
            std::vector<float> q(room, 3.0f), shift(room), inverse(room), gains(room + 1, 7.0f);
            std::vector<float> cost(room, std::numeric_limits<float>::infinity());
            for (std::int64_t j = 0; j < k; ++j) {
                q[j] = single(-1.0, 1.0), shift[j] = single(-2.0, 2.0);
                inverse[j] = single(0.1, 2.0), cost[j] = single(0.0, 1.0);
            }
            const SwapArgs args{.k = k,
                                .q = q.data(),
                                .shift = shift.data(),
                                .inverse = inverse.data(),
                                .cost = cost.data(),
                                .grad = single(-1.0, 1.0),
                                .curv = single(0.0, 0.5),
                                .floor = 0.3f,
                                .slack = signs == 3 ? 0.0f : 0.2f,
                                .may_rise = (signs & 1) != 0,
                                .may_fall = (signs & 2) != 0};
            const float most = named.table->swap_gains(args, gains.data());
            CHECK(gains[room] == 7.0f, named.name + " swap_gains writes beyond its output");
            CHECK(most == (k == 0 ? no_gain : *std::max_element(gains.begin(), gains.begin() + k)),
                  named.name + " swap_gains: the largest");
            for (std::int64_t j = 0; j < k; ++j) {
                const double g = args.grad - double(q[j]) * shift[j], v = args.curv + double(q[j]) * q[j] * inverse[j];
                // Rounding decides about these cases.
                if (std::abs(v - args.floor) < 1e-6 || std::abs(g) < 1e-6) continue;
                const bool may = v > args.floor && (g < 0 ? args.may_rise : args.may_fall);
                const double push = std::max(std::abs(g) - args.slack, 0.0);
                CHECK_NEAR(gains[j], may ? 0.5 * push * push / v - cost[j] : no_gain, 1e-5, named.name + " swap_gains");
            }
        }
}

struct Pairs {
    std::vector<float> grad, curv, raw, adjusted, usable;
    float grad_a, curv_a, raw_a;

    explicit Pairs(std::int64_t n) : grad(n), curv(n), raw(n), adjusted(n), usable(n) {
        grad_a = float(uniform(-1.0, 1.0)), curv_a = float(uniform(1.0, 2.0)), raw_a = float(uniform(2.0, 3.0));
        for (std::int64_t b = 0; b < n; ++b) {
            const double shared = uniform(-0.5, 0.8);
            grad[b] = float(uniform(-2.0, 2.0)), curv[b] = float(uniform(1.5, 3.0));
            raw[b] = raw_a + float(b % 5 == 0 ? uniform(-0.5, 0.0) : uniform(0.2, 3.0));
            adjusted[b] = float(raw_a - shared), usable[b] = b % 7 == 0 ? 0.0f : 1.0f;
            // Such a column has no curvature left after projection on column a.
            if (b % 11 == 0) curv[b] = float(shared * shared / curv_a);
        }
    }
};

// Solves for two columns by their 2 x 2 system. For the exponential loss, the rows between both columns gain as much as
// their best shift.
double naive_pair(const Pairs& pairs, std::size_t b, bool exponential, bool& close_call) {
    const double ga = pairs.grad_a, gb = pairs.grad[b], va = pairs.curv_a, vb = pairs.curv[b];
    const double vab = double(pairs.raw_a) - pairs.adjusted[b], mass = double(pairs.raw[b]) - pairs.raw_a;
    const double left = vb - vab * vab / va, collinear = 5e-3;
    close_call = std::abs(left - collinear * mass) < 1e-4;
    if (pairs.usable[b] <= 0.0f || mass <= 0.0 || left <= collinear * mass) return -1e30;
    const double alone = 0.5 * ga * ga / va;
    const double both = 0.5 * (ga * ga * vb - 2.0 * ga * gb * vab + gb * gb * va) / (va * vb - vab * vab);
    const double slope = gb - vab / va * ga;
    const double u = std::abs(slope) / mass;
    return alone + (both - alone) * traits(exponential ? Loss::exponential : Loss::logistic).gain_factor(u);
}

void test_nested_pair_gains(const NamedTable& named) {
    for (std::int64_t n : {0, 1, 2, 7, 8, 33, 400})
        for (bool exponential : {false, true}) {
            const Pairs pairs(n);
            std::vector<float> gains(n + 1, 7.0f);
            named.table->nested_pair_gains(
                {n, pairs.grad.data(), pairs.curv.data(), pairs.raw.data(), pairs.adjusted.data(), pairs.usable.data(),
                 pairs.grad_a, pairs.curv_a, pairs.raw_a, 5e-3f, exponential},
                gains.data());
            CHECK(gains[n] == 7.0f, named.name + " nested_pair_gains writes beyond its output");
            for (std::int64_t b = 0; b < n; ++b) {
                bool close_call = false;
                const double expected = naive_pair(pairs, b, exponential, close_call);
                if (close_call) continue;
                const double tolerance = expected < 0 ? 1e24 : 2e-5 * (1.0 + expected);
                CHECK_NEAR(gains[b], expected, tolerance, named.name + " nested_pair_gains");
            }
        }
}

void test_table(const NamedTable& named) {
    test_losses(named);
    test_reweight(named);
    test_add_table(named, named.table->add_table_8);
    test_add_table(named, named.table->add_table_16);
    test_add_tables(named, named.table->add_tables_8);
    test_add_tables(named, named.table->add_tables_16);
    test_fill_channel<float, std::uint8_t>(named);
    test_fill_channel<float, std::uint16_t>(named);
    test_fill_channel<double, std::uint8_t>(named);
    test_fill_channel<double, std::uint16_t>(named);
    test_accumulate<float, std::uint8_t>(named);
    test_accumulate<float, std::uint16_t>(named);
    test_accumulate<double, std::uint8_t>(named);
    test_accumulate<double, std::uint16_t>(named);
    test_columns(named);
    test_swap_gains(named);
    test_nested_pair_gains(named);
}

}  // namespace

int main() {
    test_exp();
    test_log1p();
    for (const NamedTable& named : tables()) test_table(named);
    return finish("kernels");
}
