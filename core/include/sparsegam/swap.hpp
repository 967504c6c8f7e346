// sparsegam/swap.hpp: the paper's local search: thresholding steps, swaps in the order of the gradient, cuts, a queue.
//
// Columns are centred here, so that a step along one leaves the intercept's optimum nearly alone. For one lambda0:
//   1. descend: add columns and drop terms as the thresholding operation says, refit, until it says nothing;
//   2. for each term, in order: drop it; if that lowers the loss, keep it so; else try the columns with the
//   steepest
//      slopes in its place, ruling out by cuts those that cannot win, and make the first swap that lowers the
//      loss;
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

namespace sparsegam {

enum class Cuts { none, linear, quadratic, selfconcordant };

struct SwapOptions {
    Cuts cuts = Cuts::quadratic;
    bool dynamic = true;    // terms that failed least often first; else by column, from the start after each swap
    Index candidates = 50;  // columns tried in place of a term; 0: all
    int line_steps = 10;    // thresholding steps of a line search
};

// What the search did, in numbers that do not depend on the machine.
struct SwapCounts {
    Index terms_tried = 0, columns_tried = 0, swaps = 0, drops = 0;
    Index cut_linear = 0, cut_quadratic = 0, cut_selfconcordant = 0;
    Index closed_lines = 0;                    // exponential loss: settled by the closed form
    Index line_searches = 0, line_points = 0;  // and the values of f that lines took
};

class SwapSearch {
  public:
    SwapSearch(Rows& rows, const Penalty& penalty, Index max_terms, const SwapOptions& options,
               const Deadline& deadline)
        : rows_(rows), penalty_(penalty), max_terms_(max_terms), options_(options), deadline_(deadline) {
        current_.columns = penalty.always;
        current_.coef.assign(penalty.always.size(), 0.0);
        refit_to(current_);
        tie_ = 2e-8 * current_.value();
    }

    // The search for one lambda0, from where the last one ended.
    const Point& search(double lambda0) {
        failures_.clear();
        do descend(lambda0);
        while (!deadline_.passed() && swap_one());
        return current_;
    }

    const SwapCounts& counts() const { return swap_counts_; }
    bool finished() const { return !deadline_.passed(); }

  private:
    static constexpr int most_cycles = 100;

    // Curvature that a step along the centred column never meets more of (logistic: 1/4 at most), ridge included.
    double lipschitz(Index c) const {
        return steepest_curvature(rows_.loss()) * rows_.spread()[c] + ridge_weight(rows_, penalty_, c);
    }

    void refit_to(Point& point) {
        evaluate(rows_, penalty_, point);
        refit(rows_, penalty_, point, {0.1 * tie_}, counts_);
    }

    // --- adding and dropping by thresholding

    // Cycles of coordinate descent until the support stands, then refits until the rule has nothing to add or
    // drop.
    void descend(double lambda0) {
        if (!closed())
            for (int n = 0; n < most_cycles && !deadline_.passed() && cycle(lambda0); ++n) {
            }
        refit_to(current_);
        while (!deadline_.passed() && (drop_one(lambda0) || add_one(lambda0))) refit_to(current_);
    }

    // One thresholding step on each coordinate that may be or become nonzero, steepest first. True if the
    // support changed.
    bool cycle(double lambda0) {
        evaluate(rows_, penalty_, current_);
        const Slopes slopes = this->slopes();
        std::vector<std::pair<double, Index>> order;
        for (Index c = 0; c < rows_.n_columns(); ++c) {
            const bool inside = std::count(current_.columns.begin(), current_.columns.end(), c) > 0;
            const double steep = slopes.slope[c] * slopes.slope[c] / std::max(lipschitz(c), 1e-300);
            if (penalty_.allowed[c] && (inside || steep > lambda0 * penalty_.cost[c])) order.emplace_back(-steep, c);
        }
        std::sort(order.begin(), order.end());
        const auto before = current_.columns;
        for (const auto& entry : order) threshold(entry.second, lambda0);
        RefitOptions intercept{tie_};
        intercept.held = current_.size();
        refit(rows_, penalty_, current_, intercept, counts_);
        return !std::is_permutation(before.begin(), before.end(), current_.columns.begin(), current_.columns.end());
    }

