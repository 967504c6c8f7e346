// sparsegam/nested_pairs.hpp: two terms of one feature at once, which may pay where neither does alone: nested steps, two
// ramps (a slope between their knots), a step and a ramp.
//
// For columns x_a <= x_b let z = x_b - x_a, the rows between them. All that is needed beside the sums of each is
// V_az = V_ab - V_a with V_ab = D_a - B_a'Q_b: no pass over the rows. Pairs grow with the square of the bins, so of
// many bins only those that are near each other are all paired; for the wide ones every few-th bin is, and the best of
// them again with their neighbours. In floats: these are predictions, and there are many of them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "local_model.hpp"

namespace sparsegam {

class NestedPairs {
  public:
    explicit NestedPairs(const LocalModel& model) : model_(model), size_(model.support_curvature().size()) {}

    // For the inner columns of a feature, the outer one with which each gains most, if that is enough.
    void best_of(const Nested& range, double min_gain, std::vector<Move>& moves) const {
        append_steps(range, min_gain, moves);
        if (range.first_ramp == range.last_ramp) return;
        const Side ramps = side(range.first_ramp, range.last_ramp, 1);
        append_with_ramps(ramps, ramps, min_gain, moves);
        append_with_ramps(side(range.first, range.last, 1 + (range.last - range.first) / tuning::pairs_scored), ramps,
                          min_gain, moves);
    }

  private:
    void append_steps(const Nested& range, double min_gain, std::vector<Move>& moves) const {
        const Index n = range.last - range.first, every = 1 + (n - 1) / tuning::pairs_scored;
        if (n < 2) return;
        if (every > 1) append_near(range, min_gain, moves);
        const Side coarse = side(range.first, range.last, every);
        std::vector<Move> found;
        append_best(coarse, coarse, min_gain, found);
        if (every > 1) refine(range, every, min_gain, found);
        moves.insert(moves.end(), found.begin(), found.end());
    }

    // What pairs need of some columns of a range.
    struct Side {
        std::vector<Index> columns;
        std::vector<float> grad, curv, raw, usable, q;
    };

    Side side(Index first, Index last, Index every) const {
        Side out;
        for (Index c = first; c < last; c += every) {
            const auto facts = model_.pair_facts(c);
            out.columns.push_back(c);
            out.grad.push_back(facts.grad);
            out.curv.push_back(facts.curv);
            out.raw.push_back(facts.raw);
            out.usable.push_back(facts.usable);
            out.q.insert(out.q.end(), facts.q, facts.q + size_);
        }
        return out;
    }

    // B_a'Q_b for all columns of both sides, inner by inner.
    std::vector<float> adjusted(const Side& inner, const Side& outer) const {
        const Index n_inner = static_cast<Index>(inner.columns.size()),
                    n_outer = static_cast<Index>(outer.columns.size());
        const double* support = model_.support_curvature().data();
        const std::vector<float> curvature(support, support + size_ * size_);
        std::vector<float> cross(n_inner * size_), out(n_inner * n_outer);
        multiply(size_, n_inner, size_, curvature.data(), inner.q.data(), cross.data());
        multiply(n_outer, n_inner, size_, outer.q.data(), cross.data(), out.data(), true);
        return out;
    }

    void append_best(const Side& inner, const Side& outer, double min_gain, std::vector<Move>& moves) const {
        const auto shared = adjusted(inner, outer);
        const std::size_t n_outer = outer.columns.size();
        std::vector<float> gains(n_outer);
        for (std::size_t a = 0; a < inner.columns.size(); ++a) {
            if (inner.usable[a] == 0.0f) continue;
            const auto next = std::upper_bound(outer.columns.begin(), outer.columns.end(), inner.columns[a]);
            const std::size_t from = next - outer.columns.begin(), count = n_outer - from;
            if (count == 0) continue;
            kernels().nested_pair_gains(
                {static_cast<Index>(count), &outer.grad[from], &outer.curv[from], &outer.raw[from],
                 &shared[a * n_outer + from], &outer.usable[from], inner.grad[a], inner.curv[a], inner.raw[a],
                 tuning::collinear, model_.multiplicative()},
                gains.data());
            const auto best = std::max_element(gains.begin(), gains.begin() + count);
            if (*best > min_gain)
                moves.push_back({.add = inner.columns[a], .also = *(next + (best - gains.begin())), .gain = *best});
        }
    }

    // The same where the outer column is a ramp: two columns beside the support, solved together.
    void append_with_ramps(const Side& inner, const Side& ramps, double min_gain, std::vector<Move>& moves) const {
        const auto shared = adjusted(inner, ramps);
        const std::size_t n_ramps = ramps.columns.size();
        for (std::size_t a = 0; a < inner.columns.size(); ++a) {
            if (inner.usable[a] == 0.0f) continue;
            Move best{.add = inner.columns[a], .gain = min_gain};
            for (std::size_t b = 0; b < n_ramps; ++b) {
                if (ramps.usable[b] == 0.0f || ramps.columns[b] <= inner.columns[a]) continue;
                const double with_a =
                    (model_.product(inner.columns[a], ramps.columns[b]) - shared[a * n_ramps + b]) / inner.curv[a];
                const double grad = ramps.grad[b] - with_a * inner.grad[a];
                const double curv = ramps.curv[b] - with_a * with_a * inner.curv[a];
                if (!(curv > tuning::collinear * ramps.curv[b])) continue;
                const double gain = 0.5 * (inner.grad[a] * inner.grad[a] / inner.curv[a] + grad * grad / curv);
                if (gain > best.gain) best.also = ramps.columns[b], best.gain = gain;
            }
            if (best.also != none) moves.push_back(best);
        }
    }

    // All pairs of a block of columns with itself and the next.
    void append_near(const Nested& range, double min_gain, std::vector<Move>& moves) const {
        for (Index first = range.first; first < range.last; first += tuning::pairs_near) {
            const Index last = std::min(first + tuning::pairs_near, range.last);
            const Index beyond = std::min(last + tuning::pairs_near, range.last);
            append_best(side(first, last, 1), side(first, beyond, 1), min_gain, moves);
        }
    }

    // The best pairs again, among the columns that the coarse look passed over on either side.
    void refine(const Nested& range, Index every, double min_gain, std::vector<Move>& moves) const {
        const std::size_t shown = std::min(moves.size(), tuning::pairs_refined);
        std::partial_sort(moves.begin(), moves.begin() + shown, moves.end(), [](const Move& a, const Move& b) {
            return std::pair(-a.gain, a.add) < std::pair(-b.gain, b.add);
        });
        std::vector<Move> fine;
        for (std::size_t m = 0; m < shown; ++m)
            append_best(around(moves[m].add, range, every), around(moves[m].also, range, every), min_gain, fine);
        moves.insert(moves.end(), fine.begin(), fine.end());
    }

    Side around(Index column, const Nested& range, Index every) const {
        return side(std::max(column - every + 1, range.first), std::min(column + every, range.last), 1);
    }

    const LocalModel& model_;
    Index size_;  // of the support, the intercept included
};

}  // namespace sparsegam
