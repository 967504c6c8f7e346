// sparsegam/certificate.hpp: the certified sweep: proof that no swap of one term for one column helps.
//
// A swap here is the paper's: term j leaves, column c enters, the other coefficients stay, and (beyond the
// paper) the intercept moves freely. A 0/1 column with a free intercept splits the rows into two groups whose
// shifts are free of each other, so the most that c can gain is at most the sum of what each group can gain
// by a shift of its own: a bound from three sums per group that settles nearly every pair. Those it leaves
// open are line-searched.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "limits.hpp"
#include "refit.hpp"
#include "tuning.hpp"
#include "types.hpp"

namespace sparsegam {

struct Certificate {
    bool swap_optimal = false;
    Index pairs = 0;          // (term, column) pairs looked at
    Index line_searches = 0;  // of them, those that the bounds left to a line search
};

class Sweep {
  public:
    Sweep(Objective& objective, const Point& point, double lambda0, double min_improvement, const Deadline& deadline)
        : objective_(objective),
          penalty_(objective.penalty()),
          point_(point),
          lambda0_(lambda0),
          min_improvement_(min_improvement),
          deadline_(deadline) {}

    // The first swap that helps, with the other coefficients as they were; none when the point is swap 1-OPT.
    std::optional<Point> find_better() {
        std::vector<char> taken(objective_.n_columns(), 0);
        for (Index c : point_.columns) taken[c] = 1;
        for (Index j = 0; j < point_.size(); ++j) {
            if (penalty_.is_always(point_.columns[j])) continue;
            if (deadline_.passed()) return std::nullopt;
            left_ = point_.columns[j];
            const Point dropped = without(j);
            const auto open = open_columns(dropped, taken);
            certificate_.line_searches += static_cast<Index>(open.size());
            for (Index c : open) {
                if (deadline_.passed()) return std::nullopt;
                if (auto better = line_search(dropped, c)) return better;
            }
        }
        certificate_.swap_optimal = none_diverged();
        return std::nullopt;
    }

    const Certificate& certificate() const { return certificate_; }

  private:
    static constexpr std::size_t most_shifts = 8;

    // Where a coefficient has diverged (separable data without ridge), line searches may stop short: nothing is claimed.
    bool none_diverged() const {
        for (Index s = 0; s < point_.size(); ++s) {
            if (std::abs(point_.coef[s]) > 0.9 * objective_.max_coef(point_.columns[s])) return false;
        }
        return true;
    }

    struct Group {
        double grad, curv, loss;
    };

    // What the point must come below with a column in place of the term that is out: columns differ in price.
    double must_beat(Index column) const {
        return point_.value() - min_improvement_ + lambda0_ * (penalty_.cost[left_] - penalty_.cost[column]);
    }

    // The point without its j-th term, at its best intercept: the bounds are sharp near a group's best shift.
    Point without(Index j) {
        Point dropped = point_.without(j);
        refit(objective_, dropped, {.tolerance = min_improvement_, .n_fixed = dropped.size()});
        return dropped;
    }

    // The columns that no bound rules out. The bound of a group is sharp where its own best shift is near, so
    // it is taken at a few shifts of the intercept, each chosen for the columns that the last ones left open;
    // few are left, and their sums cost little.
    std::vector<Index> open_columns(const Point& dropped, const std::vector<char>& taken) {
        const Limits limits(penalty_, point_.columns);
        std::vector<Index> open;
        for (Index c = 0; c < objective_.n_columns(); ++c)
            if (!taken[c] && penalty_.allowed[c] && limits.allow(left_, c)) open.push_back(c);
        certificate_.pairs += static_cast<Index>(open.size());
        inside_.assign(objective_.n_columns(), 0.0);
        outside_.assign(objective_.n_columns(), 0.0);
        std::vector<double> shifts{0.0};
        while (true) {
            Point shifted = dropped;
            shifted.intercept += shifts.back();
            const double target = raise_bounds(shifted, shifts.back(), open);
            if (open.empty() || shifts.size() == most_shifts || near(target, shifts)) return open;
            shifts.push_back(target);
        }
    }

    static bool near(double shift, const std::vector<double>& shifts) {
        return std::any_of(shifts.begin(), shifts.end(), [&](double s) { return std::abs(s - shift) < 0.02; });
    }

    // Raises the lower bounds on both groups' losses with the sums at this shift, keeps the columns still
    // open, and returns the shift that their least certain groups ask for, in the middle.
    double raise_bounds(const Point& shifted, double shift, std::vector<Index>& open) {
        const GroupSums all = objective_.groups(shifted, open);
        const auto gain = objective_.loss().max_shift_gain;
        std::vector<double> targets;
        std::vector<Index> still_open;
        for (std::size_t i = 0; i < open.size(); ++i) {
            const Index c = open[i];
            const Group in{all.grad[i], all.curv[i], all.loss[i]};
            const Group out{all.total_grad - in.grad, all.total_curv - in.curv, all.total_loss - in.loss};
            inside_[c] = std::max(inside_[c], in.loss - gain(in.grad, in.curv, in.loss));
            outside_[c] = std::max(outside_[c], out.loss - gain(out.grad, out.curv, out.loss));
            if (inside_[c] + outside_[c] + shifted.ridge >= must_beat(c)) continue;
            const Group& farther = std::abs(in.grad) * out.curv > std::abs(out.grad) * in.curv ? in : out;
            targets.push_back(shift - std::clamp(farther.grad / std::max(farther.curv, 1e-300), -1.0, 1.0));
            still_open.push_back(c);
        }
        open = std::move(still_open);
        if (targets.empty()) return shift;
        std::nth_element(targets.begin(), targets.begin() + targets.size() / 2, targets.end());
        return targets[targets.size() / 2];
    }

    std::optional<Point> line_search(const Point& dropped, Index column) {
        Point next = dropped.with(column, 0.0);
        // To the end: a proof does not give up early.
        refit(objective_, next, {.tolerance = 0.1 * min_improvement_, .max_steps = 100, .n_fixed = dropped.size()});
        if (next.value() < must_beat(column)) return next;
        return std::nullopt;
    }

    Objective& objective_;
    const Penalty& penalty_;
    const Point& point_;
    double lambda0_, min_improvement_;
    Deadline deadline_;
    Index left_ = none;                     // the term that is out
    std::vector<double> inside_, outside_;  // lower bounds on the losses of a column's two groups
    Certificate certificate_;
};

}  // namespace sparsegam
