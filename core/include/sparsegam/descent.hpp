// sparsegam/descent.hpp: coordinate descent to a surrogate 1-OPT point: thresholding steps, then refits.
//
// Cycles of thresholding steps T(j, w) run until the support stands. Then, at the optimum of the support, terms that a
// thresholding step would drop are dropped and columns that it would add are added, with a refit after each, until it
// says nothing. What is left is a surrogate 1-OPT point of the paper.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "limits.hpp"
#include "lines.hpp"
#include "refit.hpp"
#include "swap_options.hpp"

namespace sparsegam {

class Descent {
  public:
    Descent(Lines& lines, Objective& objective, Index max_terms, const Deadline& deadline, SwapCounts& counts)
        : lines_(lines),
          objective_(objective),
          penalty_(objective.penalty()),
          max_terms_(max_terms),
          deadline_(deadline),
          counts_(counts),
          every_(objective.n_columns()) {
        std::iota(every_.begin(), every_.end(), Index{0});
        current_.columns = penalty_.always;
        current_.coef.assign(penalty_.always.size(), 0.0);
        refit_current();
        min_improvement_ = tuning::min_improvement * current_.value();
    }

    const Point& current() const { return current_; }
    double min_improvement() const { return min_improvement_; }
    const std::vector<Index>& every() const { return every_; }

    // Goes on from another point, as it is or refitted first.
    void go_to(const Point& point) { current_ = point; }
    void refit_from(const Point& point) {
        current_ = point;
        refit_current();
    }

    void descend(double lambda0) {
        if (!lines_.closed())
            for (int n = 0; n < most_cycles && !deadline_.passed() && cycle(lambda0); ++n) {
            }
        refit_current();
        while (!deadline_.passed()) {
            const Point before = current_;
            if (!drop_one(lambda0) && !add_one(lambda0)) return;
            refit_current();
            if (is_lower(current_, before, lambda0)) continue;
            current_ = before;  // the rule's word does not hold where a coefficient diverges
            return;
        }
    }

    bool is_lower(const Point& point, const Point& than, double lambda0) const {
        return objective_.penalised(point, lambda0) < objective_.penalised(than, lambda0) - min_improvement_;
    }

    // The columns that may join the current point, one of its own having left.
    std::vector<Index> outside(Index left = none) const {
        std::vector<char> taken(every_.size(), 0);
        for (Index c : current_.columns) taken[c] = 1;
        const Limits limits(penalty_, current_.columns);
        std::vector<Index> columns;
        for (Index c : every_)
            if (!taken[c] && penalty_.allowed[c] && limits.allow(left, c)) columns.push_back(c);
        return columns;
    }

    // May a column of the current point leave it?
    bool may_drop(Index column) const {
        return !penalty_.is_always(column) && Limits(penalty_, current_.columns).may_drop(column);
    }

  private:
    static constexpr int most_cycles = 100;

    void refit_current() { refit(objective_, current_, {.tolerance = 0.1 * min_improvement_}); }

    // One thresholding step on each coordinate that may be or become nonzero, steepest first. True if the support changed.
    bool cycle(double lambda0) {
        const Slopes slopes = lines_.slopes(current_);
        std::vector<std::pair<double, Index>> order;
        for (Index c : every_) {
            const bool inside = current_.has(c);
            const double slope = inside ? slopes.slope[c] : lines_.softened(c, slopes.slope[c]);
            const double steep = slope * slope / std::max(lines_.lipschitz(c), 1e-300);
            if (inside || (penalty_.allowed[c] && steep > lambda0 * penalty_.cost[c])) order.emplace_back(-steep, c);
        }
        std::sort(order.begin(), order.end());
        const Point before = current_;
        for (const auto& entry : order) threshold(entry.second, lambda0);
        refit(objective_, current_, {.tolerance = min_improvement_, .held = current_.size()});
        return !same_support(before, current_);
    }

    // T(j, w): c = w - slope / L, kept if |c| >= sqrt(2 lambda0 / L), else zero.
    void threshold(Index column, double lambda0) {
        const Index at = current_.position(column);
        const bool inside = at != none, fixed = inside && !may_drop(column);
        if ((!inside && !may_join(column)) || !(lines_.lipschitz(column) > 0.0)) return;
        const double w = inside ? current_.coef[at] : 0.0;
        double next = lines_.stepped(current_, column, w);
        if (!fixed && next * next < 2.0 * lambda0 * penalty_.cost[column] / lines_.lipschitz(column)) next = 0.0;
        if (next == w) return;
        const Point rest = inside ? lines_.without(current_, at) : current_;
        if (next == 0.0 && !fixed)
            current_ = rest;
        else
            current_ = lines_.joined(rest, column, next);
    }

    // At an optimum of the support the thresholding step leaves w where |w| >= sqrt(2 lambda0 / L), else
    // makes it zero; for the exponential loss the keep-or-drop rule is exact.
    bool drop_one(double lambda0) {
        double least = 0.0;
        Index at = none;
        for (Index s = 0; s < current_.size(); ++s) {
            if (!may_drop(current_.columns[s])) continue;
            const double worth = worth_of(s) - lambda0 * penalty_.cost[current_.columns[s]];
            if (worth < least) least = worth, at = s;
        }
        if (at == none) return false;
        ++counts_.drops;
        current_ = lines_.without(current_, at);
        return true;
    }

    double worth_of(Index s) {
        const Index c = current_.columns[s];
        if (!lines_.closed()) return 0.5 * lines_.lipschitz(c) * current_.coef[s] * current_.coef[s];
        const Point dropped = lines_.drop(current_, s);
        const double worth = lines_.closed_step_at(dropped, c).worth;
        lines_.undo_drop(dropped, current_, c);
        return worth;
    }

    bool add_one(double lambda0) {
        if (current_.size() >= max_terms_) return false;
        const auto columns = outside();
        const auto promises = lines_.closed() ? closed_promises(columns) : threshold_promises(columns);
        double most = min_improvement_;
        Index best = none;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const double gain = promises[i] - lambda0 * penalty_.cost[columns[i]];
            if (gain > most) most = gain, best = columns[i];
        }
        if (best == none) return false;
        current_ = lines_.closed() ? closed_joined(best) : Lines::joined(current_, best, 0.0, 0.0);
        return true;
    }

    // The current point with a column at its best coefficient.
    Point closed_joined(Index c) {
        const ClosedStep step = lines_.closed_step_at(current_, c);
        return Lines::joined(current_, c, step.coef, step.shift);
    }

    // What columns gain at least: by a thresholding step, or exactly where the line has a closed form.
    std::vector<double> threshold_promises(const std::vector<Index>& columns) {
        const Slopes slopes = lines_.slopes(current_);
        std::vector<double> gains;
        for (Index c : columns) gains.push_back(lines_.step_gain(c, slopes.slope[c]));
        return gains;
    }

    std::vector<double> closed_promises(const std::vector<Index>& columns) {
        const Groups groups = lines_.groups(current_, columns);
        std::vector<double> gains;
        for (std::size_t i = 0; i < columns.size(); ++i)
            gains.push_back(lines_.bounded(columns[i], closed_step(groups, i)).gain);
        return gains;
    }

    bool may_join(Index column) const {
        return current_.size() < max_terms_ && Limits(penalty_, current_.columns).allow(none, column);
    }

    Lines& lines_;
    Objective& objective_;
    const Penalty& penalty_;
    Index max_terms_;
    Deadline deadline_;
    SwapCounts& counts_;
    std::vector<Index> every_;  // all columns
    Point current_;
    double min_improvement_ = 1e-9;
};

}  // namespace sparsegam
