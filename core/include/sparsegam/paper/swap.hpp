// sparsegam/paper/swap.hpp: the local search of the paper: coordinate descent, and swaps in the order of the gradients
// with cuts.
//
// For one lambda0:
//     1. Coordinate descent (class Descent): cycles of thresholding steps T(j, w) run until the support is stable.
//        Then, at the optimum of the support, terms that a thresholding step would remove are removed and columns that
//        it would add are added, with a refit after each, until there are no such columns. The result is a surrogate
//        1-optimal point of the paper.
//     2. For each term, in order: remove it. If that lowers the loss, keep this model. Otherwise try the columns with
//        the steepest slopes as replacements, exclude by cuts those that cannot improve the model, and make the first
//        swap that lowers the loss.
//     3. End when all terms have been tried without success.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lines.hpp"
#include "sparsegam/limits.hpp"
#include "sparsegam/refit.hpp"

namespace sparsegam {

enum class Cuts { none, linear, quadratic, selfconcordant };

struct SwapOptions {
    Cuts cuts = Cuts::quadratic;
    // Whether terms that failed least often are tried first; otherwise terms are tried by column, from the first one
    // after each swap.
    bool dynamic = true;
    // Number of columns tried as replacement of a term; 0 means all.
    Index candidates = 50;
    // Number of thresholding steps in a line search.
    int line_steps = 10;
    // Maximum number of swaps at one lambda0. With 0, only coordinate descent is run; -1 means no limit.
    Index max_swaps = -1;
};

// Counters of the search. They do not depend on the speed of the machine.
struct SwapCounts {
    Index terms_tried = 0, columns_tried = 0, swaps = 0, drops = 0;
    Index cut_linear = 0, cut_quadratic = 0, cut_selfconcordant = 0;
    // Number of columns decided by the closed form of the exponential loss.
    Index closed_lines = 0;
    // Number of line searches, and of values of f computed on lines.
    Index line_searches = 0, line_points = 0;
};

inline bool counted(bool cut, Index& count) {
    count += cut;
    return cut;
}

class Descent {
  public:
    Descent(Lines& lines, Objective& objective, Index max_terms, const Deadline& deadline, SwapCounts& counts)
        : lines_(lines),
          objective_(objective),
          penalty_(objective.penalty()),
          max_terms_(max_terms),
          deadline_(deadline),
          counts_(counts),
          all_columns_(objective.n_columns()) {
        std::iota(all_columns_.begin(), all_columns_.end(), Index{0});
        current_.columns = penalty_.always;
        current_.coef.assign(penalty_.always.size(), 0.0);
        refit_current();
        min_improvement_ = tuning::min_improvement * current_.value();
    }

    const Point& current() const { return current_; }
    double min_improvement() const { return min_improvement_; }
    const std::vector<Index>& all_columns() const { return all_columns_; }

    // Continues from another point, unchanged or after a refit.
    void go_to(const Point& point) { current_ = point; }
    void refit_from(const Point& point) {
        current_ = point;
        refit_current();
    }

    void descend(double lambda0) {
        if (!lines_.has_closed_form())
            for (int n = 0; n < max_cycles && !deadline_.passed() && cycle(lambda0); ++n) {
            }
        refit_current();
        while (!deadline_.passed()) {
            const Point before = current_;
            if (!drop_one(lambda0) && !add_one(lambda0)) return;
            refit_current();
            if (is_lower(current_, before, lambda0)) continue;
            // The thresholding rules may fail to improve the objective if a coefficient diverges.
            current_ = before;
            return;
        }
    }

    bool is_lower(const Point& point, const Point& than, double lambda0) const {
        return objective_.penalised(point, lambda0) < objective_.penalised(than, lambda0) - min_improvement_;
    }

    // Returns the columns that may enter the current point, possibly after one of its columns has left.
    std::vector<Index> outside(Index left = none) const {
        std::vector<char> taken(all_columns_.size(), 0);
        for (Index c : current_.columns) taken[c] = 1;
        const Limits limits(penalty_, current_.columns);
        std::vector<Index> columns;
        for (Index c : all_columns_)
            if (!taken[c] && penalty_.allowed[c] && limits.allow(left, c)) columns.push_back(c);
        return columns;
    }

