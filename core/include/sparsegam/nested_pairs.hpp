// sparsegam/nested_pairs.hpp: scores pairs of columns of one feature, which may improve a model when neither column
// does alone: two nested steps, two ramps (a slope between their knots), or a step and a ramp.
//
// For columns x_a <= x_b let z = x_b - x_a, which is nonzero for the rows between them. Scoring a pair needs only V_az
// = V_ab - V_a with V_ab = D_a - B_a'Q_b in addition to the sums of each column, hence no pass over the rows. The
// number of pairs grows with the square of the number of bins. For features with many bins, all pairs of nearby bins
// are scored, then the pairs of every n-th bin, then the neighbours of the best pairs. These are predictions for many
// pairs, hence in float32.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "local_model.hpp"

namespace sparsegam {

class NestedPairs {
  public:
    explicit NestedPairs(const LocalModel& model) : model_(model), size_(model.support_curvature().size()) {
        const double* support = model.support_curvature().data();
        curvature_.assign(support, support + size_ * size_);
    }

    // Appends, for each inner column of a feature, the outer column with the largest gain, if it exceeds min_gain.
    void append_best_pairs(const NestedColumns& range, double min_gain, std::vector<Move>& moves) const {
        const Index n = range.last - range.first;
        if (range.first_ramp == range.last_ramp && !two_usable(range.first, range.last)) return;
        const ColumnBlock steps = column_block(range.first, range.last);
        if (n > 1) append_steps(steps, min_gain, moves);
        if (range.first_ramp == range.last_ramp) return;
        const ColumnBlock ramps = column_block(range.first_ramp, range.last_ramp);
        append_with_ramps(ramps, ramps, min_gain, moves);
        append_with_ramps(steps.every_nth(1 + n / tuning::max_paired_columns), ramps, min_gain, moves);
    }

  private:
    // The data of consecutive columns, or of every n-th column. q and cross (B) have `size` values per column.
    struct ColumnBlock {
        Index first = 0, apart = 1, size = 0;
        std::vector<float> grad = {}, curv = {}, raw = {}, usable = {}, q = {}, cross = {};

        Index count() const { return static_cast<Index>(grad.size()); }
        Index column(Index i) const { return first + i * apart; }

        ColumnBlock every_nth(Index nth) const {
            if (nth == 1) return *this;
            ColumnBlock out{.first = first, .apart = nth, .size = size};
            for (Index i = 0; i < count(); i += nth) {
                out.grad.push_back(grad[i]);
                out.curv.push_back(curv[i]);
                out.raw.push_back(raw[i]);
                out.usable.push_back(usable[i]);
                out.q.insert(out.q.end(), &q[i * size], &q[i * size] + size);
                out.cross.insert(out.cross.end(), &cross[i * size], &cross[i * size] + size);
            }
            return out;
        }
    };

    // A range of columns of a block.
    struct ColumnRange {
        const ColumnBlock& column_block;
        Index begin, end;
        Index count() const { return end - begin; }
    };
    static ColumnRange full_range(const ColumnBlock& column_block) { return {column_block, 0, column_block.count()}; }

    // Features with 0/1 values have a single step, and tables may have hundreds of them; they need no further work.
    bool two_usable(Index first, Index last) const {
        Index usable = 0;
        for (Index c = first; c < last && usable < 2; ++c) usable += model_.pair_stats(c).usable;
        return usable == 2;
    }

    ColumnBlock column_block(Index first, Index last) const {
        ColumnBlock out{.first = first, .size = size_};
        for (Index c = first; c < last; ++c) {
            const auto stats = model_.pair_stats(c);
            out.grad.push_back(stats.grad);
            out.curv.push_back(stats.curv);
            out.raw.push_back(stats.raw);
            out.usable.push_back(stats.usable);
            out.q.insert(out.q.end(), stats.q, stats.q + size_);
        }
        out.cross.resize(out.q.size());
        multiply(size_, last - first, size_, curvature_.data(), out.q.data(), out.cross.data());
        return out;
    }

    void append_steps(const ColumnBlock& steps, double min_gain, std::vector<Move>& moves) const {
        const Index every_nth = 1 + (steps.count() - 1) / tuning::max_paired_columns;
        if (every_nth > 1) append_near(steps, min_gain, moves);
        const ColumnBlock coarse = steps.every_nth(every_nth);
        std::vector<Move> found;
        append_best_of_ranges(full_range(coarse), full_range(coarse), min_gain, found);
        if (every_nth > 1) refine(steps, every_nth, min_gain, found);
        moves.insert(moves.end(), found.begin(), found.end());
    }

