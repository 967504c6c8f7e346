// sparsegam/rows_local.hpp: Rows on this machine: a design, labels and weights in memory, a few threads.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "column_threshold.hpp"
#include "kernel_table.hpp"
#include "loss.hpp"
#include "rows.hpp"

namespace sparsegam {

class ThresholdRows final : public Rows {
  public:
    ThresholdRows(const ThresholdDesign& design, const double* y, const double* weight, Loss loss,
                  Index n_threads)
        : design_(design),
          y_(y),
          weight_(weight),
          loss_(loss),
          pool_(n_threads),
          grad_(design.n_rows()),
          curv_(design.n_rows()),
          value_(design.n_rows()),
          every_(design.n_features()) {
        std::iota(every_.begin(), every_.end(), Index{0});
        measure_spread();
    }

    Pool& pool() { return pool_; }
    Index n_columns() const override { return design_.n_columns(); }
    std::span<const double> spread() const override { return spread_; }
    std::span<const Nested> nested() const override { return design_.nested(); }
    double concordance(Index column) const override {
        return self_concordance(loss_) * design_.largest(column);
    }

    double shift_gain(double grad, double curv, double loss) const override {
        return sparsegam::shift_gain(loss_, grad, curv, loss);
    }

    double beyond_quadratic(double grad, double curv) const override {
        return sparsegam::beyond_quadratic(loss_, std::abs(grad) / curv);
    }

    double stretch(double grad, double curv) const override {
        return sparsegam::stretch(loss_, std::abs(grad) / curv);
    }

    double evaluate(const Point& point) override {
        const auto tables = design_.tables(point);
        const Index n = design_.n_rows(), blocks = (n + block - 1) / block;
        std::vector<LossSums> sums(blocks);
        pool_.run(blocks, [&](Index b) {
            sums[b] = evaluate_block(tables, point.intercept, b * block, std::min((b + 1) * block, n));
        });
        total_ = {0.0, 0.0, 0.0};
        for (const auto& s : sums)
            total_ = {total_.value + s.value, total_.grad + s.grad, total_.curv + s.curv};
        return total_.value;
    }

    Gram gram(std::span<const Index> support) override {
        sum<double>(support, features_on(support));
        return gram_of(support);
    }

    const Scan& scan(std::span<const Index> support) override {
        sum<float>(support, every_);
        const Index p = n_columns(), size = static_cast<Index>(support.size()) + 1;
        scan_.grad.resize(p);
        scan_.curv.resize(p);
        scan_.cross.resize(p * size);
        for (Index c = 0; c < p; ++c) {
            scan_.grad[c] = sums_of(c)[0];
            scan_.curv[c] = sums_of(c)[1];  // a 0/1 column is its own square
            std::copy(sums_of(c) + 1, sums_of(c) + 1 + size, scan_.cross.begin() + c * size);
        }
        scan_.gram = gram_of(support);
        return scan_;
    }

    const Groups& groups(std::span<const Index> columns) override {
        const Channels channels{grad_.data(), curv_.data(), value_.data(), {}};
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

  private:
    static constexpr Index block = 4096;  // rows; fixed, so that sums do not depend on the number of threads

    LossSums evaluate_block(const ThresholdDesign::Tables& tables, double intercept, Index begin, Index end) {
        double score[block];
        design_.score(tables, intercept, begin, end, score);
        return kernels().evaluate(loss_, {end - begin, score, y_ + begin, weight_ + begin,
                                          grad_.data() + begin, curv_.data() + begin, value_.data() + begin});
    }

    template <class Real>
    void sum(std::span<const Index> support, std::span<const Index> features) {
        const Channels channels{grad_.data(), curv_.data(), nullptr, support};
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
        std::copy(weight_, weight_ + design_.n_rows(), curv_.begin());
        const Channels channels{curv_.data(), curv_.data(), nullptr, {}};
        design_.sum<double>(channels, every_, pool_, sums_);
        const double total = std::accumulate(curv_.begin(), curv_.end(), 0.0);
        const Index stride = padded(channels.count());
        spread_.resize(n_columns());
        for (Index c = 0; c < n_columns(); ++c)
            spread_[c] = std::max(sums_[c * stride] * (1.0 - sums_[c * stride] / total), 0.0);
    }

    const ThresholdDesign& design_;
    const double *y_, *weight_;
    Loss loss_;
    Pool pool_;
    std::vector<double> grad_, curv_, value_, spread_, sums_;
    std::vector<Index> every_;
    Index stride_ = 0;
    LossSums total_{0.0, 0.0, 0.0};
    Scan scan_;
    Groups groups_;
};

}  // namespace sparsegam