    // Whether a column of the current point may leave it.
    bool may_drop(Index column) const {
        return !penalty_.is_always(column) && Limits(penalty_, current_.columns).may_drop(column);
    }

  private:
    static constexpr int max_cycles = 100;

    void refit_current() { refit(objective_, current_, {.tolerance = 0.1 * min_improvement_}); }

    // Makes one thresholding step on each coordinate that is or may become nonzero, in the order of decreasing slope.
    // Returns whether the support changed.
    bool cycle(double lambda0) {
        const Slopes slopes = lines_.slopes(current_);
        std::vector<std::pair<double, Index>> order;
        for (Index c : all_columns_) {
            const bool inside = current_.has(c);
            const double slope = inside ? slopes.slope[c] : lines_.soft_thresholded(c, slopes.slope[c]);
            const double steep = slope * slope / std::max(lines_.lipschitz(c), 1e-300);
            if (inside || (penalty_.allowed[c] && steep > lambda0 * penalty_.cost[c])) order.emplace_back(-steep, c);
        }
        std::sort(order.begin(), order.end());
        const Point before = current_;
        for (const auto& entry : order) threshold(entry.second, lambda0);
        refit(objective_, current_, {.tolerance = min_improvement_, .n_fixed = current_.size()});
        return !same_support(before, current_);
    }

    // T(j, w): c = w - slope / L, which is kept if |c| >= sqrt(2 lambda0 / L) and set to zero otherwise.
    void threshold(Index column, double lambda0) {
        const Index at = current_.position(column);
        const bool inside = at != none, fixed = inside && !may_drop(column);
        if ((!inside && !may_join(column)) || !(lines_.lipschitz(column) > 0.0)) return;
        const double w = inside ? current_.coef[at] : 0.0;
        double next = lines_.thresholding_step(current_, column, w);
        if (!fixed && next * next < 2.0 * lambda0 * penalty_.cost[column] / lines_.lipschitz(column)) next = 0.0;
        if (next == w) return;
        const Point rest = inside ? lines_.without_term(current_, at) : current_;
        if (next == 0.0 && !fixed)
            current_ = rest;
        else
            current_ = lines_.with_column(rest, column, next);
    }

    // At the optimum of the support, the thresholding step keeps w if |w| >= sqrt(2 lambda0 / L) and sets it to zero
    // otherwise. For the exponential loss, this decision is exact.
    bool drop_one(double lambda0) {
        double least = 0.0;
        Index at = none;
        for (Index s = 0; s < current_.size(); ++s) {
            if (!may_drop(current_.columns[s])) continue;
            const double excess = gain_of_term(s) - lambda0 * penalty_.cost[current_.columns[s]];
            if (excess < least) least = excess, at = s;
        }
        if (at == none) return false;
        ++counts_.drops;
        current_ = lines_.without_term(current_, at);
        return true;
    }

    double gain_of_term(Index s) {
        const Index c = current_.columns[s];
        if (!lines_.has_closed_form()) return 0.5 * lines_.lipschitz(c) * current_.coef[s] * current_.coef[s];
        const Point dropped = lines_.evaluate_drop(current_, s);
        const double gain = lines_.closed_step_at(dropped, c).term_gain;
        lines_.undo_drop(dropped, current_, c);
        return gain;
    }

    bool add_one(double lambda0) {
        if (current_.size() >= max_terms_) return false;
        const auto columns = outside();
        const auto gains = lines_.has_closed_form() ? closed_gains(columns) : threshold_gains(columns);
        double most = min_improvement_;
        Index best = none;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const double gain = gains[i] - lambda0 * penalty_.cost[columns[i]];
            if (gain > most) most = gain, best = columns[i];
        }
        if (best == none) return false;
        current_ = lines_.has_closed_form() ? with_closed_step(best) : Lines::with_column(current_, best, 0.0, 0.0);
        return true;
    }

    // Returns the current point with another column at its best coefficient.
    Point with_closed_step(Index c) {
        const ClosedStep step = lines_.closed_step_at(current_, c);
        return Lines::with_column(current_, c, step.coef, step.shift);
    }