    // Returns B_a'Q_b for all inner and outer columns, one inner column after the other.
    std::vector<float> adjusted(const ColumnRange& inner, const ColumnRange& outer) const {
        std::vector<float> out(inner.count() * outer.count());
        multiply(outer.count(), inner.count(), size_, outer.column_block.q.data() + outer.begin * size_,
                 inner.column_block.cross.data() + inner.begin * size_, out.data(), true);
        return out;
    }

    void append_best_of_ranges(const ColumnRange& inner, const ColumnRange& outer, double min_gain,
                               std::vector<Move>& moves) const {
        const auto shared = adjusted(inner, outer);
        const ColumnBlock &in = inner.column_block, &out = outer.column_block;
        std::vector<float> gains(outer.count());
        for (Index a = inner.begin; a < inner.end; ++a) {
            if (in.usable[a] == 0.0f) continue;
            Index from = outer.begin;
            while (from < outer.end && out.column(from) <= in.column(a)) ++from;
            const Index count = outer.end - from;
            if (count == 0) continue;
            kernels().nested_pair_gains(
                {count, &out.grad[from], &out.curv[from], &out.raw[from],
                 &shared[(a - inner.begin) * outer.count() + from - outer.begin], &out.usable[from], in.grad[a],
                 in.curv[a], in.raw[a], tuning::collinear, model_.multiplicative()},
                gains.data());
            const auto best = std::max_element(gains.begin(), gains.begin() + count);
            if (*best > min_gain)
                moves.push_back(
                    {.add = in.column(a), .also = out.column(from + (best - gains.begin())), .gain = *best});
        }
    }

    // Appends pairs whose outer column is a ramp, by solving for both columns after projection on the support.
    void append_with_ramps(const ColumnBlock& inner, const ColumnBlock& ramps, double min_gain,
                           std::vector<Move>& moves) const {
        const auto shared = adjusted(full_range(inner), full_range(ramps));
        for (Index a = 0; a < inner.count(); ++a) {
            if (inner.usable[a] == 0.0f) continue;
            Move best{.add = inner.column(a), .gain = min_gain};
            for (Index b = 0; b < ramps.count(); ++b) {
                if (ramps.usable[b] == 0.0f || ramps.column(b) <= inner.column(a)) continue;
                const double with_a =
                    (model_.cross_curvature(inner.column(a), ramps.column(b)) - shared[a * ramps.count() + b]) /
                    inner.curv[a];
                const double grad = ramps.grad[b] - with_a * inner.grad[a];
                const double curv = ramps.curv[b] - with_a * with_a * inner.curv[a];
                if (!(curv > tuning::collinear * ramps.curv[b])) continue;
                const double gain = 0.5 * (inner.grad[a] * inner.grad[a] / inner.curv[a] + grad * grad / curv);
                if (gain > best.gain) best.also = ramps.column(b), best.gain = gain;
            }
            if (best.also != none) moves.push_back(best);
        }
    }

    // Appends pairs within each block of columns, and between it and the next block.
    void append_near(const ColumnBlock& steps, double min_gain, std::vector<Move>& moves) const {
        for (Index first = 0; first < steps.count(); first += tuning::pair_block) {
            const Index last = std::min(first + tuning::pair_block, steps.count());
            const Index beyond = std::min(last + tuning::pair_block, steps.count());
            append_best_of_ranges({steps, first, last}, {steps, first, beyond}, min_gain, moves);
        }
    }

    // Scores the best pairs of every n-th column again, together with the columns between them.
    void refine(const ColumnBlock& steps, Index every_nth, double min_gain, std::vector<Move>& moves) const {
        const std::size_t shown = std::min(moves.size(), tuning::pairs_refined);
        std::partial_sort(moves.begin(), moves.begin() + shown, moves.end(), [](const Move& a, const Move& b) {
            return std::pair(-a.gain, a.add) < std::pair(-b.gain, b.add);
        });
        const auto neighbours = [&](Index column) -> ColumnRange {
            const Index i = column - steps.first;
            return {steps, std::max(i - every_nth + 1, Index{0}), std::min(i + every_nth, steps.count())};
        };
        std::vector<Move> fine;
        for (std::size_t m = 0; m < shown; ++m)
            append_best_of_ranges(neighbours(moves[m].add), neighbours(moves[m].also), min_gain, fine);
        moves.insert(moves.end(), fine.begin(), fine.end());
    }

    const LocalModel& model_;
    // Size of the support, including the intercept.
    Index size_;
    // H.
    std::vector<float> curvature_;
};

}  // namespace sparsegam
