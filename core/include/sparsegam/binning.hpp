// sparsegam/binning.hpp: thresholds of a numeric column and the bins of its values. NaN is not allowed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// Integers within a range smaller than this are counted instead of sorted.
inline constexpr double max_counted_range = 65536.0;

// Distinct values in ascending order with their counts.
struct Distinct {
    std::vector<double> values;
    std::vector<Index> counts;
};

// 2^52: up to here, all integers are exact and have a spacing of at most one.
inline constexpr double max_exact_integer = 4503599627370496.0;

// Returns the smallest and the largest value of a non-empty array.
inline std::pair<double, double> range_of(std::span<const double> values) {
    double low = values[0], high = values[0];
#pragma omp simd reduction(min : low) reduction(max : high)
    for (std::size_t i = 1; i < values.size(); ++i) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return {low, high};
}

// The distance of a value from a nearby integer below it, rounded down.
inline std::int32_t integer_distance(double value, double low) { return static_cast<std::int32_t>(value - low); }

// Whether all values are integers within a small range. floor() is avoided, since it is a function call per value on
// old processors.
inline bool are_close_integers(std::span<const double> values, double low, double high) {
    if (!(high - low < max_counted_range && low > -max_exact_integer && high < max_exact_integer &&
          low == std::floor(low)))
        return false;
    std::int64_t others = 0;
#pragma omp simd reduction(+ : others)
    for (std::size_t i = 0; i < values.size(); ++i) others += low + integer_distance(values[i], low) != values[i];
    return others == 0;
}

// For columns of zeros and ones, of which there are often hundreds. The result is empty if there are other values than
// these two.
inline Distinct distinct_of_two(std::span<const double> values, double low, double high) {
    std::int64_t n_low = 0, n_high = 0;
#pragma omp simd reduction(+ : n_low, n_high)
    for (std::size_t i = 0; i < values.size(); ++i) {
        n_low += values[i] == low;
        n_high += values[i] == high;
    }
    if (low == high || n_low + n_high != static_cast<std::int64_t>(values.size())) return {};
    return {{low, high}, {n_low, n_high}};
}

inline Distinct distinct_integers(std::span<const double> values, double low, double high) {
    std::vector<Index> count(static_cast<std::size_t>(high - low) + 1, 0);
    for (double v : values) ++count[integer_distance(v, low)];
    Distinct out;
    for (std::size_t i = 0; i < count.size(); ++i) {
        if (count[i] == 0) continue;
        out.values.push_back(low + static_cast<double>(i));
        out.counts.push_back(count[i]);
    }
    return out;
}

inline Distinct distinct_sorted(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    Distinct out;
    for (double v : sorted) {
        if (out.values.empty() || out.values.back() != v) {
            out.values.push_back(v);
            out.counts.push_back(0);
        }
        ++out.counts.back();
    }
    return out;
}

inline Distinct distinct(std::span<const double> values) {
    if (values.empty()) return {};
    const auto [low, high] = range_of(values);
    Distinct two = distinct_of_two(values, low, high);
    if (!two.values.empty()) return two;
    return are_close_integers(values, low, high) ? distinct_integers(values, low, high) : distinct_sorted(values);
}

// Selects thresholds, from the lowest up, such that there are enough rows below the first, between any two and above
// the last of them, given the number of rows per bin.
template <class Count>
std::vector<Index> select_thresholds(std::span<const Count> rows, Count min_count) {
    std::vector<Index> kept;
    Count between = 0, above = std::accumulate(rows.begin(), rows.end(), Count(0));
    for (std::size_t bin = 0; bin + 1 < rows.size(); ++bin) {
        between += rows[bin];
        above -= rows[bin];
        if (between < min_count) continue;
        if (above < min_count) break;
        kept.push_back(static_cast<Index>(bin));
        between = 0;
    }
    return kept;
}

// Merges distinct values with those below them such that at most max_bins bins remain, at the quantiles 1/max_bins,
// 2/max_bins and so on.
inline Distinct at_quantiles(const Distinct& all, Index n_values, Index max_bins) {
    Distinct out;
    const double share = static_cast<double>(n_values) / static_cast<double>(max_bins);
    Index below = 0, mine = 0;
    for (std::size_t i = 0; i < all.values.size(); ++i) {
        below += all.counts[i];
        mine += all.counts[i];
        const Index n = static_cast<Index>(out.values.size());
        const bool ends = n < max_bins - 1 && static_cast<double>(below) >= share * static_cast<double>(n + 1);
        if (!ends && i + 1 < all.values.size()) continue;
        out.values.push_back(all.values[i]);
        out.counts.push_back(mine);
        mine = 0;
    }
    return out;
}

// Returns the thresholds t of the columns `x <= t`: every distinct value except the largest, or quantiles if there are
// more than max_bins distinct values. Thresholds are dropped such that each bin has at least min_rows rows.
inline std::vector<double> bin_edges(std::span<const double> values, Index max_bins, Index min_rows = 1) {
    Distinct bins = distinct(values);
    if (static_cast<Index>(bins.values.size()) > max_bins)
        bins = at_quantiles(bins, static_cast<Index>(values.size()), max_bins);
    if (!bins.values.empty()) bins.values.pop_back();
    if (min_rows <= 1) return bins.values;
    std::vector<double> edges;
    for (Index bin : select_thresholds<Index>(bins.counts, min_rows)) edges.push_back(bins.values[bin]);
    return edges;
}

// Returns the number of edges below a value. The half is selected by a multiplication, since a branch would be
// mispredicted half of the time.
inline std::size_t edges_below(std::span<const double> edges, double value) noexcept {
    if (edges.empty()) return 0;
    const double* first = edges.data();
    for (std::size_t left = edges.size(); left > 1; left -= left / 2) {
        const std::size_t half = left / 2;
        first += (first[half - 1] < value) * half;
    }
    return static_cast<std::size_t>(first - edges.data()) + (*first < value);
}

// code = number of edges below the value, so that code <= b is equivalent to value <= edges[b].
template <class Code>
void bin_by_search(std::span<const double> values, std::span<const double> edges, Code* codes) {
    for (std::size_t i = 0; i < values.size(); ++i) codes[i] = static_cast<Code>(edges_below(edges, values[i]));
}

// Uses a table if the edges are integers: value <= t is equivalent to ceil(value) <= t.
template <class Code>
void bin_by_table(std::span<const double> values, std::span<const double> edges, Code* codes) {
    const double low = edges.front(), high = edges.back() + 1.0;
    std::vector<Code> table(static_cast<std::size_t>(high - low) + 1);
    std::size_t bin = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        while (bin < edges.size() && edges[bin] < low + static_cast<double>(i)) ++bin;
        table[i] = static_cast<Code>(bin);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = std::clamp(values[i], low, high);
        const std::int32_t place = integer_distance(value, low);
        codes[i] = table[place + (low + place < value)];
    }
}

template <class Code>
void bin_by_one(std::span<const double> values, double edge, Code* codes) {
    for (std::size_t i = 0; i < values.size(); ++i) codes[i] = values[i] > edge ? Code(1) : Code(0);
}

template <class Code>
void bin_codes(std::span<const double> values, std::span<const double> edges, Code* codes) {
    const bool table = !edges.empty() && are_close_integers(edges, edges.front(), edges.back());
    if (edges.size() == 1)
        bin_by_one(values, edges[0], codes);
    else if (table)
        bin_by_table(values, edges, codes);
    else
        bin_by_search(values, edges, codes);
}

}  // namespace sparsegam
