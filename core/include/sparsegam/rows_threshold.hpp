// sparsegam/rows_threshold.hpp: Rows over the threshold design: every question is a histogram.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "column_threshold.hpp"
#include "rows_local.hpp"

namespace sparsegam {

class ThresholdRows final : public LocalRows {
  public:
    ThresholdRows(const ThresholdDesign& design, const double* y, const double* weight, Loss loss, Index n_threads)
        : LocalRows(design.n_rows(), y, weight, loss, n_threads),
          design_(design),
          every_(design.n_features()),
          columns_(design.n_columns()) {
        std::iota(every_.begin(), every_.end(), Index{0});
        std::iota(columns_.begin(), columns_.end(), Index{0});
        measure_spread();
    }

    bool zero_one() const override { return true; }
    Index n_columns() const override { return design_.n_columns(); }
    std::span<const Nested> nested() const override { return design_.nested(); }
    double largest(Index column) const override { return std::max(mean_[column], 1.0 - mean_[column]); }
    double reach(Index) const override { return self_concordance(loss_); }  // every column is 0/1

    Gram gram(std::span<const Index> support, bool rough) override {
        if (rough)
            sum<float>(support, features_on(support));
        else
            sum<double>(support, features_on(support));
        return gram_of(support);
    }

    // In floats: a scan is for predictions, and it is the one thing that takes time.
    void scan(std::span<const Index> support, ScanVisitor& visitor) override {
        held_ = curv_;
        sum<float>(support, every_);
        visitor.take_gram(gram_of(support));
        const double* sums = sums_.data();  // a 0/1 column is its own square
        visitor.take_block({columns_, {sums, stride_}, {sums + 1, stride_}, sums + 1, stride_});
    }

    double rescan(std::span<const Index> entered, const TakeBlock& take) override {
        const Channels channels{grad_.data(), curv_.data(), nullptr, held_.data(), entered};
        stride_ = padded(channels.count());
        design_.sum<float>(channels, every_, pool_, sums_);
        const double* sums = sums_.data();
        take({columns_, {sums, stride_}, {sums + 1, stride_}, sums + 2, stride_});
        return total_.grad;
    }

    bool can_focus() const override { return false; }  // a histogram has all thresholds of its feature
    bool focus(std::span<const Index>) override { return false; }

    const Groups& groups(std::span<const Index> columns) override {
        const Channels channels{grad_.data(), curv_.data(), value_.data(), nullptr, {}};
        design_.sum<double>(channels, features_on(columns), pool_, sums_);
        const Index stride = padded(channels.count());
        groups_ = {{sums_.data(), stride},
                   {sums_.data() + 1, stride},
                   {sums_.data() + 2, stride},
                   total_.grad,
                   total_.curv,
                   total_.value};
        return groups_;
    }

    // Along x - m: slope x'g - m 1'g, curvature (1 - 2m) x'h + m^2 1'h.
    Slopes slopes() override {
        sum<double>({}, every_);
        Slopes out{total_.value, total_.grad, std::vector<double>(n_columns()), std::vector<double>(n_columns())};
        for (Index c = 0; c < n_columns(); ++c) {
            const double m = mean_[c];
            out.slope[c] = sums_of(c)[0] - m * total_.grad;
            out.curv[c] = (1.0 - 2.0 * m) * sums_of(c)[1] + m * m * total_.curv;
        }
        return out;
    }

  protected:
    void values(Index column, Index begin, Index end, double* out) const override {
        const Feature& feature = design_.feature(design_.feature_of(column));
        const std::vector<double> ones(end - begin, 1.0);
        const Index bin = column - feature.offset;
        feature.codes.fill_channel(begin, end, feature.first(bin), feature.last(bin), ones.data(), 1, out);
    }

    void prepare(const Point& point) override { tables_ = design_.tables(point); }

    void score(const Point& point, Index begin, Index end, double* score) const override {
        design_.score(tables_, point.intercept, begin, end, score);
    }

  private:
    template <class Real>
    void sum(std::span<const Index> support, std::span<const Index> features) {
        const Channels channels{grad_.data(), curv_.data(), nullptr, curv_.data(), support};
        stride_ = padded(channels.count());
        design_.sum<Real>(channels, features, pool_, sums_);
    }

    // [x'g, x'h, x'(h x_1) ... x'(h x_k)] of a column, from the last sum.
    const double* sums_of(Index column) const { return sums_.data() + column * stride_; }

    // The sums of the support's own columns are its Gram matrix; those of the intercept are the totals.
    Gram gram_of(std::span<const Index> support) const {
        const Index k = static_cast<Index>(support.size());
        Gram gram{Symmetric(k + 1), std::vector<double>(k + 1)};
        gram.grad[0] = total_.grad;
        gram.curv(0, 0) = total_.curv;
        for (Index i = 0; i < k; ++i) {
            const double* sums = sums_of(support[i]);
            gram.grad[i + 1] = sums[0];
            gram.curv(0, i + 1) = gram.curv(i + 1, 0) = sums[1];
            for (Index j = 0; j < k; ++j) gram.curv(i + 1, j + 1) = sums[j + 2];
        }
        return gram;
    }

    std::vector<Index> features_on(std::span<const Index> support) const {
        std::vector<char> on(design_.n_features(), 0);
        for (Index column : support) on[design_.feature_of(column)] = 1;
        std::vector<Index> features;
        for (Index f = 0; f < design_.n_features(); ++f)
            if (on[f]) features.push_back(f);
        return features;
    }

    // sigma^2 of a 0/1 column with weight w on its ones, of W in all: w (1 - w / W).
    void measure_spread() {
        std::copy(weight_, weight_ + n_rows_, curv_.begin());
        const Channels channels{curv_.data(), curv_.data(), nullptr, nullptr, {}};
        design_.sum<double>(channels, every_, pool_, sums_);
        const double total = std::accumulate(curv_.begin(), curv_.end(), 0.0);
        const Index stride = padded(channels.count());
        spread_.resize(n_columns());
        mean_.resize(n_columns());
        for (Index c = 0; c < n_columns(); ++c) {
            mean_[c] = sums_[c * stride] / total;
            spread_[c] = std::max(sums_[c * stride] * (1.0 - mean_[c]), 0.0);
        }
    }

    const ThresholdDesign& design_;
    ThresholdDesign::Tables tables_;
    std::vector<double> sums_;
    std::vector<Index> every_, columns_;  // all features, all columns
    Index stride_ = 0;
    Groups groups_;
};

}  // namespace sparsegam
