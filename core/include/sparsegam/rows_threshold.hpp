// sparsegam/rows_threshold.hpp: Rows over the threshold design: every question is a histogram.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "column_threshold.hpp"
#include "rows_local.hpp"

namespace sparsegam {

class ThresholdRows : public LocalRows {
  public:
    ThresholdRows(const ThresholdDesign& design, const double* y, const double* weight, Loss loss, Index n_threads)
        : LocalRows(design.n_rows(), y, weight, loss, n_threads),
          design_(design),
          every_feature_(design.n_features()),
          every_column_(design.n_columns()) {
        std::iota(every_feature_.begin(), every_feature_.end(), Index{0});
        std::iota(every_column_.begin(), every_column_.end(), Index{0});
        measure();
    }

    double largest(Index column) const override { return std::max(columns_.mean[column], 1.0 - columns_.mean[column]); }

    Newton newton(const Point& point, std::span<const Index> support, bool rough) override {
        go_to(point);
        if (rough)
            sum<float>(support, features_on(support));
        else
            sum<double>(support, features_on(support));
        return {total_.value, gram_of(support)};
    }

    // In floats: a scan is for predictions, and it is the one thing that takes time. A histogram has all thresholds of
    // its feature, so `among` saves nothing: the answer is always about all columns.
    Token scan(const Point& point, std::span<const Index>, ScanVisitor& visitor) override {
        go_to(point);
        auto held = std::make_shared<HeldCurvature>();
        held->curv = curv_;
        sum<float>(point.columns, every_feature_);
        visitor.take_gram(gram_of(point.columns));
        const double* sums = sums_.data();  // a 0/1 column is its own square
        visitor.take_block({every_column_, {sums, stride_}, {sums + 1, stride_}, sums + 1, stride_});
        return held;
    }

    double rescan(const ScanToken& token, const Point& point, std::span<const Index> entered, std::span<const Index>,
                  const TakeBlock& take) override {
        go_to(point);
        const auto& held = static_cast<const HeldCurvature&>(token);
        const Channels channels{grad_.data(), curv_.data(), nullptr, held.curv.data(), entered};
        stride_ = padded(channels.count());
        design_.sum<float>(channels, every_feature_, pool_, sums_);
        const double* sums = sums_.data();
        take({every_column_, {sums, stride_}, {sums + 1, stride_}, sums + 2, stride_});
        return total_.grad;
    }

    Groups groups(const Point& point, std::span<const Index> columns) override {
        go_to(point);
        const Channels channels{grad_.data(), curv_.data(), value_.data(), nullptr, {}};
        design_.sum<double>(channels, features_on(columns), pool_, sums_);
        stride_ = padded(channels.count());
        Groups groups{{}, {}, {}, total_.grad, total_.curv, total_.value};
        for (Index c : columns) {
            groups.grad.push_back(sums_of(c)[0]);
            groups.curv.push_back(sums_of(c)[1]);
            groups.loss.push_back(sums_of(c)[2]);
        }
        return groups;
    }

    // Along x - m: slope x'g - m 1'g, curvature (1 - 2m) x'h + m^2 1'h.
    Slopes slopes(const Point& point) override {
        go_to(point);
        sum<double>({}, every_feature_);
        const Index p = columns_.size();
        Slopes out{total_.value, total_.grad, std::vector<double>(p), std::vector<double>(p)};
        for (Index c = 0; c < p; ++c) {
            const double m = columns_.mean[c];
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

    std::unique_ptr<Scorer> scorer(const Point& point) override {
        return std::make_unique<TableScorer>(design_, point);
    }

  private:
    class TableScorer final : public Scorer {
      public:
        TableScorer(const ThresholdDesign& design, const Point& point)
            : tables_(design.tables(point)), intercept_(point.intercept) {}
        void score(Index begin, Index end, double* score) const override {
            ThresholdDesign::score(tables_, intercept_, begin, end, score);
        }

      private:
        ThresholdDesign::Tables tables_;
        double intercept_;
    };

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
    void measure() {
        const Channels channels{weight_, weight_, nullptr, nullptr, {}};
        design_.sum<double>(channels, every_feature_, pool_, sums_);
        stride_ = padded(channels.count());
        columns_.total_weight = std::accumulate(weight_, weight_ + n_rows_, 0.0);
        columns_.nested.assign(design_.nested().begin(), design_.nested().end());
        for (Index c : every_column_) {
            columns_.kind.push_back(design_.is_ordered(c) ? ColumnKind::step : ColumnKind::level);
            columns_.mean.push_back(sums_of(c)[0] / columns_.total_weight);
            columns_.spread.push_back(std::max(sums_of(c)[0] * (1.0 - columns_.mean.back()), 0.0));
        }
    }

    const ThresholdDesign& design_;
    std::vector<double> sums_;
    std::vector<Index> every_feature_, every_column_;
    Index stride_ = 0;
};

}  // namespace sparsegam
