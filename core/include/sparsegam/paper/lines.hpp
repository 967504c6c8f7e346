// sparsegam/paper/lines.hpp: the objective along one column, for thresholding steps and line searches; closed-form
// steps for the exponential loss.
//
// With an intercept, columns are centred, so that a step along one hardly changes the optimal intercept; without
// intercept, columns are not centred. All slopes and values contain the ridge and lambda1 of the column.
//
// The exponential loss along a 0/1 column has a closed form (theorem 5.1 of the paper). With a free intercept, the two
// groups of rows defined by the column can be shifted independently. In a group of loss W, of which a share d is on the
// negative labels, the best shift is log((1 - d) / d) / 2 and leaves the loss 2 W sqrt(d (1 - d)).
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "cuts.hpp"
#include "sparsegam/objective.hpp"
#include "sparsegam/rows.hpp"

namespace sparsegam {

// Sums of gradient and curvature of rows that are shifted together. For the exponential loss, the curvature equals the
// loss.
struct ShiftGroup {
    double grad, curv;

    double best_shift() const {
        const double d = std::clamp(0.5 + 0.5 * grad / std::max(curv, 1e-300), 1e-9, 1.0 - 1e-9);
        return 0.5 * std::log((1.0 - d) / d);
    }

    double gain() const { return exponential_max_shift_gain(grad, curv, curv); }
};

// Best coefficient of a column that enters, shift of the intercept, decrease of the loss, and `term_gain`: the decrease
// beyond that of the best shift of all rows together.
struct ClosedStep {
    double coef, shift, gain, term_gain;
};

// The step from the sums over the rows where the column is 1 and over those where it is 0.
inline ClosedStep closed_step(const ShiftGroup& on, const ShiftGroup& off) {
    const ShiftGroup all{on.grad + off.grad, on.curv + off.curv};
    const double gain = on.gain() + off.gain();
    return {on.best_shift() - off.best_shift(), off.best_shift(), gain, gain - all.gain()};
}

// The step of the i-th column of the group sums.
inline ClosedStep closed_step(const GroupSums& groups, std::size_t i) {
    const ShiftGroup on{groups.grad[i], groups.curv[i]};
    return closed_step(on, {groups.total_grad - on.grad, groups.total_curv - on.curv});
}

class Lines {
  public:
    Lines(LineRows& rows, Objective& objective)
        : rows_(rows),
          objective_(objective),
          penalty_(objective.penalty()),
          columns_(objective.columns()),
          along_(penalty_.free_intercept ? Along::centred : Along::bare) {}

    double centre(Index c) const { return along_ == Along::centred ? columns_.mean[c] : 0.0; }

    // Squared norm of the column, centred if there is an intercept.
    double centred_sq_norm(Index c) const {
        const double moved = columns_.mean[c] - centre(c);
        return columns_.centred_sq_norm[c] + columns_.total_weight * moved * moved;
    }

    // Upper bound on the curvature of the objective along the column.
    double lipschitz(Index c) const {
        return objective_.loss().largest_curvature * centred_sq_norm(c) + objective_.ridge(c);
    }

    double reach(Index c) const { return rows_.largest(c, along_); }
    Slopes slopes(const Point& point) { return rows_.slopes(point, along_); }

    // The slope after soft thresholding by lambda1: the slope in the direction of descent, or zero.
    double soft_thresholded(Index c, double slope) const {
        return std::copysign(std::max(std::abs(slope) - objective_.lasso(c), 0.0), slope);
    }

    // Decrease of the objective by one thresholding step from zero, within the bounds of the column.
    double step_gain(Index c, double slope) const {
        const double steepness = lipschitz(c), left = soft_thresholded(c, slope);
        if (left == 0.0 || !(steepness > 0.0)) return 0.0;
        const double step = penalty_.clip(c, -left / steepness);
        return -left * step - 0.5 * steepness * step * step;
    }

    // The thresholding step without its threshold: to the minimum of a parabola that is an upper bound on the
    // objective.
    double thresholding_step(const Point& point, Index c, double w) {
        const double steepness = lipschitz(c);
        const double slope = rows_.line(point, c, 0.0, along_).slope + objective_.ridge(c) * w;
        const double to = w - slope / steepness;
        return penalty_.clip(c, std::copysign(std::max(std::abs(to) - objective_.lasso(c) / steepness, 0.0), to));
    }

    // Returns the objective and its slope after a step from zero along a column outside the support, and the curvature
    // of the loss.
    std::pair<LinePoint, double> at(const Point& point, Index c, double step) {
        const LineSums sums = rows_.line(point, c, step, along_);
        const double ridge = objective_.ridge(c), lasso = objective_.lasso(c);
        const double sign = step > 0.0 ? 1.0 : step < 0.0 ? -1.0 : 0.0;
        return {{step, sums.value + point.ridge + 0.5 * ridge * step * step + lasso * std::abs(step),
                 sums.slope + ridge * step + lasso * sign},
                sums.curv};
    }

    // Returns the point with one more column; the intercept changes accordingly.
    Point with_column(const Point& point, Index c, double coef) const {
        return with_column(point, c, coef, -coef * centre(c));
    }
    static Point with_column(const Point& point, Index c, double coef, double shift) {
        Point next = point.with(c, coef);
        next.intercept += shift;
        return next;
    }

    // Returns the point with the s-th coefficient set to zero along its (centred) column.
    Point without_term(const Point& point, Index s) const {
        const Index c = point.columns[s];
        const double w = point.coef[s];
        Point dropped = point.without(s);
        dropped.intercept += w * centre(c);
        dropped.ridge = point.ridge - 0.5 * objective_.ridge(c) * w * w - objective_.lasso(c) * std::abs(w);
        return dropped;
    }

    // --- Closed-form steps for a multiplicative loss

    bool has_closed_form() const { return objective_.loss().multiplicative; }

    GroupSums groups(const Point& point, std::span<const Index> columns) { return objective_.groups(point, columns); }

    ClosedStep closed_step_at(const Point& point, Index c) {
        return clipped(c, closed_step(objective_.groups(point, std::span(&c, 1)), 0));
    }

    // Shortens a step to the bounds of its column. Since the loss is convex along it, a share of the step has at least
    // this share of the gain.
    ClosedStep clipped(Index c, const ClosedStep& step) const {
        const double inside = penalty_.clip(c, step.coef);
        if (inside == step.coef) return step;
        const double share = inside / step.coef;
        return {inside, share * step.shift, share * step.gain, share * step.term_gain};
    }

    // Returns the current point without its s-th term, evaluated. For a multiplicative loss, the rows are shifted, and
    // shifted back by undo_drop; the next refit evaluates them anew.
    Point evaluate_drop(const Point& current, Index s) {
        Point dropped = without_term(current, s);
        if (has_closed_form())
            dropped.loss = rows_.shift(current, dropped, current.columns[s]);
        else
            objective_.evaluate(dropped);
        return dropped;
    }

    void undo_drop(const Point& dropped, const Point& current, Index column) {
        if (has_closed_form()) rows_.shift(dropped, current, column);
    }

  private:
    LineRows& rows_;
    Objective& objective_;
    const Penalty& penalty_;
    const ColumnInfo& columns_;
    Along along_;
};

}  // namespace sparsegam
