// sparsegam/binning.hpp: thresholds of a numeric column and the bin of each of its values. No NaN comes here.
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

inline constexpr double small_range = 65536.0;  // whole numbers in a range this small are counted, not sorted

// Distinct values in ascending order with their counts.
struct Distinct {
    std::vector<double> values;
    std::vector<Index> counts;
};

inline constexpr double exact = 4503599627370496.0;  // 2^52: whole numbers up to here have all their neighbours

// The smallest and the largest, of one value at least.
inline std::pair<double, double> range_of(std::span<const double> values) {
    double low = values[0], high = values[0];
#pragma omp simd reduction(min : low) reduction(max : high)
    for (std::size_t i = 1; i < values.size(); ++i) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return {low, high};
}

// How far a value is above a whole number, of which it is so close; cut down to a whole number.
inline std::int32_t above(double value, double low) { return static_cast<std::int32_t>(value - low); }

// Are all of them whole numbers. No floor: it is a call for each value where processors are old.
inline bool whole_and_close(std::span<const double> values, double low, double high) {
    if (!(high - low < small_range && low > -exact && high < exact && low == std::floor(low))) return false;
    std::int64_t others = 0;
#pragma omp simd reduction(+ : others)
    for (std::size_t i = 0; i < values.size(); ++i) others += low + above(values[i], low) != values[i];
    return others == 0;
}

// Of columns of zeros and ones there are often hundreds. Empty where there are more values than these two.
inline Distinct distinct_two(std::span<const double> values, double low, double high) {
    std::int64_t n_low = 0, n_high = 0;
#pragma omp simd reduction(+ : n_low, n_high)
    for (std::size_t i = 0; i < values.size(); ++i) {
        n_low += values[i] == low;
        n_high += values[i] == high;
    }
    if (low == high || n_low + n_high != static_cast<std::int64_t>(values.size())) return {};
    return {{low, high}, {n_low, n_high}};
}

inline Distinct distinct_whole(std::span<const double> values, double low, double high) {
    std::vector<Index> count(static_cast<std::size_t>(high - low) + 1, 0);
    for (double v : values) ++count[above(v, low)];
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
    Distinct two = distinct_two(values, low, high);
    if (!two.values.empty()) return two;
    return whole_and_close(values, low, high) ? distinct_whole(values, low, high) : distinct_sorted(values);
}

// Which thresholds stay, from the lowest up, so that there are rows enough between any two, and beyond the outermost; given
// how many are in each bin.
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

// Distinct values that are joined with those below them, so that there are no more than max_bins: at the quantiles
// 1/max_bins, 2/max_bins ...
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

// Thresholds t of the columns `x <= t`: every distinct value but the largest, or where those would make more than max_bins
// bins, the values at quantiles; of these so many that each bin has at least min_rows.
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

// How many edges are below a value. A half is chosen by a product, not by a branch, which would be mispredicted every other
// time.
inline std::size_t edges_below(std::span<const double> edges, double value) noexcept {
    if (edges.empty()) return 0;
    const double* first = edges.data();
    for (std::size_t left = edges.size(); left > 1; left -= left / 2) {
        const std::size_t half = left / 2;
        first += (first[half - 1] < value) * half;
    }
    return static_cast<std::size_t>(first - edges.data()) + (*first < value);
}

// code = number of edges below the value, so that code <= b exactly when value <= edges[b].
template <class Code>
void bin_by_search(std::span<const double> values, std::span<const double> edges, Code* codes) {
    for (std::size_t i = 0; i < values.size(); ++i) codes[i] = static_cast<Code>(edges_below(edges, values[i]));
}

// The same through a table, where the edges are whole numbers: value <= t exactly when ceil(value) <= t.
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
        const std::int32_t place = above(value, low);
        codes[i] = table[place + (low + place < value)];
    }
}

template <class Code>
void bin_by_one(std::span<const double> values, double edge, Code* codes) {
    for (std::size_t i = 0; i < values.size(); ++i) codes[i] = values[i] > edge ? Code(1) : Code(0);
}

template <class Code>
void bin_codes(std::span<const double> values, std::span<const double> edges, Code* codes) {
    const bool table = !edges.empty() && whole_and_close(edges, edges.front(), edges.back());
    if (edges.size() == 1)
        bin_by_one(values, edges[0], codes);
    else if (table)
        bin_by_table(values, edges, codes);
    else
        bin_by_search(values, edges, codes);
}

}  // namespace sparsegam
