// sparsegam/rows_local.hpp: what all Rows on this machine share: labels, weights, a loss, a few threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "kernel_table.hpp"
#include "loss.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace sparsegam {

// Labels and weights are not owned. A design below adds the scores of a point and the sums over its columns.
class LocalRows : public Rows {
  public:
    LocalRows(Index n_rows, const double* y, const double* weight, Loss loss, Index n_threads)
        : n_rows_(n_rows),
          y_(y),
          weight_(weight),
          loss_(loss),
          pool_(n_threads),
          grad_(n_rows),
          curv_(n_rows),
          value_(n_rows),
          scores_(n_rows) {}

    Pool& pool() { return pool_; }
    std::span<const double> spread() const override { return spread_; }

    std::span<const double> mean() const override { return mean_; }
    Loss loss() const override { return loss_; }

    double evaluate(const Point& point) override {
        prepare(point);
        return sum_blocks([&](Index begin, Index end) { return evaluate_block(point, begin, end); });
    }

    double shift(Index column, double on, double off) override {
        if (!zero_one()) throw std::logic_error("rows of a raw column do not fall into two groups");
        return sum_blocks([&](Index begin, Index end) {
            return loss_ == Loss::exponential ? reweight_block(column, on, off, begin, end)
                                              : shift_block(column, on, off, begin, end);
        });
    }

    LineSums line(Index column, double step) override {
        const Index blocks = (n_rows_ + block - 1) / block;
        std::vector<LineSums> sums(blocks);
        pool_.run(blocks,
                  [&](Index b) { sums[b] = line_block(column, step, b * block, std::min((b + 1) * block, n_rows_)); });
        LineSums total{0.0, 0.0, 0.0};
        for (const auto& s : sums) total = {total.value + s.value, total.slope + s.slope, total.curv + s.curv};
        return total;
    }

  protected:
    static constexpr Index block = 4096;  // rows; fixed, so that sums do not depend on the number of threads

    virtual void prepare(const Point& point) = 0;
    virtual void score(const Point& point, Index begin, Index end, double* score) const = 0;
    virtual void values(Index column, Index begin, Index end,
                        double* out) const = 0;  // of a column, not centred

    Index n_rows_;
    const double *y_, *weight_;
    Loss loss_;
    Pool pool_;
    std::vector<double> grad_, curv_, value_;  // per row, at the point last evaluated
    std::vector<double> scores_;               // and its scores
    std::vector<double> held_;                 // curvature at the last scan
    std::vector<double> spread_, mean_;        // per column
    LossSums total_{0.0, 0.0, 0.0};

  private:
    template <class Part>
    double sum_blocks(Part part) {
        const Index blocks = (n_rows_ + block - 1) / block;
        std::vector<LossSums> sums(blocks);
        pool_.run(blocks, [&](Index b) { sums[b] = part(b * block, std::min((b + 1) * block, n_rows_)); });
        total_ = {0.0, 0.0, 0.0};
        for (const auto& s : sums) total_ = {total_.value + s.value, total_.grad + s.grad, total_.curv + s.curv};
        return total_.value;
    }

    LossSums evaluate_block(const Point& point, Index begin, Index end) {
        score(point, begin, end, scores_.data() + begin);
        return evaluate_scores(begin, end);
    }

    LossSums evaluate_scores(Index begin, Index end) {
        return kernels().evaluate(loss_, {end - begin, scores_.data() + begin, y_ + begin, weight_ + begin,
                                          grad_.data() + begin, curv_.data() + begin, value_.data() + begin});
    }

    LossSums shift_block(Index column, double on, double off, Index begin, Index end) {
        double x[block];
        values(column, begin, end, x);
        for (Index i = 0; i < end - begin; ++i) scores_[begin + i] += x[i] > 0.0 ? on : off;
        return evaluate_scores(begin, end);
    }

    LossSums reweight_block(Index column, double on, double off, Index begin, Index end) {
        double x[block];
        values(column, begin, end, x);
        return kernels().reweight({end - begin, x, y_ + begin, on, off, std::exp(on), std::exp(off), std::exp(-on),
                                   std::exp(-off), scores_.data() + begin, grad_.data() + begin, curv_.data() + begin,
                                   value_.data() + begin});
    }

    LineSums line_block(Index column, double step, Index begin, Index end) const {
        double x[block], score[block], grad[block], curv[block], value[block];
        values(column, begin, end, x);
        for (Index i = 0; i < end - begin; ++i) {
            x[i] -= mean_[column];
            score[i] = scores_[begin + i] + step * x[i];
        }
        LineSums sums{0.0, 0.0, 0.0};
        sums.value =
            kernels().evaluate(loss_, {end - begin, score, y_ + begin, weight_ + begin, grad, curv, value}).value;
        for (Index i = 0; i < end - begin; ++i) {
            sums.slope += grad[i] * x[i];
            sums.curv += curv[i] * x[i] * x[i];
        }
        return sums;
    }
};

}  // namespace sparsegam
