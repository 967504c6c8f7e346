// sparsegam/swap.hpp: the paper's local search: thresholding steps, swaps in the order of the gradient, cuts, a queue.
//
// Columns are centred here, so that a step along one leaves the intercept's optimum nearly alone. For one lambda0:
//   1. descend: add columns and drop terms as the thresholding operation says, refit, until it says nothing;
//   2. for each term, in order: drop it; if that lowers the loss, keep it so; else try the columns with the steepest
//      slopes in its place, ruling out by cuts those that cannot win, and make the first swap that lowers the loss;
//   3. end when every term was tried in vain.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cuts.hpp"
#include "exchange.hpp"
#include "exponential.hpp"
#include "swap_options.hpp"

namespace sparsegam {

class SwapSearch {
  public:
    SwapSearch(LineRows& rows, Objective& objective, Index max_terms, const SwapOptions& options,
               const Deadline& deadline)
        : rows_(rows),
          objective_(objective),
          penalty_(objective.penalty()),
          columns_(objective.columns()),
          max_terms_(max_terms),
          options_(options),
          deadline_(deadline),
          every_(objective.n_columns()) {
        std::iota(every_.begin(), every_.end(), Index{0});
        current_.columns = penalty_.always;
        current_.coef.assign(penalty_.always.size(), 0.0);
        refit_to(current_);
        min_improvement_ = tuning::min_improvement * current_.value();
    }

    // The search for one lambda0, from where the last one ended.
    const Point& search(double lambda0) {
        failures_.clear();
        descend(lambda0);
        while (!deadline_.passed()) {
            const Point before = current_;
            if (!swap_one()) break;
            descend(lambda0);
            if (is_lower(current_, before, lambda0)) continue;
            current_ = before;  // swaps lower the loss; where columns differ in cost, not always the objective
            break;
        }
        return current_;
    }

    const Point& current() const { return current_; }
    const SwapCounts& counts() const { return swap_counts_; }
    bool finished() const { return !deadline_.passed(); }

  private:
    static constexpr int most_cycles = 100;

    // Curvature that a step along the centred column never meets more of, ridge included.
    double lipschitz(Index c) const {
        return objective_.loss().largest_curvature * columns_.spread[c] + objective_.ridge(c);
    }

    void refit_to(Point& point) { refit(objective_, point, {.tolerance = 0.1 * min_improvement_}); }

    // --- adding and dropping by thresholding

    // Cycles of coordinate descent until the support stands, then refits until the rule has nothing to add or drop.
    void descend(double lambda0) {
        if (!closed())
            for (int n = 0; n < most_cycles && !deadline_.passed() && cycle(lambda0); ++n) {
            }
        refit_to(current_);
        while (!deadline_.passed()) {
            const Point before = current_;
            if (!drop_one(lambda0) && !add_one(lambda0)) return;
            refit_to(current_);
            if (is_lower(current_, before, lambda0)) continue;
            current_ = before;  // the rule's word does not hold where a coefficient diverges
            return;
        }
    }

    bool is_lower(const Point& point, const Point& than, double lambda0) const {
        return objective_.penalised(point, lambda0) < objective_.penalised(than, lambda0) - min_improvement_;
    }

