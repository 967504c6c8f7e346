// sparsegam/rows_local.hpp: base class of all Rows in this process: labels, weights, loss, threads and derivatives per
// row.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "loss.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace sparsegam {

// Labels and weights are not owned; without weights, every row has weight one. Gradient and curvature per row are
// cached for the last point, since usually two or three calls in a row use the same point. Derived classes compute the
// scores of a point and the sums over columns.
class LocalRows : public LineRows {
  public:
    LocalRows(Index n_rows, const double* y, const double* weight, Loss loss, Index n_threads,
              const KernelTable& table = kernels())
        : kernels_(table),
          n_rows_(n_rows),
          y_(y),
          weight_(weight),
          ones_(weight ? 0 : block, 1.0),
          loss_(loss),
          pool_(n_threads),
          grad_(n_rows),
          curv_(n_rows) {
        // Shifts start from the scores of the last point.
        if (traits(loss).multiplicative) store_scores();
    }

    Loss loss() const override { return loss_; }
    const ColumnInfo& columns() const override { return columns_; }
    void set_poll(std::function<void()> poll) override { pool_.ticker().set(std::move(poll)); }

    std::vector<double> evaluate(std::span<const Point> points) override {
        if (points.size() == 1) {
            evaluate_at(points[0], Refresh::yes);
            return {total_.value};
        }
        return losses_of(points);
    }

    double shift(const Point& from, const Point& to, Index column) override {
        if (!columns_.zero_one(column)) throw std::logic_error("this operation requires 0/1 columns");
        if (!traits(loss_).multiplicative || !is_cached(from)) {
            evaluate_at(to);
            return total_.value;
        }
        const double off = to.intercept - from.intercept;
        const double on = off + coefficient(to, column) - coefficient(from, column);
        sum_blocks([&](Index begin, Index end) { return reweight_block(column, on, off, begin, end); });
        set_cached(to);
        has_rounding_errors_ = true;
        return total_.value;
    }

    LineSums line(const Point& point, Index column, double step, Along along) override {
        store_scores();
        evaluate_at(point);
        prepare_column(column);
        const Index blocks = (n_rows_ + block - 1) / block;
        std::vector<LineSums> sums(blocks);
        pool_.run(blocks, [&](Index b) {
            sums[b] = line_block(column, step, origin(column, along), b * block, std::min((b + 1) * block, n_rows_));
        });
        LineSums total{0.0, 0.0, 0.0};
        for (const auto& s : sums) total = {total.value + s.value, total.slope + s.slope, total.curv + s.curv};
        return total;
    }

  protected:
    // Number of rows in a block. It is fixed, so that sums do not depend on the number of threads.
    static constexpr Index block = 4096;

    // Token of a scan: the curvature of each row at its point, and the id of the rows that were scanned.
    struct FrozenCurvature final : ScanToken {
        explicit FrozenCurvature(std::uint64_t rows_id) : rows_id(rows_id) {}
        std::uint64_t rows_id;
        std::vector<double> curv;
    };

    std::shared_ptr<FrozenCurvature> new_token() const { return std::make_shared<FrozenCurvature>(id_); }

    // Returns the curvature of a token. A token of other rows may have another number of rows.
    const std::vector<double>& frozen_curvature(const ScanToken& token) const {
        const auto* frozen = dynamic_cast<const FrozenCurvature*>(&token);
        if (!frozen || frozen->rows_id != id_)
            throw std::invalid_argument("the token of rescan must come from a scan of the same rows");
        return frozen->curv;
    }

    // Computes scores for blocks of rows at one or several points. The scores at the second point follow those at the
    // first after `point_stride` values, and so on.
    class Scorer {
      public:
        virtual ~Scorer() = default;
        virtual void score(Index begin, Index end, Index point_stride, double* scores) const = 0;
    };

    // Frees cache memory before the scorers of these points are made.
    virtual void trim_cache(std::span<const Point>) {}
    // Maximum number of points of one scorer.
    virtual Index points_at_once() const { return 1; }
    virtual std::unique_ptr<Scorer> scorer(std::span<const Point> points) = 0;
    // Prepares a column whose values will be requested by several threads.
    virtual void prepare_column(Index) {}
    // Writes the values of a column without centring.
    virtual void values(Index column, Index begin, Index end, double* out) const = 0;

    // The value subtracted from a column before a score moves along it.
    double origin(Index column, Along along) const { return along == Along::centred ? columns_.mean[column] : 0.0; }

    enum class Refresh { yes, no };

    // Computes gradient, curvature and loss of each row at a point, unless they are cached. With Refresh::yes, they are
    // also recomputed if they contain rounding errors of shifts.
    void evaluate_at(const Point& point, Refresh refresh = Refresh::no) {
        if (is_cached(point) && (refresh == Refresh::no || !has_rounding_errors_)) return;
        trim_cache(std::span(&point, 1));
        const auto ready = scorer(std::span(&point, 1));
        sum_blocks([&](Index begin, Index end) {
            double here[2 * block];
            double* score = scores_.empty() ? here : scores_.data() + begin;
            double* value = value_.empty() ? here + block : value_.data() + begin;
            ready->score(begin, end, block, score);
            return kernels_.evaluate(loss_, {end - begin, score, y_ + begin, weights(begin), grad_.data() + begin,
                                             curv_.data() + begin, value});
        });
        set_cached(point);
        has_rounding_errors_ = false;
    }