    // T(j, w): c = w - slope / L, kept if |c| >= sqrt(2 lambda0 / L), else zero. The rows are at the current point.
    void threshold(Index column, double lambda0) {
        const auto at = std::find(current_.columns.begin(), current_.columns.end(), column) - current_.columns.begin();
        const bool inside = at < current_.size();
        if (!inside && !may_join(column)) return;
        const double w = inside ? current_.coef[at] : 0.0, steepness = lipschitz(column);
        const double slope = rows_.line(column, 0.0).slope + ridge_weight(rows_, penalty_, column) * w;
        double next = penalty_.clip(column, w - slope / steepness);
        if (next * next < 2.0 * lambda0 * penalty_.cost[column] / steepness) next = 0.0;
        if (next == w) return;
        Point moved = inside ? without(current_, at) : current_;
        moved.intercept -= next * center(column);
        if (next != 0.0) {
            moved.columns.push_back(column);
            moved.coef.push_back(next);
        }
        current_ = std::move(moved);
        evaluate(rows_, penalty_, current_);
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
        if (closed()) {
            Point dropped = without(current_, s);
            evaluate(rows_, penalty_, dropped);
            return closed_line(slopes().at(c)).gain;
        }
        return 0.5 * lipschitz(c) * current_.coef[s] * current_.coef[s];
    }

    bool add_one(double lambda0) {
        if (current_.size() >= max_terms_) return false;
        evaluate(rows_, penalty_, current_);
        const Slopes slopes = this->slopes();
        double most = tie_;
        Index best = none;
        for (Index c : outside(current_)) {
            const double gain = promise(slopes, c) - lambda0 * penalty_.cost[c];
            if (gain > most) most = gain, best = c;
        }
        if (best == none) return false;
        current_.columns.push_back(best);
        current_.coef.push_back(0.0);
        return true;
    }

    // What a column gains at least: by a thresholding step, or exactly where the line has a closed form.
    double promise(const Slopes& slopes, Index c) const {
        const LineSums sums = slopes.at(c);
        if (closed()) return closed_line(sums).gain;
        return 0.5 * sums.slope * sums.slope / lipschitz(c);
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
        const double must_beat = current_.value() - tie_;
        Point dropped = without(current_, s);
        evaluate(rows_, penalty_, dropped);
        if (dropped.value() <= must_beat) {
            ++swap_counts_.drops;
            return dropped;
        }
        const Slopes slopes = this->slopes();
        for (Index c : steepest(slopes, dropped, current_.columns[s])) {
            ++swap_counts_.columns_tried;
            const double step = try_add(dropped, slopes.at(c), c, must_beat);
            if (step == 0.0) continue;
            ++swap_counts_.swaps;
            return stepped(dropped, c, step);
        }
        return std::nullopt;
    }

    std::vector<Index> steepest(const Slopes& slopes, const Point& dropped, Index left) const {
        auto columns = outside(dropped);
        std::erase(columns, left);
        const auto steeper = [&](Index a, Index b) {
            return slopes.at(a).slope * slopes.at(a).slope * rows_.spread()[b] >
                   slopes.at(b).slope * slopes.at(b).slope * rows_.spread()[a];
        };
        const Index most =
            options_.candidates == 0 ? Index(columns.size()) : std::min<Index>(options_.candidates, columns.size());
        std::partial_sort(columns.begin(), columns.begin() + most, columns.end(), steeper);
        columns.resize(most);
        return columns;
    }

    // The step along column c that brings the value below what it must beat; 0 when there is none or a cut
    // rules it out.
    double try_add(const Point& dropped, const LineSums& sums, Index c, double must_beat) {
        if (closed()) {
            ++swap_counts_.closed_lines;
            const auto [step, gain] = closed_line(sums);
            return dropped.value() - gain < must_beat && penalty_.clip(c, step) == step ? step : 0.0;
        }
        const LinePoint start{0.0, dropped.value(), sums.slope};
        const double step = -sums.slope / lipschitz(c);
        if (ruled_out(dropped, sums, c, start, step, must_beat)) return 0.0;
        const LinePoint found = line_search(dropped, c, step);
        return found.value < must_beat ? found.at : 0.0;
    }

