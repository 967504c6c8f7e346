// sparsegam/support_design.hpp: the bins that the columns of a support tell apart: a design of few bins, for sums about it.
//
// A support has a few thresholds of a feature with hundreds of bins. Summed by what it tells apart, its Gram matrix takes
// histograms that stay in a first-level cache, and features of few such bins are counted as one (joint_codes.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "threshold_design.hpp"

namespace sparsegam {

class SupportDesign {
  public:
    SupportDesign(const ThresholdDesign& design, std::span<const Index> support)
        : support_(support.begin(), support.end()), columns_(support.size()), reduced_(built_from(design)) {}
    SupportDesign(const SupportDesign&) = delete;  // its codes are pointed to
    SupportDesign& operator=(const SupportDesign&) = delete;

    bool is_of(std::span<const Index> support) const {
        return std::equal(support.begin(), support.end(), support_.begin(), support_.end());
    }

    const ThresholdDesign& design() const { return reduced_; }
    std::span<const Index> columns() const { return columns_; }  // the support, in that design
    std::vector<Index> features() const {
        std::vector<Index> all(reduced_.n_features());
        std::iota(all.begin(), all.end(), Index{0});
        return all;
    }

  private:
    static constexpr Index max_bins = 256;

    ThresholdDesign built_from(const ThresholdDesign& design) {
        std::vector<std::vector<Index>> positions_on(design.n_features());
        for (std::size_t s = 0; s < support_.size(); ++s) positions_on[design.feature_of(support_[s])].push_back(s);
        std::vector<Feature> features;
        Index offset = 0;
        for (Index f = 0; f < design.n_features(); ++f) {
            if (positions_on[f].empty()) continue;
            features.push_back(merged_bins(design.feature(f), positions_on[f], design.n_rows()));
            for (Index s : positions_on[f]) columns_[s] += offset;
            offset += features.back().n_columns();
        }
        return ThresholdDesign(std::move(features), design.n_rows());
    }

    // The feature with the bins that its columns on the support tell apart: for each of its steps the bins up to it and
    // not to the one before, its levels, and all the rest. Ramps tell every bin apart.
    Feature merged_bins(const Feature& feature, std::span<const Index> positions, Index n_rows) {
        std::vector<Index> bins;
        for (Index s : positions) bins.push_back(columns_[s] = support_[s] - feature.offset);
        std::sort(bins.begin(), bins.end());
        const Index n_bins = static_cast<Index>(bins.size()) + 1;
        if (feature.is_ramp(bins.back()) || n_bins > std::min(max_bins, feature.n_bins)) return feature;
        const auto levels = std::lower_bound(bins.begin(), bins.end(), feature.n_ordered);
        std::vector<std::uint8_t> table(feature.n_bins, static_cast<std::uint8_t>(bins.size()));
        for (Index b = 0; b < feature.n_bins; ++b) {
            const auto at = std::lower_bound(bins.begin(), b < feature.n_ordered ? levels : bins.end(), b);
            const bool covered = b < feature.n_ordered ? at != levels : at != bins.end() && *at == b;
            if (covered) table[b] = static_cast<std::uint8_t>(at - bins.begin());
        }
        for (Index s : positions) columns_[s] = table[columns_[s]];
        Feature out;
        out.n_bins = n_bins;
        out.n_ordered = levels - bins.begin();
        out.codes = {codes_.emplace_back(mapped(feature.codes, table, n_rows)).data(), nullptr};
        return out;
    }

    static std::vector<std::uint8_t> mapped(const Codes& codes, const std::vector<std::uint8_t>& table, Index n_rows) {
        std::vector<std::uint8_t> out(n_rows);
        if (codes.narrow)
            for (Index i = 0; i < n_rows; ++i) out[i] = table[codes.narrow[i]];
        else
            for (Index i = 0; i < n_rows; ++i) out[i] = table[codes.wide[i]];
        return out;
    }

    std::vector<Index> support_, columns_;
    std::vector<std::vector<std::uint8_t>> codes_;  // of the features that are told apart anew
    ThresholdDesign reduced_;
};

}  // namespace sparsegam
