// core/tests/test_pairs.cpp: sums over coarse bins of two features, and gains of interactions, against naive
// implementations.
#define SPARSEGAM_ARCH baseline
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "sparsegam/interactions.hpp"
#include "sparsegam/pair_sums.hpp"
#include "tables.hpp"

using namespace sparsegam;

namespace {

std::mt19937_64 random_engine(11);

double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_engine); }

// Features with uint8 and uint16 codes, with coarse bins or as many as bins, with and without unordered ones.
struct Table {
    std::vector<std::vector<std::uint8_t>> narrow;
    std::vector<std::vector<std::uint16_t>> wide;
    std::vector<Feature> features;
    std::vector<CoarseBins> coarse_bins;
    std::vector<double> grad, curv;
    std::vector<FeaturePair> pairs;
    Index n_rows;

    explicit Table(Index rows) : n_rows(rows) {
        for (auto [n_bins, n_ordered, n_coarse] : {std::tuple<Index, Index, Index>{5, 5, 5},
                                                   {300, 296, 36},
                                                   {4, 0, 4},
                                                   {1, 1, 1},
                                                   {256, 255, 256},
                                                   {700, 0, 9}})
            add(n_bins, n_ordered, n_coarse);
        for (Index i = 0; i < n_rows; ++i) {
            grad.push_back(uniform(-1.0, 1.0));
            curv.push_back(uniform(0.0, 0.25));
        }
        for (Index a = 0; a < 6; ++a)
            for (Index b = 0; b < 6; ++b)
                if (a != b) pairs.emplace_back(a, b);
    }

    Index cell(Index f, Index row) const {
        const Codes& codes = features[f].codes;
        return coarse_bins[f].of_bin[codes.narrow ? codes.narrow[row] : codes.wide[row]];
    }

  private:
    // The unordered bins are the last ones, and so are their coarse bins.
    void add(Index n_bins, Index n_ordered, Index n_coarse) {
        Feature feature;
        feature.n_bins = n_bins, feature.n_ordered = n_ordered;
        if (n_bins <= 256)
            feature.codes.narrow = narrow.emplace_back(random_codes<std::uint8_t>(n_bins)).data();
        else
            feature.codes.wide = wide.emplace_back(random_codes<std::uint16_t>(n_bins)).data();
        features.push_back(feature);
        CoarseBins in{{}, n_ordered == 0 ? 0 : n_coarse - (n_bins - n_ordered), n_coarse};
        for (Index b = 0; b < n_bins; ++b)
            in.of_bin.push_back(static_cast<std::uint8_t>(n_ordered == 0  ? b % n_coarse
                                                          : b < n_ordered ? b * in.n_ordered / n_ordered
                                                                          : b - n_bins + n_coarse));
        coarse_bins.push_back(in);
    }

    template <class Code>
    std::vector<Code> random_codes(Index n_bins) const {
        std::vector<Code> codes(n_rows);
        for (auto& c : codes) c = static_cast<Code>(random_engine() % n_bins);
        return codes;
    }
};

struct PairTables {
    std::vector<std::vector<double>> grad, curv;
};

PairTables summed(const Table& table, Index n_threads) {
    const ThresholdDesign design(table.features, table.n_rows);
    Pool pool(n_threads);
    PairTables out{std::vector<std::vector<double>>(table.pairs.size()),
                   std::vector<std::vector<double>>(table.pairs.size())};
    PairSums(design, table.coarse_bins, table.pairs)
        .sum(table.grad.data(), table.curv.data(), pool, [&](Index p, auto grad, auto curv) {
            CHECK(out.grad[p].empty(), "each pair is returned once");
            out.grad[p].assign(grad.begin(), grad.end());
            out.curv[p].assign(curv.begin(), curv.end());
        });
    return out;
}

// Sums over the rows, one by one.
void test_sums(Index n_rows) {
    const Table table(n_rows);
    const PairTables one = summed(table, 1), two = summed(table, 2);
    CHECK(one.grad == two.grad && one.curv == two.curv, "two threads");
    for (std::size_t p = 0; p < table.pairs.size(); ++p) {
        const auto [a, b] = table.pairs[p];
        const Index width = table.coarse_bins[b].n_coarse;
        std::vector<double> grad(table.coarse_bins[a].n_coarse * width, 0.0), curv(grad);
        for (Index i = 0; i < n_rows; ++i) {
            grad[table.cell(a, i) * width + table.cell(b, i)] += table.grad[i];
            curv[table.cell(a, i) * width + table.cell(b, i)] += table.curv[i];
        }
        CHECK(one.grad[p].size() == grad.size() && one.curv[p].size() == curv.size(), "size");
        for (std::size_t i = 0; i < grad.size(); ++i) {
            CHECK_NEAR(one.grad[p][i], grad[i], 1e-12, std::to_string(p));
            CHECK_NEAR(one.curv[p][i], curv[i], 1e-12, std::to_string(p));
        }
    }
}

