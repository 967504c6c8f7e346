// sparsegam/pair_sums.hpp: sums gradient and curvature over the two-dimensional coarse bins of pairs of features.
//
// Each row adds two values to one entry of each pair's table. Tables of 32 x 32 entries fit into the first-level cache,
// and a block of rows into the second-level cache while all pairs of a task are processed.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel.hpp"
#include "rows.hpp"
#include "threshold_design.hpp"

namespace sparsegam {

class PairSums {
  public:
    PairSums(const ThresholdDesign& design, std::span<const CoarseBins> coarse_bins, std::span<const FeaturePair> pairs)
        : design_(design), coarse_bins_(coarse_bins), pairs_(pairs) {
        check_bins();
        check_pairs(coarse_bins, pairs);
    }

    // Each table is summed by one thread in the order of the rows, so that results do not depend on the number of
    // threads.
    void sum(const double* grad, const double* curv, Pool& pool, const PairCallback& take) const {
        const Index count = static_cast<Index>(pairs_.size());
        pool.run((count + at_once - 1) / at_once, [&](Index task) {
            const Index first = task * at_once, last = std::min(first + at_once, count);
            sum_some(first, last, grad, curv, take);
        });
    }

  private:
    // Number of rows in a block: 128 kB of gradient and curvature.
    static constexpr Index block = 8192;
    // Number of pairs per task.
    static constexpr Index at_once = 8;

    void sum_some(Index first, Index last, const double* grad, const double* curv, const PairCallback& take) const {
        // Gradient and curvature, interleaved.
        std::vector<std::vector<double>> tables;
        for (Index p = first; p < last; ++p) tables.emplace_back(2 * n_coarse(p), 0.0);
        for (Index begin = 0; begin < design_.n_rows(); begin += block) {
            const Index end = std::min(begin + block, design_.n_rows());
            for (Index p = first; p < last; ++p) add(pairs_[p], begin, end, grad, curv, tables[p - first].data());
        }
        std::vector<double> apart;
        for (Index p = first; p < last; ++p) {
            const std::size_t n = tables[p - first].size() / 2;
            apart.resize(2 * n);
            for (std::size_t i = 0; i < n; ++i) {
                apart[i] = tables[p - first][2 * i];
                apart[n + i] = tables[p - first][2 * i + 1];
            }
            take(p, std::span(apart).first(n), std::span(apart).last(n));
        }
    }

    void add(const FeaturePair& pair, Index begin, Index end, const double* grad, const double* curv,
             double* table) const noexcept {
        const auto with = [&](const auto* a, const auto* b) {
            const std::uint8_t *row = coarse_bins_[pair.first].of_bin.data(),
                               *place = coarse_bins_[pair.second].of_bin.data();
            const Index width = coarse_bins_[pair.second].n_coarse;
            for (Index i = begin; i < end; ++i) {
                double* cell = table + 2 * (row[a[i]] * width + place[b[i]]);
                cell[0] += grad[i];
                cell[1] += curv[i];
            }
        };
        const Codes a = design_.feature(pair.first).codes, b = design_.feature(pair.second).codes;
        if (a.narrow)
            b.narrow ? with(a.narrow, b.narrow) : with(a.narrow, b.wide);
        else
            b.narrow ? with(a.wide, b.narrow) : with(a.wide, b.wide);
    }

    std::size_t n_coarse(Index pair) const {
        return static_cast<std::size_t>(coarse_bins_[pairs_[pair].first].n_coarse *
                                        coarse_bins_[pairs_[pair].second].n_coarse);
    }

    void check_bins() const {
        if (static_cast<Index>(coarse_bins_.size()) != design_.n_features())
            throw std::invalid_argument("coarse_bins must have one entry per feature, got " +
                                        std::to_string(coarse_bins_.size()) + " for " +
                                        std::to_string(design_.n_features()));
        for (Index f = 0; f < design_.n_features(); ++f) {
            const Index n_bins = design_.feature(f).n_bins, given = static_cast<Index>(coarse_bins_[f].of_bin.size());
            if (given != 0 && given != n_bins)
                throw std::invalid_argument("feature " + std::to_string(f) + " needs a coarse bin for each of its " +
                                            std::to_string(n_bins) + " bins, got " + std::to_string(given));
        }
    }

    const ThresholdDesign& design_;
    std::span<const CoarseBins> coarse_bins_;
    std::span<const FeaturePair> pairs_;
};

}  // namespace sparsegam