    bool ruled_out(const Point& dropped, const LineSums& sums, Index c, const LinePoint& start, double step,
                   double must_beat) {
        switch (options_.cuts) {
            case Cuts::none:
                return false;
            case Cuts::selfconcordant:
                return counted(
                    concordant_cut(start, sums.curv, self_concordance(rows_.loss()) * rows_.largest(c)) >= must_beat,
                    swap_counts_.cut_selfconcordant);
            case Cuts::linear:
                return cut_between(dropped, c, start, step, must_beat, 0.0);
            default:
                return cut_between(dropped, c, start, step, must_beat, 0.5 * ridge_weight(rows_, penalty_, c));
        }
    }

    static bool counted(bool cut, Index& count) {
        count += cut;
        return cut;
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

    // f and its slope at a step along the centred column, the ridge included. The rows are at `dropped`.
    LinePoint line(const Point& dropped, Index c, double step) {
        ++swap_counts_.line_points;
        const LineSums sums = rows_.line(c, step);
        const double ridge = ridge_weight(rows_, penalty_, c);
        return {step, sums.value + dropped.ridge + 0.5 * ridge * step * step, sums.slope + ridge * step};
    }

    // The exponential loss of 0/1 columns, read as -1/1: with H the loss and d the share of it where y and
    // the column disagree, the best step along the column is log((1 - d) / d) / 2 and leaves 2 H sqrt(d (1 -
    // d)). Along x - 1/2, which is half the column, the slope is H (d - 1/2) and the step twice as long.
    bool closed() const { return rows_.loss() == Loss::exponential; }

    struct ClosedLine {
        double step, gain;
    };

    static ClosedLine closed_line(const LineSums& sums) {
        const double d = std::clamp(0.5 + sums.slope / sums.value, 1e-9, 1.0 - 1e-9);
        return {std::log((1.0 - d) / d), sums.value * (1.0 - 2.0 * std::sqrt(d * (1.0 - d)))};
    }

    // Where a column has its zero: at its mean or, for the closed line, half way.
    double center(Index c) const { return closed() ? 0.5 : rows_.mean()[c]; }

    // Slopes along the columns from their centers.
    Slopes slopes() {
        Slopes out = rows_.slopes();
        if (closed())
            for (Index c = 0; c < rows_.n_columns(); ++c) out.slope[c] += (rows_.mean()[c] - 0.5) * out.total_grad;
        return out;
    }

    // The point after a step along the centred column c.
    Point stepped(const Point& dropped, Index c, double step) const {
        Point next = dropped;
        next.intercept -= step * center(c);
        next.columns.push_back(c);
        next.coef.push_back(step);
        return next;
    }

    // The point with the s-th coefficient at zero, along its centred column.
    Point without(const Point& point, Index s) const {
        Point dropped = point;
        dropped.intercept += dropped.coef[s] * center(dropped.columns[s]);
        dropped.columns.erase(dropped.columns.begin() + s);
        dropped.coef.erase(dropped.coef.begin() + s);
        return dropped;
    }

    std::vector<Index> outside(const Point& point) const {
        std::vector<char> taken(rows_.n_columns(), 0);
        for (Index c : point.columns) taken[c] = 1;
        const Limits limits(penalty_, point.columns);
        std::vector<Index> columns;
        for (Index c = 0; c < rows_.n_columns(); ++c)
            if (!taken[c] && penalty_.allowed[c] && limits.allow(none, c)) columns.push_back(c);
        return columns;
    }

    Rows& rows_;
    const Penalty& penalty_;
    Index max_terms_;
    SwapOptions options_;
    const Deadline& deadline_;
    Point current_;
    double tie_ = 1e-9;
    std::map<Index, Index> failures_;
    Counts counts_;
    SwapCounts swap_counts_;
};

}  // namespace sparsegam