// Whether a condition, given by its number, holds for a coarse bin.
bool holds(const CoarseBins& coarse_bins, Index part, Index cell) {
    const Index cuts = std::max(coarse_bins.n_ordered - 1, Index{0});
    if (part < cuts) return cell <= part;
    if (part < 2 * cuts) return cell > part - cuts && cell < coarse_bins.n_ordered;
    return cell == coarse_bins.n_ordered + part - 2 * cuts;
}

// The four sums of an interaction and its gains by definition.
struct Naive {
    double g[2][2] = {}, d[2][2] = {};

    double marginal_gain(double ridge) const {
        const double total = d[0][0] + d[0][1] + d[1][0] + d[1][1], grad = g[0][0] + g[0][1] + g[1][0] + g[1][1];
        const double slope = g[1][1] - grad * d[1][1] / total;
        return slope * slope / (2.0 * (d[1][1] * (1.0 - d[1][1] / total) + ridge));
    }

    double interaction_gain(double ridge) const {
        double c = 0.0, sum = 0.0;
        for (int i : {0, 1})
            for (int j : {0, 1}) {
                if (!(d[i][j] > 0.0)) return 0.0;
                c += (i == j ? 1.0 : -1.0) * g[i][j] / d[i][j];
                sum += 1.0 / d[i][j];
            }
        const double v = 1.0 / sum;
        return c * v * c * v / (2.0 * (v + ridge));
    }
};

Naive naive(const Table& table, FeaturePair pair, const Interaction& product) {
    Naive sums;
    for (Index i = 0; i < table.n_rows; ++i) {
        const bool a = holds(table.coarse_bins[pair.first], product.condition_a, table.cell(pair.first, i));
        const bool b = holds(table.coarse_bins[pair.second], product.condition_b, table.cell(pair.second, i));
        sums.g[a][b] += table.grad[i];
        sums.d[a][b] += table.curv[i];
    }
    return sums;
}

void test_interaction_gains(double ridge) {
    const Table table(900);
    const PairTables sums = summed(table, 1);
    for (std::size_t p = 0; p < table.pairs.size(); ++p) {
        const auto [a, b] = table.pairs[p];
        const InteractionRules rules{.per_pair = 1 << 20, .ridge = ridge};
        const InteractionGains gains(table.coarse_bins[a], table.coarse_bins[b], sums.grad[p], sums.curv[p], rules);
        std::vector<Interaction> products;
        gains.append_to(products, static_cast<Index>(p), rules.per_pair);
        for (std::size_t i = 0; i < products.size(); i += 1 + products.size() / 200) {
            const Naive by_rows = naive(table, table.pairs[p], products[i]);
            const double marginal_gain = by_rows.marginal_gain(ridge),
                         interaction_gain = by_rows.interaction_gain(ridge);
            CHECK_NEAR(products[i].marginal_gain, marginal_gain, 1e-9 * (1.0 + marginal_gain),
                       "marginal_gain " + std::to_string(p));
            CHECK_NEAR(products[i].interaction_gain, interaction_gain, 1e-9 * (1.0 + interaction_gain),
                       "interaction_gain " + std::to_string(p));
            CHECK(gains.best_interaction_gain() >= products[i].interaction_gain,
                  "best_interaction_gain is the maximum");
        }
    }
}

// Both tables of kernels, including cases with too little curvature and with an empty quadrant.
void test_quadrant_gains() {
    const std::vector<double> grad{0.2, -0.1, 0.0, 0.3, 0.1}, curv{0.25, 0.1, 0.0, 0.5, 0.999},
        grad_b{0.3, 0.1, 0.1, 0.3, 0.2}, curv_b{0.5, 0.4, 0.3, 0.5, 1.0};
    for (const auto& [name, kernels] : tables()) {
        std::vector<double> marginal_gain(5), interaction_gain(5);
        const QuadrantArgs args{5,   grad.data(), curv.data(), grad_b.data(), curv_b.data(), 0.1,
                                0.6, -0.2,        0.01,        0.01,          1e-9};
        kernels->quadrant_gains(args, marginal_gain.data(), interaction_gain.data());
        for (int q : {0, 1, 3}) {
            const Naive by_hand{{{-0.2 - 0.1 - grad_b[q] + grad[q], grad_b[q] - grad[q]}, {0.1 - grad[q], grad[q]}},
                                {{1.0 - 0.6 - curv_b[q] + curv[q], curv_b[q] - curv[q]}, {0.6 - curv[q], curv[q]}}};
            CHECK_NEAR(marginal_gain[q], by_hand.marginal_gain(0.01), 1e-12, name);
            CHECK_NEAR(interaction_gain[q], by_hand.interaction_gain(0.01), 1e-12, name);
        }
        for (int q : {2, 4}) CHECK(marginal_gain[q] == -1.0 && interaction_gain[q] == -1.0, name);
    }
}

}  // namespace

int main() {
    test_sums(1);
    test_sums(3 * 8192 + 5);
    test_interaction_gains(0.0);
    test_interaction_gains(1.5);
    test_quadrant_gains();
    return finish("pairs");
}