    // Lower bounds on the gains of columns: by a thresholding step, or exact if the line has a closed form.
    std::vector<double> threshold_gains(const std::vector<Index>& columns) {
        const Slopes slopes = lines_.slopes(current_);
        std::vector<double> gains;
        for (Index c : columns) gains.push_back(lines_.step_gain(c, slopes.slope[c]));
        return gains;
    }

    std::vector<double> closed_gains(const std::vector<Index>& columns) {
        const GroupSums groups = lines_.groups(current_, columns);
        std::vector<double> gains;
        for (std::size_t i = 0; i < columns.size(); ++i)
            gains.push_back(lines_.clipped(columns[i], closed_step(groups, i)).gain);
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
    // All columns.
    std::vector<Index> all_columns_;
    Point current_;
    double min_improvement_ = 1e-9;
};

class SwapSearch {
  public:
    SwapSearch(LineRows& rows, Objective& objective, Index max_terms, const SwapOptions& options,
               const Deadline& deadline)
        : objective_(objective),
          penalty_(objective.penalty()),
          lines_(rows, objective),
          options_(options),
          deadline_(deadline),
          descent_(lines_, objective, max_terms, deadline, swap_counts_) {}

    // Refits a model, from which the next search starts.
    void start_from(const Point& point) { descent_.refit_from(point); }

    // Searches at one lambda0, starting from the result of the last search.
    const Point& search(double lambda0) {
        failures_.clear();
        descent_.descend(lambda0);
        for (Index n = 0; n != options_.max_swaps && !deadline_.passed(); ++n) {
            const Point before = current();
            if (!swap_one()) break;
            descent_.descend(lambda0);
            if (descent_.is_lower(current(), before, lambda0)) continue;
            // Swaps lower the loss, but not always the objective if columns differ in cost.
            descent_.go_to(before);
            break;
        }
        return current();
    }

    const Point& current() const { return descent_.current(); }
    const SwapCounts& counts() const { return swap_counts_; }
    bool finished() const { return !deadline_.passed(); }

  private:
    bool swap_one() {
        std::vector<Index> order(current().size());
        std::iota(order.begin(), order.end(), Index{0});
        std::sort(order.begin(), order.end(), [&](Index a, Index b) { return rank(a) < rank(b); });
        for (Index s : order) {
            if (deadline_.passed()) return false;
            if (penalty_.is_always(current().columns[s])) continue;
            if (auto better = delete_or_swap(s)) {
                descent_.refit_from(*better);
                return true;
            }
            ++failures_[current().columns[s]];
        }
        return false;
    }

    std::pair<Index, Index> rank(Index s) {
        const Index column = current().columns[s];
        return {options_.dynamic ? failures_[column] : 0, column};
    }

    std::optional<Point> delete_or_swap(Index s) {
        ++swap_counts_.terms_tried;
        const double must_beat = current().value() - descent_.min_improvement();
        const Point dropped = lines_.evaluate_drop(current(), s);
        if (dropped.value() <= must_beat && descent_.may_drop(current().columns[s])) {
            ++swap_counts_.drops;
            return dropped;
        }
        const auto groups =
            lines_.has_closed_form() ? std::optional(lines_.groups(dropped, descent_.all_columns())) : std::nullopt;
        const Slopes slopes = groups ? slopes_of(*groups) : lines_.slopes(dropped);
        for (Index c : steepest(slopes, current().columns[s])) {
            if (deadline_.passed()) break;
            ++swap_counts_.columns_tried;
            auto better =
                groups ? try_add_closed(dropped, *groups, c, must_beat) : try_add(dropped, slopes.at(c), c, must_beat);
            if (!better) continue;
            ++swap_counts_.swaps;
            return better;
        }
        lines_.undo_drop(dropped, current(), current().columns[s]);
        return std::nullopt;
    }

    // Computes slopes from group sums instead of another pass: along x - m, the slope is x'g - m 1'g.
    Slopes slopes_of(const GroupSums& groups) const {
        Slopes out{groups.total_loss, groups.total_grad, {}, {}};
        for (Index c : descent_.all_columns()) {
            const double m = lines_.centre(c);
            out.slope.push_back(groups.grad[c] - m * groups.total_grad);
            out.curv.push_back((1.0 - 2.0 * m) * groups.curv[c] + m * m * groups.total_curv);
        }
        return out;
    }

