// sparsegam/rows_raw.hpp: columns and Rows computed from the raw values of the rows, for refits.
//
// A search replaces values by the mean of their bin, so that ramps are approximate within bins of several values. After
// the search, coefficients are refitted on the raw values. Rows are processed in small blocks: their columns are
// computed, used for all sums and discarded, so that no memory per row is needed, regardless of the number of terms.
// Pieces of many blocks are summed separately, for parallel execution.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "threshold_design.hpp"

namespace sparsegam {

// One value per row, read in place, or one value per code and the codes of the rows. Not owned.
struct RawValues {
    const double* values = nullptr;
    Index stride = 1;
    // Without codes, there is one value per row.
    Codes codes = {};

    void copy(Index begin, Index end, double* out) const noexcept {
        if (codes.narrow)
            for (Index i = begin; i < end; ++i) out[i - begin] = values[codes.narrow[i]];
        else if (codes.wide)
            for (Index i = begin; i < end; ++i) out[i - begin] = values[codes.wide[i]];
        else
            for (Index i = begin; i < end; ++i) out[i - begin] = values[i * stride];
    }
};

// min(x - t, 0) with x clipped to [low, high] and scaled by (x - high) / (high - low), as in the design.
struct RawRamp {
    RawValues numbers;
    double low, high, knot;

    void fill(Index begin, Index end, double* out) const noexcept {
        numbers.copy(begin, end, out);
        const double least = low, most = high, per_unit = 1.0 / (high - low), t = knot;
#pragma omp simd
        for (Index i = 0; i < end - begin; ++i) {
            double x = out[i];
            x = x < least ? least : x;
            x = x > most ? most : x;
            x = (x - most) * per_unit - t;
            out[i] = x < 0.0 ? x : 0.0;
        }
    }
};

class RawColumns {
  public:
    // Columns without a raw ramp are determined by the bins.
    RawColumns(const ThresholdDesign& design, std::vector<Index> columns, std::vector<std::optional<RawRamp>> ramps)
        : design_(design), columns_(std::move(columns)), ramps_(std::move(ramps)) {
        for (Index column : columns_) binned_.emplace_back(design, column);
    }

    Index n_rows() const { return design_.n_rows(); }
    Index size() const { return static_cast<Index>(columns_.size()); }
    // The index of the column in the design.
    Index column(Index i) const { return columns_[i]; }
    ColumnKind kind(Index i) const { return design_.kind(columns_[i]); }
    bool is_raw(Index i) const { return ramps_[i].has_value(); }

    // Maximum number of rows in one call of fill.
    static constexpr Index max_rows = 512;

    void fill(Index i, Index begin, Index end, double* out) const noexcept {
        if (!ramps_[i]) return binned_[i].fill(begin, end, ones.data(), 1, out);
        const Feature& feature = design_.feature(design_.feature_of(columns_[i]));
        const Codes& codes = feature.codes;
        ramps_[i]->fill(begin, end, out);
        if (feature.n_ordered == feature.n_bins) return;
        // Ramps are zero for missing and special values, which are not ordered.
        for (Index row = begin; row < end; ++row)
            if ((codes.narrow ? codes.narrow[row] : codes.wide[row]) >= feature.n_ordered) out[row - begin] = 0.0;
    }

    std::vector<double> scores(double intercept, std::span<const double> coef) const {
        std::vector<double> out(n_rows(), intercept), x(max_rows);
        for (Index begin = 0; begin < n_rows(); begin += max_rows) {
            const Index end = std::min(begin + max_rows, n_rows());
            for (Index i = 0; i < size(); ++i) {
                fill(i, begin, end, x.data());
                for (Index row = begin; row < end; ++row) out[row] += coef[i] * x[row - begin];
            }
        }
        return out;
    }

  private:
    inline static const std::vector<double> ones = std::vector<double>(max_rows, 1.0);

