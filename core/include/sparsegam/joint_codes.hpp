// sparsegam/joint_codes.hpp: counts several features with few bins in one histogram, so that hundreds of 0/1 columns
// cost no more than a few features.
//
// The joint code of a row is a number in mixed radix whose digits are its codes in the features. One histogram over the
// joint bins contains the sums of all features, which are extracted digit by digit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "histogram.hpp"

namespace sparsegam {

class JointCodes {
  public:
    // Maximum number of joint bins: with 15 terms, four such histograms fit into the first-level cache.
    static constexpr Index max_bins = 64;

    // `features` are in the order of their digits, the least significant first. The product of their numbers of bins is
    // at most max_bins.
    JointCodes(std::vector<Index> features, std::span<const Feature> all, Index n_rows)
        : features_(std::move(features)), codes_(n_rows, 0) {
        for (Index f : features_) {
            const Feature& feature = all[f];
            radix_.push_back(feature.n_bins);
            const auto place = static_cast<std::uint8_t>(n_bins_);
            const std::uint8_t* digit = feature.codes.narrow;
            // This loop uses bytes only, so that the compiler vectorises it for many rows at once.
            std::uint8_t* code = codes_.data();
            for (Index i = 0; i < n_rows; ++i) code[i] = static_cast<std::uint8_t>(code[i] + digit[i] * place);
            n_bins_ *= feature.n_bins;
        }
    }

    std::span<const Index> features() const { return features_; }
    Index n_bins() const { return n_bins_; }
    Codes codes() const { return {codes_.data(), nullptr}; }

    // Turns sums per joint bin into sums per bin of each feature, which are added to `take(feature, bin)` unless it is
    // null. This destroys the joint sums.
    template <class Take>
    void unfold(double* joint, Index stride, const Take& take) const {
        Index size = n_bins_;
        for (std::size_t d = features_.size(); d-- > 0;) {
            const Index rest = size / radix_[d];
            for (Index bin = 0; bin < radix_[d]; ++bin)
                if (double* to = take(features_[d], bin)) add_up(joint + bin * rest * stride, rest, stride, to);
            for (Index bin = 1; bin < radix_[d]; ++bin) add(joint + bin * rest * stride, rest * stride, joint);
            size = rest;
        }
    }

    // Returns the table by joint bin whose entries are the sums of the features' tables. Features without table count
    // as zero.
    template <class TableOf>
    std::vector<double> join(const TableOf& table_of) const {
        std::vector<double> joint(n_bins_);
        Index below = 1;
        for (std::size_t d = 0; d < features_.size(); ++d) {
            const double* table = table_of(features_[d]);
            // The first digit comes last, since the others are computed from its entries.
            for (Index digit = radix_[d] - 1; digit >= 0; --digit) {
                const double more = table ? table[digit] : 0.0;
                for (Index i = 0; i < below; ++i) joint[digit * below + i] = joint[i] + more;
            }
            below *= radix_[d];
        }
        return joint;
    }

  private:
    static void add(const double* from, Index n, double* to) {
        for (Index c = 0; c < n; ++c) to[c] += from[c];
    }

    // Adds several bins, one pack of channels after the other, so that sums remain in registers.
    static void add_up(const double* bins, Index n_bins, Index stride, double* to) {
        for (Index first = 0; first < stride; first += pack) {
            double sum[pack];
            std::copy_n(to + first, pack, sum);
            for (Index b = 0; b < n_bins; ++b)
                for (Index c = 0; c < pack; ++c) sum[c] += bins[b * stride + first + c];
            std::copy_n(sum, pack, to + first);
        }
    }

    std::vector<Index> features_;
    std::vector<std::uint8_t> codes_;
    std::vector<Index> radix_;
    Index n_bins_ = 1;
};

// Groups features with few bins such that each group can be counted together. Groups of one feature are omitted.
inline std::vector<JointCodes> joint_codes(std::span<const Feature> features, Index n_rows) {
    std::vector<JointCodes> out;
    std::vector<Index> chosen;
    Index n_bins = 1;
    const auto close = [&] {
        if (chosen.size() > 1) out.emplace_back(std::move(chosen), features, n_rows);
        chosen.clear();
        n_bins = 1;
    };
    // Features with the same number of bins are grouped together.
    for (Index bins = 1; bins * bins <= JointCodes::max_bins; ++bins)
        for (Index f = 0; f < static_cast<Index>(features.size()); ++f) {
            if (features[f].n_bins != bins || !features[f].codes.narrow) continue;
            if (n_bins * bins > JointCodes::max_bins) close();
            chosen.push_back(f);
            n_bins *= bins;
        }
    close();
    return out;
}

}  // namespace sparsegam