    // One thresholding step on each coordinate that may be or become nonzero, steepest first. True if the support changed.
    bool cycle(double lambda0) {
        const Slopes slopes = rows_.slopes(current_);
        std::vector<std::pair<double, Index>> order;
        for (Index c : every_) {
            const bool inside = current_.has(c);
            const double steep = slopes.slope[c] * slopes.slope[c] / std::max(lipschitz(c), 1e-300);
            if (penalty_.allowed[c] && (inside || steep > lambda0 * penalty_.cost[c])) order.emplace_back(-steep, c);
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
        const bool inside = at != none;
        if (!inside && !may_join(column)) return;
        const double w = inside ? current_.coef[at] : 0.0, steepness = lipschitz(column);
        const double slope = rows_.line(current_, column, 0.0).slope + objective_.ridge(column) * w;
        double next = penalty_.clip(column, w - slope / steepness);
        if (next * next < 2.0 * lambda0 * penalty_.cost[column] / steepness) next = 0.0;
        if (next == w) return;
        Point moved = inside ? without(current_, at) : current_;
        moved.intercept -= next * columns_.mean[column];
        current_ = next == 0.0 && !penalty_.is_always(column) ? moved : moved.with(column, next);
    }

    // At an optimum of the support the thresholding step leaves w where |w| >= sqrt(2 lambda0 / L), else
    // makes it zero; for the exponential loss the keep-or-drop rule is exact.
    bool drop_one(double lambda0) {
        double least = 0.0;
        Index at = none;
        for (Index s = 0; s < current_.size(); ++s) {
            const double worth = worth_of(s) - lambda0 * penalty_.cost[current_.columns[s]];
            if (worth < least && !penalty_.is_always(current_.columns[s])) least = worth, at = s;
        }
        if (at == none) return false;
        ++swap_counts_.drops;
        current_ = without(current_, at);
        return true;
    }

    double worth_of(Index s) {
        const Index c = current_.columns[s];
        if (!closed()) return 0.5 * lipschitz(c) * current_.coef[s] * current_.coef[s];
        const Point dropped = drop(s);
        const double worth = closed_step(objective_.groups(dropped, std::span(&c, 1)), 0).worth;
        undo_drop(dropped, c);
        return worth;
    }

    bool add_one(double lambda0) {
        if (current_.size() >= max_terms_) return false;
        const auto columns = outside(current_);
        const auto promises = closed() ? closed_promises(columns) : threshold_promises(columns);
        double most = min_improvement_;
        Index best = none;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const double gain = promises[i] - lambda0 * penalty_.cost[columns[i]];
            if (gain > most) most = gain, best = columns[i];
        }
        if (best == none) return false;
        current_ = closed() ? stepped(best) : joined(current_, best, 0.0, 0.0);
        return true;
    }

    // The current point with a column at its best coefficient, where that is in bounds.
    Point stepped(Index c) {
        const ClosedStep step = closed_step(objective_.groups(current_, std::span(&c, 1)), 0);
        const bool inside = penalty_.clip(c, step.coef) == step.coef;
        return inside ? joined(current_, c, step.coef, step.shift) : joined(current_, c, 0.0, 0.0);
    }

    // What columns gain at least: by a thresholding step, or exactly where the line has a closed form.
    std::vector<double> threshold_promises(const std::vector<Index>& columns) {
        const Slopes slopes = rows_.slopes(current_);
        std::vector<double> gains;
        for (Index c : columns) gains.push_back(0.5 * slopes.slope[c] * slopes.slope[c] / lipschitz(c));
        return gains;
    }

    std::vector<double> closed_promises(const std::vector<Index>& columns) {
        const Groups groups = objective_.groups(current_, columns);
        std::vector<double> gains;
        for (std::size_t i = 0; i < columns.size(); ++i) gains.push_back(closed_step(groups, i).gain);
        return gains;
    }

    bool may_join(Index column) const {
        return current_.size() < max_terms_ && Limits(penalty_, current_.columns).allow(none, column);
    }

    // --- swaps

    bool swap_one() {
        std::vector<Index> order(current_.size());
        std::iota(order.begin(), order.end(), Index{0});
        std::sort(order.begin(), order.end(), [&](Index a, Index b) { return rank(a) < rank(b); });
        for (Index s : order) {
            if (deadline_.passed()) return false;
            if (penalty_.is_always(current_.columns[s])) continue;
            if (auto better = delete_or_swap(s)) {
                current_ = std::move(*better);
                refit_to(current_);
                return true;
            }
            ++failures_[current_.columns[s]];
        }
        return false;
    }

    std::pair<Index, Index> rank(Index s) {
        const Index column = current_.columns[s];
        return {options_.dynamic ? failures_[column] : 0, column};
    }

