// sparsegam/swap.hpp: the paper's local search: thresholding steps, swaps in the order of the gradient, cuts, a queue.
//
// For one lambda0:
//   1. descend (descent.hpp): add columns and drop terms as the thresholding operation says, until it says nothing;
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
#include <tuple>
#include <vector>

#include "cuts.hpp"
#include "descent.hpp"
#include "exponential.hpp"
#include "lines.hpp"
#include "swap_options.hpp"

namespace sparsegam {

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

    // The next search starts from this model, refitted.
    void start_from(const Point& point) { descent_.refit_from(point); }

    // The search for one lambda0, from where the last one ended.
    const Point& search(double lambda0) {
        failures_.clear();
        descent_.descend(lambda0);
        for (Index n = 0; n != options_.max_swaps && !deadline_.passed(); ++n) {
            const Point before = current();
            if (!swap_one()) break;
            descent_.descend(lambda0);
            if (descent_.is_lower(current(), before, lambda0)) continue;
            descent_.go_to(before);  // swaps lower the loss; where columns differ in cost, not always the objective
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
        const Point dropped = lines_.drop(current(), s);
        if (dropped.value() <= must_beat && descent_.may_drop(current().columns[s])) {
            ++swap_counts_.drops;
            return dropped;
        }
        const auto groups = lines_.closed() ? std::optional(lines_.groups(dropped, descent_.every())) : std::nullopt;
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

    // The same sums in the place of a second pass: along x - m the slope is x'g - m 1'g.
    Slopes slopes_of(const Groups& groups) const {
        Slopes out{groups.total_loss, groups.total_grad, {}, {}};
        for (Index c : descent_.every()) {
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

    // The point after the step along column c that brings the value below what it must beat; none when there
    // is no such step or a cut rules it out.
    std::optional<Point> try_add(const Point& dropped, const LineSums& sums, Index c, double must_beat) {
        const LinePoint start{0.0, dropped.value(), lines_.softened(c, sums.slope)};
        const double step = -start.slope / lines_.lipschitz(c);
        if (step == 0.0 || ruled_out(dropped, sums, c, start, step, must_beat)) return std::nullopt;
        const LinePoint found = line_search(dropped, c, start, must_beat);
        if (!(found.value < must_beat)) return std::nullopt;
        return lines_.joined(dropped, c, found.at);
    }

    std::optional<Point> try_add_closed(const Point& dropped, const Groups& groups, Index c, double must_beat) {
        ++swap_counts_.closed_lines;
        const ClosedStep step = lines_.bounded(c, closed_step(groups, c));
        if (!(dropped.value() - step.gain < must_beat)) return std::nullopt;
        return Lines::joined(dropped, c, step.coef, step.shift);
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

    // Thresholding steps on one coordinate with the support fixed: each moves towards the minimum and never over it. The
    // slope only flattens on the way, so that each of the steps left gains slope^2 / L at most: where all of them together
    // would not do, or where the self-concordant cut from a point on the way says so, they are left out.
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