    // From now on, scores and losses of the rows are cached, too. Few methods need them, and they take 16 bytes per
    // row.
    void store_scores() {
        if (!scores_.empty()) return;
        scores_.resize(n_rows_);
        value_.resize(n_rows_);
        has_cached_point_ = false;
    }

    // The weights from row `begin` on, for one block.
    const double* weights(Index begin) const { return weight_ ? weight_ + begin : ones_.data(); }

    const KernelTable& kernels_;
    Index n_rows_;
    const double *y_, *weight_;
    // Weights of one block if none are given.
    std::vector<double> ones_;
    Loss loss_;
    Pool pool_;
    ColumnInfo columns_;
    // Derivatives of each row at the cached point and, if stored, scores and losses.
    std::vector<double> grad_, curv_;
    std::vector<double> scores_, value_;
    LossSums total_{0.0, 0.0, 0.0};

  private:
    using Terms = std::vector<std::pair<Index, double>>;

    static Terms sorted_terms(const Point& point) {
        Terms terms;
        for (Index s = 0; s < point.size(); ++s) terms.emplace_back(point.columns[s], point.coef[s]);
        std::sort(terms.begin(), terms.end());
        return terms;
    }

    bool is_cached(const Point& point) const {
        return has_cached_point_ && point.intercept == intercept_ && point.columns.size() == terms_.size() &&
               sorted_terms(point) == terms_;
    }

    void set_cached(const Point& point) {
        has_cached_point_ = true;
        intercept_ = point.intercept;
        terms_ = sorted_terms(point);
    }

    static double coefficient(const Point& point, Index column) {
        const Index at = point.position(column);
        return at == none ? 0.0 : point.coef[at];
    }

    template <class Part>
    void sum_blocks(Part part) {
        // Invalid until all blocks are done: Ctrl-C may interrupt the work.
        has_cached_point_ = false;
        const Index blocks = (n_rows_ + block - 1) / block;
        std::vector<LossSums> sums(blocks);
        pool_.run(blocks, [&](Index b) { sums[b] = part(b * block, std::min((b + 1) * block, n_rows_)); });
        total_ = {0.0, 0.0, 0.0};
        for (const auto& s : sums) total_ = {total_.value + s.value, total_.grad + s.grad, total_.curv + s.curv};
    }

    // Computes the losses of several points in one pass: the codes or columns of a block are read once and remain in
    // the cache.
    std::vector<double> losses_of(std::span<const Point> points) {
        trim_cache(points);
        const Index blocks = (n_rows_ + block - 1) / block, m = static_cast<Index>(points.size());
        const Index at_once = std::min(points_at_once(), m), point_stride = std::min(block, n_rows_);
        std::vector<std::unique_ptr<Scorer>> ready;
        for (Index p = 0; p < m; p += at_once) ready.push_back(scorer(points.subspan(p, std::min(at_once, m - p))));
        std::vector<double> sums(blocks * m), totals(m, 0.0);
        pool_.run(blocks, [&](Index b) {
            const Index begin = b * block, end = std::min(begin + block, n_rows_);
            const auto scores = std::make_unique_for_overwrite<double[]>(at_once * point_stride);
            for (Index p = 0; p < m; ++p) {
                if (p % at_once == 0) ready[p / at_once]->score(begin, end, point_stride, scores.get());
                const double* score = scores.get() + p % at_once * point_stride;
                sums[b * m + p] = kernels_.value(loss_, {end - begin, score, y_ + begin, weights(begin)});
            }
        });
        for (Index b = 0; b < blocks; ++b)
            for (Index p = 0; p < m; ++p) totals[p] += sums[b * m + p];
        return totals;
    }

    LossSums reweight_block(Index column, double on, double off, Index begin, Index end) {
        double x[block];
        values(column, begin, end, x);
        return kernels_.reweight({end - begin, x, y_ + begin, on, off, std::exp(on), std::exp(off), std::exp(-on),
                                  std::exp(-off), scores_.data() + begin, grad_.data() + begin, curv_.data() + begin,
                                  value_.data() + begin});
    }

    LineSums line_block(Index column, double step, double origin, Index begin, Index end) const {
        double x[block], score[block], grad[block], curv[block], value[block];
        values(column, begin, end, x);
        for (Index i = 0; i < end - begin; ++i) {
            x[i] -= origin;
            score[i] = scores_[begin + i] + step * x[i];
        }
        LineSums sums{0.0, 0.0, 0.0};
        sums.value =
            kernels_.evaluate(loss_, {end - begin, score, y_ + begin, weights(begin), grad, curv, value}).value;
        for (Index i = 0; i < end - begin; ++i) {
            sums.slope += grad[i] * x[i];
            sums.curv += curv[i] * x[i] * x[i];
        }
        return sums;
    }

    // Ids are unique within the process. Addresses are not, since they are reused after destruction.
    static std::uint64_t next_id() {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }

    const std::uint64_t id_ = next_id();
    // Whether there is a cached point, and whether it was reached by shifts.
    bool has_cached_point_ = false;
    bool has_rounding_errors_ = false;
    double intercept_ = 0.0;
    Terms terms_;
};

}  // namespace sparsegam
