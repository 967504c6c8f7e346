// sparsegam/certificate.hpp: proves that no swap of one term for one column improves a model.
//
// A swap is defined as in the paper: term j leaves, column c enters, and the other coefficients do not change; in
// addition, the intercept is re-optimised. A 0/1 column with a free intercept splits the rows into two groups that can
// be shifted independently. Hence the gain of c is at most the sum of the gains of the best shifts of both groups,
// which are bounded by three sums per group. This bound excludes nearly all pairs; the others need a line search.
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
    // The number of (term, column) pairs checked, and of those that needed a line search.
    Index pairs = 0;
    Index line_searches = 0;
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

    // Returns the first swap that improves the objective, with the other coefficients unchanged, or nothing if the
    // point is swap 1-optimal.
    std::optional<Point> find_better() {
        std::vector<char> taken(objective_.n_columns(), 0);
        for (Index c : point_.columns) taken[c] = 1;
        for (Index j = 0; j < point_.size(); ++j) {
            if (penalty_.is_always(point_.columns[j])) continue;
            if (deadline_.passed()) return std::nullopt;
            removed_ = point_.columns[j];
            const Point dropped = without(j);
            const auto open = open_columns(dropped, taken);
            certificate_.line_searches += static_cast<Index>(open.size());
            for (Index c : open) {
                if (deadline_.passed()) return std::nullopt;
                if (auto better = line_search(dropped, c)) return better;
            }
        }
        certificate_.swap_optimal = no_coefficient_diverged();
        return std::nullopt;
    }

    const Certificate& certificate() const { return certificate_; }

  private:
    static constexpr std::size_t max_shifts = 8;

    // If a coefficient has diverged (separable data without ridge), line searches may end too early, and no certificate
    // is given.
    bool no_coefficient_diverged() const {
        for (Index s = 0; s < point_.size(); ++s) {
            if (std::abs(point_.coef[s]) > 0.9 * objective_.max_coef(point_.columns[s])) return false;
        }
        return true;
    }

    struct Group {
        double grad, curv, loss;
    };

    // The value that a point must reach when a column replaces the removed term. It depends on the costs of both
    // columns.
    double must_beat(Index column) const {
        return point_.value() - min_improvement_ + lambda0_ * (penalty_.cost[removed_] - penalty_.cost[column]);
    }

    // Returns the point without its j-th term, with optimal intercept: the bounds are sharp near the best shift of a
    // group.
    Point without(Index j) {
        Point dropped = point_.without(j);
        refit(objective_, dropped, {.tolerance = min_improvement_, .n_fixed = dropped.size()});
        return dropped;
    }

    // Returns the columns that no bound excludes. The bound of a group is sharp if its best shift is close. Hence
    // bounds are computed at a few shifts of the intercept, each chosen for the columns not excluded so far. These are
    // few, and their sums are fast to compute.
    std::vector<Index> open_columns(const Point& dropped, const std::vector<char>& taken) {
        const Limits limits(penalty_, point_.columns);
        std::vector<Index> open;
        for (Index c = 0; c < objective_.n_columns(); ++c)
            if (!taken[c] && penalty_.allowed[c] && limits.allow(removed_, c)) open.push_back(c);
        certificate_.pairs += static_cast<Index>(open.size());
        inside_.assign(objective_.n_columns(), 0.0);
        outside_.assign(objective_.n_columns(), 0.0);
        std::vector<double> shifts{0.0};
        while (true) {
            Point shifted = dropped;
            shifted.intercept += shifts.back();
            const double target = raise_bounds(shifted, shifts.back(), open);
            if (open.empty() || shifts.size() == max_shifts || is_near(target, shifts)) return open;
            shifts.push_back(target);
        }
    }

    static bool is_near(double shift, const std::vector<double>& shifts) {
        return std::any_of(shifts.begin(), shifts.end(), [&](double s) { return std::abs(s - shift) < 0.02; });
    }

    // Raises the lower bounds on the losses of both groups with the sums at this shift and keeps the columns that are
    // not excluded. Returns the median of the shifts that would be best for the less certain groups of these columns.
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
        // Many iterations: a line search that ends early proves nothing.
        refit(objective_, next, {.tolerance = 0.1 * min_improvement_, .max_steps = 100, .n_fixed = dropped.size()});
        if (next.value() < must_beat(column)) return next;
        return std::nullopt;
    }

    Objective& objective_;
    const Penalty& penalty_;
    const Point& point_;
    double lambda0_, min_improvement_;
    Deadline deadline_;
    // The removed term.
    Index removed_ = none;
    // Lower bounds on the losses of the two groups of each column.
    std::vector<double> inside_, outside_;
    Certificate certificate_;
};

}  // namespace sparsegam