    const ThresholdDesign& design_;
    std::vector<Index> columns_;
    std::vector<std::optional<RawRamp>> ramps_;
    std::vector<ThresholdDesign::ColumnFiller> binned_;
};

class RawRows : public Rows {
  public:
    // `binned_info` describes all columns of the design as binned. It is exact for columns that are not ramps, and a
    // good starting point for those that are.
    RawRows(const RawColumns& raw, const ColumnInfo& binned_info, const double* y, const double* weight, Loss loss,
            Index n_threads)
        : raw_(raw), y_(y), weight_(weight), loss_(loss), pool_(n_threads) {
        measure(binned_info);
    }

    Loss loss() const override { return loss_; }
    const ColumnInfo& columns() const override { return columns_; }
    void set_poll(std::function<void()> poll) override { pool_.ticker().set(std::move(poll)); }

    std::vector<double> evaluate(std::span<const Point> points) override {
        std::vector<Index> every(raw_.size());
        std::iota(every.begin(), every.end(), Index{0});
        return summed(static_cast<Index>(points.size()), every, [&](Block& block, std::span<double> sums) {
            for (std::size_t p = 0; p < points.size(); ++p) {
                score(points[p], every, block);
                sums[p] += kernels().value(loss_, {block.n, block.score, y_ + block.begin, weight_ + block.begin});
            }
        });
    }

    // Always uses float64, since refits need full precision.
    NewtonSums newton(const Point& point, std::span<const Index> support, bool) override {
        std::vector<Index> order(support.begin(), support.end());
        for (Index c : point.columns)
            if (std::find(support.begin(), support.end(), c) == support.end()) order.push_back(c);
        const Panels panels(static_cast<Index>(support.size()) + 1);
        const auto sums = summed(1 + panels.n_sums(), order, [&](Block& block, std::span<double> into) {
            score(point, order, block);
            into[0] += kernels()
                           .evaluate(loss_, {block.n, block.score, y_ + block.begin, weight_ + block.begin, block.grad,
                                             block.curv, block.value})
                           .value;
            panels.add(block, into.data() + 1);
        });
        return {sums[0], panels.gram(sums.data() + 1)};
    }

    Token scan(const Point&, std::span<const Index>, ScanVisitor&) override { refuse(); }
    double rescan(const ScanToken&, const Point&, std::span<const Index>, std::span<const Index>,
                  const BlockCallback&) override {
        refuse();
    }
    GroupSums groups(const Point&, std::span<const Index>) override { refuse(); }

  private:
    // Number of rows in a block.
    static constexpr Index rows = RawColumns::max_rows;
    static constexpr Index min_piece = 16 * rows, max_pieces = 64;

    [[noreturn]] static void refuse() {
        throw std::logic_error("RawRows only supports refits of the coefficients, not searches");
    }

    // A block of rows: a column of ones followed by the selected columns, each of length `rows`, and derivatives per
    // row.
    struct Block {
        Index begin = 0, n = 0;
        std::vector<double> x, weighted;
        double score[rows], grad[rows], curv[rows], value[rows];

        double* column(Index i) { return x.data() + (i + 1) * rows; }
    };

    // A' h A and A' g for the first columns A = [1, x_1 ... x_k] of a block. Only the upper triangle is computed, in
    // panels of a few columns, each multiplied by the columns from its first on and by the gradient.
    class Panels {
      public:
        explicit Panels(Index size) : size_(size) {}

        Index n_sums() const {
            Index sums = 0;
            for (Index first = 0; first < size_; first += width) sums += count(first) * (size_ + 1 - first);
            return sums;
        }

        void add(Block& block, double* sums) const {
            block.weighted.resize((size_ + 1) * rows);
            for (Index j = 0; j < size_; ++j) {
                const double* x = block.x.data() + j * rows;
                double* to = block.weighted.data() + j * rows;
                for (Index i = 0; i < block.n; ++i) to[i] = block.curv[i] * x[i];
            }
            std::copy(block.grad, block.grad + block.n, block.weighted.data() + size_ * rows);
            for (Index first = 0; first < size_; first += width) {
                const Index m = count(first), n = size_ + 1 - first;
                kernels().dense<double>().add_product({m, n, block.n, block.x.data() + first * rows, rows, Index{1},
                                                       block.weighted.data() + first * rows, Index{1}, rows, sums});
                sums += m * n;
            }
        }

