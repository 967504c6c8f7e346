// sparsegam/column_threshold.hpp: the threshold design: features as bin codes, never expanded into columns.
//
// A sum over rows for all columns of a feature is one histogram and one prefix sum: O(n) per feature, not
// O(n x thresholds). Channels carry several sums at once: [g, h, h x_1 ... h x_k] for a scan, [g, h, loss] for groups.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "histogram.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace sparsegam {

// What each row adds to its bins. `value` is the third channel where it is asked for; those of the support carry `held`.
struct Channels {
    const double *grad, *curv, *value, *held;
    std::span<const Index> support;

    Index count() const { return 2 + (value ? 1 : 0) + static_cast<Index>(support.size()); }
};

class ThresholdDesign {
  public:
    ThresholdDesign(std::vector<Feature> features, Index n_rows) : features_(std::move(features)), n_rows_(n_rows) {
        for (Index f = 0; f < n_features(); ++f) {
            features_[f].offset = n_columns_;
            n_columns_ += features_[f].n_bins;
            feature_of_.insert(feature_of_.end(), features_[f].n_bins, f);
            nested_.push_back({features_[f].offset, features_[f].offset + features_[f].n_ordered});
        }
    }

    Index n_rows() const { return n_rows_; }
    Index n_columns() const { return n_columns_; }
    Index n_features() const { return static_cast<Index>(features_.size()); }
    const Feature& feature(Index f) const { return features_[f]; }
    Index feature_of(Index column) const { return feature_of_[column]; }
    bool is_ordered(Index column) const {
        const Feature& feature = features_[feature_of_[column]];
        return column - feature.offset < feature.n_ordered;
    }
    std::span<const Nested> nested() const { return nested_; }

    // One lookup table per feature on the support: the score of a row is the sum of its bins' entries.
    using Tables = std::vector<std::pair<Index, std::vector<double>>>;

    Tables tables(const Point& point) const {
        Tables out;
        for (Index s = 0; s < point.size(); ++s) {
            const Index f = feature_of_[point.columns[s]];
            auto at = std::find_if(out.begin(), out.end(), [&](const auto& entry) { return entry.first == f; });
            if (at == out.end()) at = out.emplace(out.end(), f, std::vector<double>(features_[f].n_bins, 0.0));
            features_[f].add_to_table(point.columns[s] - features_[f].offset, point.coef[s], at->second.data());
        }
        return out;
    }

    void score(const Tables& tables, double intercept, Index begin, Index end, double* score) const noexcept {
        std::fill(score, score + (end - begin), intercept);
        for (const auto& [f, table] : tables) features_[f].codes.add_table(begin, end, table.data(), score);
    }

    // Sums per column of the named features, `stride` = padded(channels) apart; columns of other features are
    // left alone. Real is the type that rows are added in: float for a scan, whose results are predictions,
    // else double.
    template <class Real>
    void sum(const Channels& channels, std::span<const Index> features, Pool& pool, std::vector<double>& sums) const {
        sums.resize(static_cast<std::size_t>(n_columns_ * padded(channels.count())));
        const Index count = static_cast<Index>(features.size());
        const Index tasks = std::min(count, std::max(pool.n_threads(), n_rows_ > many_rows ? count / 4 : Index{1}));
        pool.run(tasks, [&](Index t) {
            const Index first = count * t / tasks, last = count * (t + 1) / tasks;
            sum_some<Real>(channels, features.subspan(first, last - first), sums.data());
        });
    }

  private:
    static constexpr Index block = 256;          // rows whose channels stay in the first-level cache
    static constexpr Index few_rows = 8192;      // rows that floats may add up before doubles take over
    static constexpr Index many_rows = 200'000;  // beyond: shorter tasks, so that Ctrl-C is noticed between them

    template <class Real>
    void sum_some(const Channels& channels, std::span<const Index> features, double* sums) const {
        const Index stride = padded(channels.count());
        std::vector<const Feature*> chosen;
        for (Index f : features) {
            chosen.push_back(&features_[f]);
            double* bins = sums + features_[f].offset * stride;
            std::fill(bins, bins + features_[f].n_bins * stride, 0.0);
        }
        Histograms<Real> histograms(chosen, stride);
        std::vector<Real> rows(static_cast<std::size_t>(block * stride), Real(0));
        for (Index begin = 0; begin < n_rows_; begin += block) {
            const Index end = std::min(begin + block, n_rows_);
            fill(channels, begin, end, stride, rows.data());
            histograms.add(begin, end, rows.data());
            if (end % few_rows == 0 || end == n_rows_) histograms.flush(sums);
        }
        for (const Feature* f : chosen) f->columns_from_bins(sums + f->offset * stride, stride);
    }

    template <class Real>
    void fill(const Channels& channels, Index begin, Index end, Index stride, Real* rows) const noexcept {
        for (Index i = begin; i < end; ++i) {
            rows[(i - begin) * stride] = static_cast<Real>(channels.grad[i]);
            rows[(i - begin) * stride + 1] = static_cast<Real>(channels.curv[i]);
        }
        Index channel = 2;
        if (channels.value) {
            for (Index i = begin; i < end; ++i) rows[(i - begin) * stride + 2] = static_cast<Real>(channels.value[i]);
            channel = 3;
        }
        for (Index column : channels.support) {
            const Feature& feature = features_[feature_of_[column]];
            const Index bin = column - feature.offset;
            feature.codes.fill_channel(begin, end, feature.first(bin), feature.last(bin), channels.held + begin, stride,
                                       rows + channel++);
        }
    }

    std::vector<Feature> features_;
    std::vector<Index> feature_of_;
    std::vector<Nested> nested_;
    Index n_rows_ = 0, n_columns_ = 0;
};

}  // namespace sparsegam
