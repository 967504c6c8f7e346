// sparsegam/joint_codes.hpp: several features of few bins counted as one: hundreds of 0/1 columns cost like one histogram.
//
// The code of a row is a number in mixed radix whose digits are its codes in the features. One histogram over the joint
// bins has the sums of all of them; folding it digit by digit gives each feature's own.
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
    static constexpr Index max_bins = 64;  // joint ones: four histograms beside 15 terms stay in a first-level cache

    // Features in the order of their digits, least first. Their bins multiply to max_bins at most.
    JointCodes(std::vector<Index> features, std::span<const Feature> all, Index n_rows)
        : features_(std::move(features)), codes_(n_rows, 0) {
        for (Index f : features_) {
            const Feature& feature = all[f];
            radix_.push_back(feature.n_bins);
            const auto place = static_cast<std::uint8_t>(n_bins_);
            const std::uint8_t* digit = feature.codes.narrow;
            std::uint8_t* code = codes_.data();  // all in bytes and by itself: the compiler takes many rows at once
            for (Index i = 0; i < n_rows; ++i) code[i] = static_cast<std::uint8_t>(code[i] + digit[i] * place);
            n_bins_ *= feature.n_bins;
        }
    }

    std::span<const Index> features() const { return features_; }
    Index n_bins() const { return n_bins_; }
    Codes codes() const { return {codes_.data(), nullptr}; }

    // Sums per joint bin become sums per bin of each feature; `take(feature, bin)` says where they go (nowhere: null).
    // The joint sums, whose stride is padded, are used up.
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

    // A table by joint bin from the tables of all features (of those that have none: zeros).
    template <class TableOf>
    std::vector<double> join(const TableOf& table_of) const {
        std::vector<double> joint(n_bins_);
        Index below = 1;
        for (std::size_t d = 0; d < features_.size(); ++d) {
            const double* table = table_of(features_[d]);
            for (Index digit = radix_[d] - 1; digit >= 0; --digit) {  // the first last: the others are made of it
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

    // The sum of some bins, a pack of channels after the other: it stays in registers.
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

// Features that go together, few enough bins each; those that are alone are left out.
inline std::vector<JointCodes> joint_codes(std::span<const Feature> features, Index n_rows) {
    std::vector<JointCodes> out;
    std::vector<Index> chosen;
    Index n_bins = 1;
    const auto close = [&] {
        if (chosen.size() > 1) out.emplace_back(std::move(chosen), features, n_rows);
        chosen.clear();
        n_bins = 1;
    };
    for (Index bins = 1; bins * bins <= JointCodes::max_bins; ++bins)  // those of equally many bins beside each other
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
