// sparsegam/support_design.hpp: a reduced design with only the bins that the columns of a support distinguish.
//
// A support has few thresholds of a feature with hundreds of bins. In the reduced design, the histograms for its Gram
// matrix fit into the first-level cache, and features with few such bins are counted together (joint_codes.hpp).
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
    // Not copyable, since the design has pointers to its codes.
    SupportDesign(const SupportDesign&) = delete;
    SupportDesign& operator=(const SupportDesign&) = delete;

    bool is_of(std::span<const Index> support) const {
        return std::equal(support.begin(), support.end(), support_.begin(), support_.end());
    }

    const ThresholdDesign& design() const { return reduced_; }
    // The support in the reduced design.
    std::span<const Index> columns() const { return columns_; }
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

    // Merges the bins of a feature that its columns in the support do not distinguish: one bin for each step (up to its
    // threshold and above the previous one), one for each level, and one for the rest. With ramps, all bins are kept.
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
    // Codes of the features with merged bins.
    std::vector<std::vector<std::uint8_t>> codes_;
    ThresholdDesign reduced_;
};

}  // namespace sparsegam