    std::optional<Point> delete_or_swap(Index s) {
        ++swap_counts_.terms_tried;
        const double must_beat = current_.value() - min_improvement_;
        const Point dropped = drop(s);
        if (dropped.value() <= must_beat) {
            ++swap_counts_.drops;
            return dropped;
        }
        const auto groups = closed() ? std::optional(objective_.groups(dropped, every_)) : std::nullopt;
        const Slopes slopes = groups ? slopes_of(*groups) : rows_.slopes(dropped);
        for (Index c : steepest(slopes, dropped, current_.columns[s])) {
            if (deadline_.passed()) break;
            ++swap_counts_.columns_tried;
            auto better =
                groups ? try_add_closed(dropped, *groups, c, must_beat) : try_add(dropped, slopes.at(c), c, must_beat);
            if (!better) continue;
            ++swap_counts_.swaps;
            return better;
        }
        undo_drop(dropped, current_.columns[s]);
        return std::nullopt;
    }

    // The current point without its s-th term. Where the loss is multiplicative the rows go there by a shift, and come
    // back by one; the next refit evaluates anew.
    Point drop(Index s) {
        Point dropped = without(current_, s);
        if (closed())
            dropped.loss = rows_.shift(current_, dropped, current_.columns[s]);
        else
            objective_.evaluate(dropped);
        return dropped;
    }

    void undo_drop(const Point& dropped, Index column) {
        if (closed()) rows_.shift(dropped, current_, column);
    }

    // The same sums in the place of a second pass: along x - m the slope is x'g - m 1'g.
    Slopes slopes_of(const Groups& groups) const {
        Slopes out{groups.total_loss, groups.total_grad, {}, {}};
        for (Index c : every_) {
            const double m = columns_.mean[c];
            out.slope.push_back(groups.grad[c] - m * groups.total_grad);
            out.curv.push_back((1.0 - 2.0 * m) * groups.curv[c] + m * m * groups.total_curv);
        }
        return out;
    }

    std::vector<Index> steepest(const Slopes& slopes, const Point& dropped, Index left) const {
        auto columns = outside(dropped);
        std::erase(columns, left);
        const auto steeper = [&](Index a, Index b) {
            return slopes.at(a).slope * slopes.at(a).slope * columns_.spread[b] >
                   slopes.at(b).slope * slopes.at(b).slope * columns_.spread[a];
        };
        const Index most =
            options_.candidates == 0 ? Index(columns.size()) : std::min<Index>(options_.candidates, columns.size());
        std::partial_sort(columns.begin(), columns.begin() + most, columns.end(), steeper);
        columns.resize(most);
        return columns;
    }

    // The point after the step along column c that brings the value below what it must beat; none when there
    // is no such step or a cut rules it out.
    std::optional<Point> try_add(const Point& dropped, const LineSums& sums, Index c, double must_beat) {
        const LinePoint start{0.0, dropped.value(), sums.slope};
        const double step = -sums.slope / lipschitz(c);
        if (ruled_out(dropped, sums, c, start, step, must_beat)) return std::nullopt;
        const LinePoint found = line_search(dropped, c, step);
        if (!(found.value < must_beat)) return std::nullopt;
        return joined(dropped, c, found.at, -found.at * columns_.mean[c]);
    }

    std::optional<Point> try_add_closed(const Point& dropped, const Groups& groups, Index c, double must_beat) {
        ++swap_counts_.closed_lines;
        const ClosedStep step = closed_step(groups, c);
        if (!(dropped.value() - step.gain < must_beat) || penalty_.clip(c, step.coef) != step.coef) return std::nullopt;
        return joined(dropped, c, step.coef, step.shift);
    }

    bool ruled_out(const Point& dropped, const LineSums& sums, Index c, const LinePoint& start, double step,
                   double must_beat) {
        switch (options_.cuts) {
            case Cuts::none:
                return false;
            case Cuts::selfconcordant:
                return counted(concordant_cut(start, sums.curv,
                                              objective_.loss().self_concordance * rows_.largest(c)) >= must_beat,
                               swap_counts_.cut_selfconcordant);
            case Cuts::linear:
                return cut_between(dropped, c, start, step, must_beat, 0.0);
            case Cuts::quadratic:
                return cut_between(dropped, c, start, step, must_beat, 0.5 * objective_.ridge(c));
        }
        return false;
    }

