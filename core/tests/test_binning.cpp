// core/tests/test_binning.cpp: thresholds and bin codes against their definitions, for all small cases and for large
// ones.
#include <cstdint>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/binning.hpp"

using namespace sparsegam;

namespace {

using Values = std::vector<double>;

std::string shown(const Values& values) {
    std::ostringstream out;
    for (std::size_t i = 0; i < values.size() && i < 12; ++i) out << (i == 0 ? "[" : " ") << values[i];
    out << "]";
    return out.str();
}

// Every distinct value except the largest. If there are too many, edge e is the smallest value above the previous edge
// with at least a share e / max_bins of the rows at or below it.
Values naive_edges(const Values& values, Index max_bins) {
    const std::set<double> distinct_values(values.begin(), values.end());
    Values candidates(distinct_values.begin(), distinct_values.end());
    const Index n_distinct = static_cast<Index>(candidates.size());
    if (!candidates.empty()) candidates.pop_back();
    if (n_distinct <= max_bins) return candidates;
    Values edges;
    for (double candidate : candidates) {
        const auto below = std::count_if(values.begin(), values.end(), [&](double v) { return v <= candidate; });
        if (static_cast<Index>(edges.size()) + 1 < max_bins &&
            below * max_bins >= static_cast<Index>(values.size() * (edges.size() + 1)))
            edges.push_back(candidate);
    }
    return edges;
}

// From the lowest up, the edges with enough rows above the previous selected edge and with enough rows above
// themselves.
Values naive_edges_with_min_rows(const Values& values, const Values& edges, Index min_rows) {
    Values kept;
    for (double edge : edges) {
        const auto between = [&](double v) { return v <= edge && (kept.empty() || v > kept.back()); };
        const auto above = std::count_if(values.begin(), values.end(), [&](double v) { return v > edge; });
        if (std::count_if(values.begin(), values.end(), between) >= min_rows && above >= min_rows) kept.push_back(edge);
    }
    return kept;
}

void check_edges(const Values& values, Index max_bins) {
    const Values edges = bin_edges(values, max_bins);
    for (Index min_rows : {1, 2, 3, 20})
        CHECK(bin_edges(values, max_bins, min_rows) == naive_edges_with_min_rows(values, edges, min_rows),
              shown(values) + " with rows between: " + std::to_string(min_rows));
    const std::string where = shown(values) + " in " + std::to_string(max_bins) + " bins: " + shown(edges);
    CHECK(edges == naive_edges(values, max_bins), where);
    CHECK(static_cast<Index>(edges.size()) < std::max<Index>(max_bins, 1), where);
}

template <class Code>
void check_codes_as(const Values& values, const Values& edges) {
    std::vector<Code> codes(values.size(), Code(99));
    bin_codes(std::span<const double>(values), std::span<const double>(edges), codes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto below = std::count_if(edges.begin(), edges.end(), [&](double e) { return e < values[i]; });
        CHECK(codes[i] == below, shown({values[i]}) + " with edges " + shown(edges));
    }
}

void check_codes(const Values& values, const Values& edges) {
    if (edges.size() < 256) check_codes_as<std::uint8_t>(values, edges);
    check_codes_as<std::uint16_t>(values, edges);
}

// Visits all sequences of up to `length` values from an alphabet.
template <class Visit>
void each_sequence(const Values& alphabet, std::size_t length, Values& prefix, const Visit& visit) {
    visit(prefix);
    if (prefix.size() == length) return;
    for (double letter : alphabet) {
        prefix.push_back(letter);
        each_sequence(alphabet, length, prefix, visit);
        prefix.pop_back();
    }
}

void test_edges_and_codes_of_all_small_arrays() {
    for (const Values& alphabet : {Values{-3.0, 0.0, 1.0, 4.0}, Values{-0.5, 0.0, 0.25, 7.0}}) {
        Values prefix;
        each_sequence(alphabet, 5, prefix, [](const Values& values) {
            for (Index max_bins = 1; max_bins <= 5; ++max_bins) check_edges(values, max_bins);
            check_codes(values, bin_edges(values, 3));
        });
    }
}

// Values on, between, below and above the edges.
Values around(const Values& edges) {
    Values values{0.0, -0.0, 0.5, -0.5, 1e-300, -1e-300, 1e18, -1e18, 1e300, -1e300, infinity, -infinity};
    for (double e : edges)
        for (double d : {-1.0, -0.5, 0.0, 0.5, 1.0, 1e5}) {
            values.push_back(e + d);
            values.push_back(std::nextafter(e + d, infinity));
            values.push_back(std::nextafter(e + d, -infinity));
        }
    return values;
}

void test_codes_around_edges() {
    const Values cases[] = {{},
                            {0.0},
                            {-0.0},
                            {5.0},
                            {-7.0},
                            {-7.0, -6.0, 0.0, 3.0},
                            {-7.5, -6.0, 0.25, 3.0},
                            {0.1, 0.2, 0.3},
                            {0.0, 65534.0},
                            {0.0, 65535.0},
                            {0.0, 65536.0},
                            {-1e6, -1e6 + 1, -1e6 + 40000},
                            {-1e300, 0.0, 1e300},
                            {1e-310, 1e-300},
                            {-infinity, 0.0},
                            {4503599627370496.0, 4503599627370497.0},
                            {9007199254740990.0, 9007199254740991.0},
                            {9007199254740992.0},
                            {9007199254740992.0, 9007199254740994.0},
                            {-9007199254740994.0, -9007199254740992.0},
                            {1e18},
                            {-1e18, -1e18 + 256.0},
                            {1.7e18, 1.7e18 + 256.0, 1.7e18 + 1024.0},
                            {-1e300},
                            {1e300}};
    for (const Values& edges : cases) check_codes(around(edges), edges);
}

void test_edges_and_codes_of_random_values() {
    std::mt19937_64 engine(2);
    for (int round = 0; round < 60; ++round) {
        Values values(400);
        const double spread = round % 3 == 0 ? 30.0 : 3e4;
        std::normal_distribution<double> normal(-10.0, spread);
        for (double& v : values) v = round % 2 == 0 ? std::round(normal(engine)) : normal(engine);
        for (Index max_bins : {1, 2, 3, 7, 100, 399, 400, 1000}) check_edges(values, max_bins);
        check_codes(values, bin_edges(values, 50));
        check_codes(around(values), bin_edges(values, 1000));
    }
}

void test_edges_and_codes_of_large_integers() {
    Values stamps;
    for (int i = 0; i < 300; ++i) stamps.push_back(1.7e18 + 256.0 * (i * 37 % 101));
    for (Index max_bins : {2, 10, 1000}) {
        check_edges(stamps, max_bins);
        check_codes(stamps, bin_edges(stamps, max_bins));
    }
}

void test_edges_and_codes_of_sixty_thousand_values() {
    Values values;
    for (int i = 0; i < 60000; ++i) values.push_back(static_cast<double>(i * 7 % 60000) - 30000.0);
    Values sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (double step : {1.0, 0.5}) {
        Values scaled = values;
        for (double& v : scaled) v *= step;
        const Values edges = bin_edges(scaled, 60000);
        CHECK(edges.size() == 59999, "60 000 distinct values");
        std::vector<std::uint16_t> codes(scaled.size());
        bin_codes(std::span<const double>(scaled), std::span<const double>(edges), codes.data());
        bool right = true;
        for (std::size_t i = 0; i < codes.size(); ++i) right &= sorted[codes[i]] * step == scaled[i];
        CHECK(right, "codes of 60 000 distinct values");
        CHECK(bin_edges(scaled, 1000).size() == 999, "60 000 distinct values in 1000 bins");
    }
}

}  // namespace

int main() {
    test_edges_and_codes_of_all_small_arrays();
    test_codes_around_edges();
    test_edges_and_codes_of_random_values();
    test_edges_and_codes_of_large_integers();
    test_edges_and_codes_of_sixty_thousand_values();
    return finish("binning");
}
