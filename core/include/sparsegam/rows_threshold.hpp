// sparsegam/rows_threshold.hpp: Rows of a threshold design, whose sums are all computed by histograms.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "pair_sums.hpp"
#include "rows_local.hpp"
#include "score_tables.hpp"
#include "support_design.hpp"

namespace sparsegam {

class ThresholdRows : public LocalRows {
  public:
    ThresholdRows(const ThresholdDesign& design, const double* y, const double* weight, Loss loss, Index n_threads)
        : LocalRows(design.n_rows(), y, weight, loss, n_threads), design_(design) {
        measure();
    }

    double largest(Index column, Along along) const override {
        const auto table = design_.values_by_bin(column);
        const auto [low, high] = std::minmax_element(table.begin(), table.end());
        return std::max(origin(column, along) - *low, *high - origin(column, along));
    }

    NewtonSums newton(const Point& point, std::span<const Index> support, bool low_precision) override {
        evaluate_at(point);
        return {total_.value, low_precision ? gram<float>(support) : gram<double>(support)};
    }

    // Uses float32 sums, since scans are only used for predictions and dominate the running time. The square of a 0/1
    // column is the column itself.
    Token scan(const Point& point, std::span<const Index> selected, ScanVisitor& visitor) override {
        evaluate_at(point);
        auto frozen = new_token();
        frozen->curv = curv_;
        const Channels channels{grad_.data(), curv_.data(), nullptr, curv_.data(), point.columns};
        const auto parts = parts_of(selected);
        const bool single_pass = parts.size() == 1 && selected.empty();
        if (!single_pass) visitor.visit_gram(gram<float>(point.columns));
        for (const Part& part : parts) {
            design_.sum<float>(channels, part.features, pool_, sums_);
            if (single_pass) visitor.visit_gram(gram_of(point.columns, design_));
            for_each_run(part.columns, [&](std::span<const Index> run, const double* sums) {
                visitor.visit_block(block_of(run, sums, sums + 1));
            });
        }
        return frozen;
    }

    double rescan(const ScanToken& token, const Point& point, std::span<const Index> entered,
                  std::span<const Index> selected, const BlockCallback& take) override {
        const std::vector<double>& frozen = frozen_curvature(token);
        evaluate_at(point);
        const Channels channels{grad_.data(), curv_.data(), nullptr, frozen.data(), entered};
        for (const Part& part : parts_of(selected)) {
            design_.sum<float>(channels, part.features, pool_, sums_);
            for_each_run(part.columns,
                         [&](std::span<const Index> run, const double* sums) { take(block_of(run, sums, sums + 2)); });
        }
        return total_.grad;
    }

    GroupSums groups(const Point& point, std::span<const Index> columns) override {
        store_scores();
        evaluate_at(point);
        const Channels channels{grad_.data(), curv_.data(), value_.data(), nullptr, {}};
        design_.sum<double>(channels, features_on(columns), pool_, sums_);
        GroupSums groups{{}, {}, {}, total_.grad, total_.curv, total_.value};
        for (Index c : columns) {
            groups.grad.push_back(sums_of(c)[0]);
            groups.curv.push_back(sums_of(c)[1]);
            groups.loss.push_back(sums_of(c)[2]);
        }
        return groups;
    }

    void pairs(const Point& point, std::span<const CoarseBins> coarse_bins,
               std::span<const FeaturePair> requested_pairs, const PairCallback& take) override {
        const PairSums sums(design_, coarse_bins, requested_pairs);
        evaluate_at(point);
        sums.sum(grad_.data(), curv_.data(), pool_, take);
    }

    // Along x - m: slope x'g - m 1'g, curvature x'(h x) - 2m x'h + m^2 1'h.
    Slopes slopes(const Point& point, Along along) override {
        evaluate_at(point);
        const Index p = columns_.size();
        Slopes out{total_.value, total_.grad, std::vector<double>(p), std::vector<double>(p)};
        const Channels channels{grad_.data(), curv_.data(), nullptr, nullptr, {}};
        for (const Part& part : parts_of({})) {
            design_.sum<double>(channels, part.features, pool_, sums_);
            for (Index c : part.columns) {
                const double m = origin(c, along);
                out.slope[c] = sums_of(c)[0] - m * total_.grad;
                out.curv[c] = sums_of(c)[square(c)] - 2.0 * m * sums_of(c)[1] + m * m * total_.curv;
            }
        }
        return out;
    }

  protected:
    void values(Index column, Index begin, Index end, double* out) const override {
        const std::vector<double> ones(end - begin, 1.0);
        ThresholdDesign::ColumnFiller(design_, column).fill(begin, end, ones.data(), 1, out);
    }

    Index points_at_once() const override { return ScoreTables::max_points; }

    std::unique_ptr<Scorer> scorer(std::span<const Point> points) override {
        return std::make_unique<TableScorer>(design_, points);
    }

  private:
    class TableScorer final : public Scorer {
      public:
        TableScorer(const ThresholdDesign& design, std::span<const Point> points) : tables_(design, points) {}
        void score(Index begin, Index end, Index point_stride, double* scores) const override {
            tables_.score(begin, end, point_stride, scores);
        }

      private:
        ScoreTables tables_;
    };

    // The sums [x'g, x'h, x'(h x_1) ... x'(h x_k)] of a column from the last call of design_.sum.
    const double* sums_of(Index column) const { return design_.sums_of(column, sums_); }

    // The channel of the sum x'(h x) of a column; the square of a 0/1 column is the column itself.
    Index square(Index column) const { return columns_.zero_one(column) ? 1 : sums_.moment_channel; }