    // Aggressive steps of twice, else three times the thresholding step reach over the minimum, twice with
    // one bisection; then the cut between the two sides. Without ridge (m = 0) the cuts are tangents, with it
    // parabolas.
    bool cut_between(const Point& dropped, Index c, const LinePoint& start, double step, double must_beat, double m) {
        Index& count = m > 0.0 ? swap_counts_.cut_quadratic : swap_counts_.cut_linear;
        const auto low = [&](const LinePoint& p) {
            return m > 0.0 && counted(quadratic_cut(p, m) >= must_beat, count);
        };
        const auto crossed = [&](const LinePoint& p) { return start.slope * p.slope < 0.0; };
        if (low(start)) return true;
        LinePoint near = start, far = line(dropped, c, 2.0 * step);
        if (crossed(far)) {
            const LinePoint middle = line(dropped, c, 1.5 * step);
            if (low(middle)) return true;
            near = crossed(middle) ? line(dropped, c, step) : middle;
            if (crossed(middle)) far = middle;
        } else {
            near = far;
            if (low(near)) return true;
            far = line(dropped, c, 3.0 * step);
            if (!crossed(far)) return low(far);
        }
        const double bound = m > 0.0 ? quadratic_cut(near, far, m) : linear_cut(near, far);
        return counted(bound >= must_beat, count);
    }

    // Thresholding steps on one coordinate with the support fixed: each moves towards the minimum and never over it.
    LinePoint line_search(const Point& dropped, Index c, double step) {
        ++swap_counts_.line_searches;
        LinePoint at = line(dropped, c, penalty_.clip(c, step));
        for (int i = 1; i < options_.line_steps; ++i)
            at = line(dropped, c, penalty_.clip(c, at.at - at.slope / lipschitz(c)));
        return at;
    }

    // f and its slope at a step along the centred column, the ridge included.
    LinePoint line(const Point& dropped, Index c, double step) {
        ++swap_counts_.line_points;
        const LineSums sums = rows_.line(dropped, c, step);
        const double ridge = objective_.ridge(c);
        return {step, sums.value + dropped.ridge + 0.5 * ridge * step * step, sums.slope + ridge * step};
    }

    // A multiplicative loss needs no line searches: exponential.hpp has its closed form.
    bool closed() const { return objective_.loss().multiplicative; }

    static Point joined(const Point& dropped, Index c, double coef, double shift) {
        Point next = dropped.with(c, coef);
        next.intercept += shift;
        return next;
    }

    // The point with the s-th coefficient at zero, along its centred column.
    Point without(const Point& point, Index s) const {
        Point dropped = point.without(s);
        dropped.intercept += point.coef[s] * columns_.mean[point.columns[s]];
        dropped.ridge = point.ridge - 0.5 * objective_.ridge(point.columns[s]) * point.coef[s] * point.coef[s];
        return dropped;
    }

    std::vector<Index> outside(const Point& point) const {
        std::vector<char> taken(every_.size(), 0);
        for (Index c : point.columns) taken[c] = 1;
        const Limits limits(penalty_, point.columns);
        std::vector<Index> columns;
        for (Index c : every_)
            if (!taken[c] && penalty_.allowed[c] && limits.allow(none, c)) columns.push_back(c);
        return columns;
    }

    LineRows& rows_;
    Objective& objective_;
    const Penalty& penalty_;
    const Columns& columns_;
    Index max_terms_;
    SwapOptions options_;
    Deadline deadline_;
    std::vector<Index> every_;  // all columns
    Point current_;
    double min_improvement_ = 1e-9;
    std::map<Index, Index> failures_;
    SwapCounts swap_counts_;
};

}  // namespace sparsegam
