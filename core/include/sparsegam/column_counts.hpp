// sparsegam/column_counts.hpp: counts the rows for which each column of a threshold design is one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "score_tables.hpp"

namespace sparsegam {

// Value of each row: its weight, or 1 if the mask is true, or 1 for all rows. Weights are added in the order of the
// rows.
struct Counting {
    std::span<const double> weight;
    std::span<const bool> mask;

    Index of(std::size_t row) const { return mask.empty() ? 1 : mask[row]; }
};

// Counts rows for features with two bins, of which there are often hundreds.
template <class Code>
void count_two(std::span<const Code> codes, const Counting& counting, double* rows) {
    Index all = 0, upper = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        all += counting.of(i);
        upper += codes[i] & counting.of(i);
    }
    rows[0] = static_cast<double>(all - upper);
    rows[1] = static_cast<double>(upper);
}

// Counts rows per bin in four alternating counters. A single counter would have to wait for its last increment when
// consecutive rows are in the same bin.
template <class Code>
void count(std::span<const Code> codes, Index n_bins, const Counting& counting, double* rows) {
    std::vector<Index> counts(4 * n_bins, 0);
    std::size_t i = 0;
    for (; i + 4 <= codes.size(); i += 4)
        for (Index turn = 0; turn < 4; ++turn) counts[turn * n_bins + codes[i + turn]] += counting.of(i + turn);
    for (; i < codes.size(); ++i) counts[codes[i]] += counting.of(i);
    for (Index b = 0; b < n_bins; ++b)
        rows[b] = static_cast<double>(counts[b] + counts[n_bins + b] + counts[2 * n_bins + b] + counts[3 * n_bins + b]);
}

// Adds the value of each row to its bin.
template <class Code>
void add_rows(std::span<const Code> codes, Index n_bins, const Counting& counting, double* sums) {
    if (!counting.weight.empty())
        for (std::size_t i = 0; i < codes.size(); ++i) sums[codes[i]] += counting.weight[i];
    else if (n_bins == 2)
        count_two(codes, counting, sums);
    else if (!codes.empty())
        count(codes, n_bins, counting, sums);
}

// Returns the counts of the columns of some features, one feature after the other: for an ordered bin, the rows in all
// bins up to it, and for a ramp, the rows below its knot.
inline std::vector<double> column_counts(const ThresholdDesign& design, std::span<const Index> features,
                                         const Counting& counting) {
    const std::size_t n_rows = static_cast<std::size_t>(design.n_rows());
    std::vector<double> all;
    for (Index f : features) {
        const Feature& feature = design.feature(f);
        const std::size_t start = all.size();
        all.resize(start + feature.n_columns(), 0.0);
        double* counts = all.data() + start;
        if (feature.codes.narrow)
            add_rows(std::span(feature.codes.narrow, n_rows), feature.n_bins, counting, counts);
        else
            add_rows(std::span(feature.codes.wide, n_rows), feature.n_bins, counting, counts);
        std::partial_sum(counts, counts + feature.n_ordered, counts);
        const auto& centre = feature.ramps.centre;
        for (Index r = 0; r < feature.ramps.size(); ++r) {
            const auto below = std::lower_bound(centre.begin(), centre.end(), feature.ramps.knot(r)) - centre.begin();
            counts[feature.n_bins + r] = below == 0 ? 0.0 : counts[below - 1];
        }
    }
    return all;
}

}  // namespace sparsegam