    // Returns the block of consecutive columns, which are either all 0/1 or all ramps.
    Block block_of(std::span<const Index> run, const double* sums, const double* cross) const {
        const Index stride = sums_.stride;
        Block block{run, {sums, stride}, {sums + square(run[0]), stride}, cross, stride, {}};
        if (design_.has_ramps()) block.moment = {sums + (columns_.zero_one(run[0]) ? sums_.moment_channel : 1), stride};
        return block;
    }

    // The design in which the sums of a support are computed, with the support's columns and features in it.
    struct Supported {
        const ThresholdDesign& design;
        std::span<const Index> columns;
        std::vector<Index> features;
    };

    // Uses a design that only distinguishes the bins that the support distinguishes, which is built once for all refits
    // of the support. With many rows its codes would take too much memory, and the original design is used.
    Supported supported(std::span<const Index> support) {
        if (n_rows_ > many_rows) return {design_, support, features_on(support)};
        if (!support_design_ || !support_design_->is_of(support)) support_design_.emplace(design_, support);
        return {support_design_->design(), support_design_->columns(), support_design_->features()};
    }

    template <class Real>
    Gram gram(std::span<const Index> support) {
        const auto [design, columns, features] = supported(support);
        const Channels channels{grad_.data(), curv_.data(), nullptr, curv_.data(), columns};
        design.template sum<Real>(channels, features, pool_, sums_);
        return gram_of(columns, design);
    }

    // The Gram matrix consists of the sums of the support's columns and, for the intercept, the totals.
    Gram gram_of(std::span<const Index> support, const ThresholdDesign& design) const {
        const Index k = static_cast<Index>(support.size());
        Gram gram{Symmetric(k + 1), std::vector<double>(k + 1)};
        gram.grad[0] = total_.grad;
        gram.curv(0, 0) = total_.curv;
        for (Index i = 0; i < k; ++i) {
            const double* sums = design.sums_of(support[i], sums_);
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

    // Features whose sums are computed at once, and those of their columns that are needed.
    struct Part {
        std::vector<Index> features;
        std::span<const Index> columns;
    };
    static constexpr Index many_rows = 200'000;
    // With 20 terms, the sums of this number of columns take 3 MB, even in wide tables.
    static constexpr Index part_columns = 16384;
    // With more columns than this, a shortlist saves work.
    static constexpr Index many_columns = 32768;

    // The parts, and the list of all columns if all are needed.
    struct Parts {
        std::vector<Index> every;
        std::vector<Part> parts;

        std::size_t size() const { return parts.size(); }
        std::vector<Part>::const_iterator begin() const { return parts.begin(); }
        std::vector<Part>::const_iterator end() const { return parts.end(); }
    };

    // Splits columns, given in ascending order (all if empty), into parts of whole features.
    Parts parts_of(std::span<const Index> columns) const {
        Parts found;
        auto& parts = found.parts;
        if (columns.empty()) {
            found.every.resize(design_.n_columns());
            std::iota(found.every.begin(), found.every.end(), Index{0});
            columns = found.every;
        }
        Index first = 0, summed = 0;
        for (Index i = 0; i < static_cast<Index>(columns.size()); ++i) {
            const Index f = design_.feature_of(columns[i]), n_columns = design_.feature(f).n_columns();
            const bool is_new = i == 0 || f != design_.feature_of(columns[i - 1]);
            if (is_new && (parts.empty() || summed + n_columns > part_columns)) {
                parts.emplace_back();
                first = i;
                summed = 0;
            }
            if (is_new) {
                parts.back().features.push_back(f);
                summed += n_columns;
            }
            parts.back().columns = columns.subspan(first, i + 1 - first);
        }
        return found;
    }

    // Calls `take` for each run of consecutive columns, whose sums are consecutive, too.
    template <class Take>
    void for_each_run(std::span<const Index> columns, const Take& take) const {
        for (std::size_t first = 0, last; first < columns.size(); first = last) {
            last = first + 1;
            while (last < columns.size() && columns[last] == columns[last - 1] + 1 &&
                   columns_.zero_one(columns[last]) == columns_.zero_one(columns[first]))
                ++last;
            take(columns.subspan(first, last - first), sums_of(columns[first]));
        }
    }

    // sigma^2 = x'(w x) - (x'w)^2 / W. For a 0/1 column with weight w on its ones, this is w (1 - w / W).
    void measure() {
        // The gradients are not in use yet and have the right size.
        if (!weight_) std::fill(grad_.begin(), grad_.end(), 1.0);
        const double* weight = weight_ ? weight_ : grad_.data();
        const Channels channels{weight, weight, nullptr, nullptr, {}};
        columns_.total_weight = std::accumulate(weight, weight + n_rows_, 0.0);
        columns_.nested.assign(design_.nested().begin(), design_.nested().end());
        columns_.kind.reserve(design_.n_columns());
        for (auto* numbers : {&columns_.mean, &columns_.centred_sq_norm}) numbers->reserve(design_.n_columns());
        if (design_.n_columns() > many_columns) columns_.shortlist = design_.n_columns() / 2;
        for (const Part& part : parts_of({})) {
            design_.sum<double>(channels, part.features, pool_, sums_);
            for (Index c : part.columns) {
                columns_.kind.push_back(design_.kind(c));
                const double sum = sums_of(c)[0], mean = sum / columns_.total_weight;
                columns_.mean.push_back(mean);
                columns_.centred_sq_norm.push_back(std::max(sums_of(c)[square(c)] - sum * mean, 0.0));
            }
        }
        if (design_.has_ramps()) columns_.knot = design_.knots();
    }

    const ThresholdDesign& design_;
    // Results of the last sum.
    FeatureSums sums_;
    // The design of the last support.
    std::optional<SupportDesign> support_design_;
};

}  // namespace sparsegam