    std::vector<Index> steepest(const Slopes& slopes, Index left) const {
        auto columns = descent_.outside(left);
        const auto steeper = [&](Index a, Index b) {
            return slopes.at(a).slope * slopes.at(a).slope * lines_.centred_sq_norm(b) >
                   slopes.at(b).slope * slopes.at(b).slope * lines_.centred_sq_norm(a);
        };
        const Index most =
            options_.candidates == 0 ? Index(columns.size()) : std::min<Index>(options_.candidates, columns.size());
        std::partial_sort(columns.begin(), columns.begin() + most, columns.end(), steeper);
        columns.resize(most);
        return columns;
    }

    // Returns the point after a step along column c that brings the value below must_beat, or nothing if there is no
    // such step or a cut excludes it.
    std::optional<Point> try_add(const Point& dropped, const LineSums& sums, Index c, double must_beat) {
        const LinePoint start{0.0, dropped.value(), lines_.soft_thresholded(c, sums.slope)};
        const double step = -start.slope / lines_.lipschitz(c);
        if (step == 0.0 || ruled_out(dropped, sums, c, start, step, must_beat)) return std::nullopt;
        const LinePoint found = line_search(dropped, c, start, must_beat);
        if (!(found.value < must_beat)) return std::nullopt;
        return lines_.with_column(dropped, c, found.at);
    }

    std::optional<Point> try_add_closed(const Point& dropped, const GroupSums& groups, Index c, double must_beat) {
        ++swap_counts_.closed_lines;
        const ClosedStep step = lines_.clipped(c, closed_step(groups, c));
        if (!(dropped.value() - step.gain < must_beat)) return std::nullopt;
        return Lines::with_column(dropped, c, step.coef, step.shift);
    }

    bool ruled_out(const Point& dropped, const LineSums& sums, Index c, const LinePoint& start, double step,
                   double must_beat) {
        switch (options_.cuts) {
            case Cuts::none:
                return false;
            case Cuts::selfconcordant:
                return counted(
                    concordant_cut(start, sums.curv, objective_.loss().self_concordance * lines_.reach(c)) >= must_beat,
                    swap_counts_.cut_selfconcordant);
            case Cuts::linear:
                return cut_between(dropped, c, start, step, must_beat, 0.0);
            case Cuts::quadratic:
                return cut_between(dropped, c, start, step, must_beat, 0.5 * objective_.ridge(c));
        }
        return false;
    }

    // Aggressive steps of two or three times the thresholding step reach the other side of the minimum; after two
    // times, one bisection follows. Then the cut between both sides is computed, from tangents without ridge (m = 0)
    // and from parabolas with ridge.
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

    // Runs thresholding steps on one coordinate with the support fixed. Each step approaches the minimum without
    // crossing it, and the slope decreases. Hence each remaining step gains at most slope^2 / L. The search ends early
    // if all of them together would not suffice, or if the self-concordant cut at a point excludes the column.
    LinePoint line_search(const Point& dropped, Index c, const LinePoint& start, double must_beat) {
        ++swap_counts_.line_searches;
        const double steepness = lines_.lipschitz(c),
                     concordance = objective_.loss().self_concordance * lines_.reach(c);
        LinePoint at = start;
        for (int left = options_.line_steps; left > 0; --left) {
            if (at.value - left * at.slope * at.slope / steepness >= must_beat) break;
            ++swap_counts_.line_points;
            double curv;
            std::tie(at, curv) = lines_.at(dropped, c, penalty_.clip(c, at.at - at.slope / steepness));
            if (options_.cuts == Cuts::selfconcordant && concordant_cut(at, curv, concordance) >= must_beat) break;
        }
        return at;
    }

    LinePoint line(const Point& dropped, Index c, double step) {
        ++swap_counts_.line_points;
        return lines_.at(dropped, c, step).first;
    }

    Objective& objective_;
    const Penalty& penalty_;
    Lines lines_;
    SwapOptions options_;
    Deadline deadline_;
    SwapCounts swap_counts_;
    Descent descent_;
    std::map<Index, Index> failures_;
};

}  // namespace sparsegam
