// core/tests/test_threads.cpp: a complete search gives the same results, to the last bit, on one and two threads. With
// the thread sanitizer (make tsan) this also checks for data races.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/frontier.hpp"
#include "sparsegam/rows_threshold.hpp"

using namespace sparsegam;

namespace {

// Features with a few bins each, the last of which is unordered, and labels that depend on two of them.
struct Table {
    Index n = 30000, bins = 9, n_features = 6;
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<double> y, weight;

    explicit Table(Loss loss) {
        std::mt19937_64 engine(7);
        std::normal_distribution<double> normal;
        for (Index f = 0; f < n_features; ++f) {
            codes.emplace_back(n);
            for (auto& code : codes.back()) code = static_cast<std::uint8_t>(engine() % bins);
        }
        for (Index i = 0; i < n; ++i) {
            const double score = (codes[0][i] <= 3) - 2.0 * (codes[1][i] <= 5) + 0.5 + normal(engine);
            y.push_back(loss == Loss::squared ? score : score > 0 ? 1.0 : -1.0);
            weight.push_back(1.0 + (i % 3));
        }
    }

    ThresholdDesign design() const {
        std::vector<Feature> features;
        for (const auto& code : codes)
            features.push_back({.codes = {.narrow = code.data()}, .n_bins = bins, .n_ordered = bins - 1});
        return {features, n};
    }

    Penalty penalty() const {
        Penalty out;
        out.lambda2 = 1e-3;
        const Index p = n_features * bins;
        out.cost.assign(p, 1.0);
        out.low.assign(p, -infinity);
        out.high.assign(p, infinity);
        for (Index c = 0; c < p; ++c) {
            out.allowed.push_back(c % bins != bins - 2);
            out.group.push_back(c / bins);
        }
        return out;
    }
};

std::vector<Point> searched(const Table& table, Loss loss, Index n_threads) {
    const ThresholdDesign design = table.design();
    const Penalty penalty = table.penalty();
    ThresholdRows rows(design, table.y.data(), table.weight.data(), loss, n_threads);
    int polls = 0;
    rows.set_poll([&] { ++polls; });
    Objective objective(rows, penalty);
    Frontier found(objective, 4, Deadline(), {});
    found.search_all();
    Frontier at_lambda0(objective, 6, Deadline(), {});
    at_lambda0.search_at(20.0, true);
    std::vector<Point> points{at_lambda0.at(at_lambda0.best_size(20.0))};
    for (Index k = 0; k < found.n_sizes(); ++k)
        if (found.known(k)) points.push_back(found.at(k));
    return points;
}

void test_searches_on_one_and_two_threads_are_identical(Loss loss, const std::string& where) {
    const Table table(loss);
    const std::vector<Point> one = searched(table, loss, 1), two = searched(table, loss, 2);
    CHECK(one.size() == two.size() && one.size() > 4, where + ": sizes");
    for (std::size_t i = 0; i < std::min(one.size(), two.size()); ++i) {
        CHECK(one[i].columns == two[i].columns, where + ": columns");
        CHECK(one[i].coef == two[i].coef && one[i].intercept == two[i].intercept, where + ": coefficients");
        CHECK(one[i].loss == two[i].loss && std::isfinite(one[i].loss), where + ": loss");
    }
}

}  // namespace

int main() {
    test_searches_on_one_and_two_threads_are_identical(Loss::logistic, "logistic");
    test_searches_on_one_and_two_threads_are_identical(Loss::exponential, "exponential");
    test_searches_on_one_and_two_threads_are_identical(Loss::squared, "squared");
    test_searches_on_one_and_two_threads_are_identical(Loss::squared_hinge, "squared hinge");
    return finish("threads");
}