        Gram gram(const double* sums) const {
            Gram gram{Symmetric(size_), std::vector<double>(size_)};
            for (Index first = 0; first < size_; first += width)
                for (Index j = first; j <= size_; ++j)
                    for (Index i = first; i < first + count(first); ++i, ++sums) {
                        if (j == size_)
                            gram.grad[i] = *sums;
                        else
                            gram.curv(i, j) = gram.curv(j, i) = *sums;
                    }
            return gram;
        }

      private:
        // Number of columns that the product kernel processes at once.
        static constexpr Index width = 12;

        Index count(Index first) const { return std::min(width, size_ - first); }

        Index size_;
    };

    // Sums over all rows, in blocks of these columns within pieces. The pieces depend on the number of rows only, so
    // that results do not depend on the number of threads.
    template <class Add>
    std::vector<double> summed(Index n_sums, std::span<const Index> order, const Add& add) {
        const Index n = raw_.n_rows(), least = std::max((n + max_pieces - 1) / max_pieces, min_piece);
        const Index piece = (least + rows - 1) / rows * rows, pieces = (n + piece - 1) / piece;
        std::vector<double> parts(static_cast<std::size_t>(pieces * n_sums), 0.0), total(n_sums, 0.0);
        pool_.run(pieces, [&](Index p) {
            Block block;
            block.x.assign((order.size() + 1) * rows, 1.0);
            const Index last = std::min((p + 1) * piece, n);
            for (block.begin = p * piece; block.begin < last; block.begin += rows) {
                block.n = std::min(rows, last - block.begin);
                for (std::size_t i = 0; i < order.size(); ++i)
                    raw_.fill(order[i], block.begin, block.begin + block.n, block.column(i));
                add(block, std::span(parts).subspan(p * n_sums, n_sums));
            }
        });
        for (Index p = 0; p < pieces; ++p)
            for (Index i = 0; i < n_sums; ++i) total[i] += parts[p * n_sums + i];
        return total;
    }

    static void score(const Point& point, std::span<const Index> order, Block& block) {
        std::vector<const double*> chosen;
        for (Index c : point.columns)
            chosen.push_back(block.column(std::find(order.begin(), order.end(), c) - order.begin()));
        std::fill(block.score, block.score + block.n, point.intercept);
        kernels().add_columns(block.n, point.size(), point.coef.data(), chosen.data(), block.score);
    }

    // Sums w d and w d^2 with d = x - m, where m is the mean from the bins. Since it is close to the mean, there is no
    // cancellation.
    void measure(const ColumnInfo& binned_info) {
        columns_.total_weight = binned_info.total_weight;
        std::vector<Index> ramps;
        for (Index i = 0; i < raw_.size(); ++i) {
            columns_.kind.push_back(raw_.kind(i));
            columns_.mean.push_back(binned_info.mean[raw_.column(i)]);
            columns_.centred_sq_norm.push_back(binned_info.centred_sq_norm[raw_.column(i)]);
            if (raw_.is_raw(i)) ramps.push_back(i);
        }
        const Index n = static_cast<Index>(ramps.size());
        const auto sums = summed(2 * n, ramps, [&](Block& block, std::span<double> into) {
            const double* weight = weight_ + block.begin;
            for (Index r = 0; r < n; ++r) {
                const double *x = block.column(r), mean = columns_.mean[ramps[r]];
                double sum = 0.0, squares = 0.0;
#pragma omp simd reduction(+ : sum, squares)
                for (Index i = 0; i < block.n; ++i) {
                    sum += weight[i] * (x[i] - mean);
                    squares += weight[i] * (x[i] - mean) * (x[i] - mean);
                }
                into[2 * r] += sum;
                into[2 * r + 1] += squares;
            }
        });
        for (Index r = 0; r < n; ++r) {
            const double shift = sums[2 * r] / columns_.total_weight;
            columns_.mean[ramps[r]] += shift;
            columns_.centred_sq_norm[ramps[r]] = std::max(sums[2 * r + 1] - shift * sums[2 * r], 0.0);
        }
    }

    const RawColumns& raw_;
    const double *y_, *weight_;
    Loss loss_;
    Pool pool_;
    ColumnInfo columns_;
};

}  // namespace sparsegam
