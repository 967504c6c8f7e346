// sparsegam/lines.hpp: the objective along one column at a time: what thresholding steps and line searches are made of.
//
// With an intercept, columns are centred here, so that a step along one leaves the intercept's optimum nearly alone;
// without one they are taken as they are. All slopes and values have the ridge and lambda1 of the column in them.
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

// Rows that shift together: their sums of gradient and curvature; the loss is the curvature.
struct ShiftGroup {
    double grad, curv;

    double best_shift() const {
        const double d = std::clamp(0.5 + 0.5 * grad / std::max(curv, 1e-300), 1e-9, 1.0 - 1e-9);
        return 0.5 * std::log((1.0 - d) / d);
    }

    double gain() const { return exponential_max_shift_gain(grad, curv, curv); }
};

// Best coefficient of a column that joins, what the intercept moves by, what the loss falls by, and what
// of that a shift of all rows alike would not give: what the column is worth as a term.
struct ClosedStep {
    double coef, shift, gain, worth;
};

// From the rows where the column is 1 and those where it is 0.
inline ClosedStep closed_step(const ShiftGroup& on, const ShiftGroup& off) {
    const ShiftGroup all{on.grad + off.grad, on.curv + off.curv};
    const double gain = on.gain() + off.gain();
    return {on.best_shift() - off.best_shift(), off.best_shift(), gain, gain - all.gain()};
}

// Of the i-th of the columns that the groups are of.
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

    // Squared norm of the column as lines go along it.
    double centred_sq_norm(Index c) const {
        const double moved = columns_.mean[c] - centre(c);
        return columns_.centred_sq_norm[c] + columns_.total_weight * moved * moved;
    }

    // Curvature that a step along the column never meets more of, ridge included.
    double lipschitz(Index c) const {
        return objective_.loss().largest_curvature * centred_sq_norm(c) + objective_.ridge(c);
    }

    double reach(Index c) const { return rows_.largest(c, along_); }
    Slopes slopes(const Point& point) { return rows_.slopes(point, along_); }

    // What is left of a slope once lambda1 has taken its share: the slope in the direction in which it falls, if any.
    double softened(Index c, double slope) const {
        return std::copysign(std::max(std::abs(slope) - objective_.lasso(c), 0.0), slope);
    }

    // What one thresholding step from zero gains, within the bounds of the column.
    double step_gain(Index c, double slope) const {
        const double steepness = lipschitz(c), left = softened(c, slope);
        if (left == 0.0 || !(steepness > 0.0)) return 0.0;
        const double step = penalty_.clip(c, -left / steepness);
        return -left * step - 0.5 * steepness * step * step;
    }

    // The thresholding step without its threshold: to the least of the parabola that lies above the objective.
    double stepped(const Point& point, Index c, double w) {
        const double steepness = lipschitz(c);
        const double slope = rows_.line(point, c, 0.0, along_).slope + objective_.ridge(c) * w;
        const double to = w - slope / steepness;
        return penalty_.clip(c, std::copysign(std::max(std::abs(to) - objective_.lasso(c) / steepness, 0.0), to));
    }

    // The objective and its slope at a step from zero along a column that the point does not have; the curvature of the loss.
    std::pair<LinePoint, double> at(const Point& point, Index c, double step) {
        const LineSums sums = rows_.line(point, c, step, along_);
        const double ridge = objective_.ridge(c), lasso = objective_.lasso(c);
        const double sign = step > 0.0 ? 1.0 : step < 0.0 ? -1.0 : 0.0;
        return {{step, sums.value + point.ridge + 0.5 * ridge * step * step + lasso * std::abs(step),
                 sums.slope + ridge * step + lasso * sign},
                sums.curv};
    }

    // The point with one more column; the intercept moves along.
    Point joined(const Point& point, Index c, double coef) const { return joined(point, c, coef, -coef * centre(c)); }
    static Point joined(const Point& point, Index c, double coef, double shift) {
        Point next = point.with(c, coef);
        next.intercept += shift;
        return next;
    }

    // The point with the s-th coefficient at zero, along its column.
    Point without(const Point& point, Index s) const {
        const Index c = point.columns[s];
        const double w = point.coef[s];
        Point dropped = point.without(s);
        dropped.intercept += w * centre(c);
        dropped.ridge = point.ridge - 0.5 * objective_.ridge(c) * w * w - objective_.lasso(c) * std::abs(w);
        return dropped;
    }

    // --- a multiplicative loss needs no steps: exponential.hpp has its closed form

    bool closed() const { return objective_.loss().multiplicative; }

    GroupSums groups(const Point& point, std::span<const Index> columns) { return objective_.groups(point, columns); }

    ClosedStep closed_step_at(const Point& point, Index c) {
        return bounded(c, closed_step(objective_.groups(point, std::span(&c, 1)), 0));
    }

    // As much of a step as the bounds of its column allow; along it the loss is convex, so that a share of the step gains
    // that share of the gain or more.
    ClosedStep bounded(Index c, const ClosedStep& step) const {
        const double inside = penalty_.clip(c, step.coef);
        if (inside == step.coef) return step;
        const double share = inside / step.coef;
        return {inside, share * step.shift, share * step.gain, share * step.worth};
    }

    // The current point without its s-th term, evaluated. Where the loss is multiplicative the rows go there by a shift,
    // and come back by one; the next refit evaluates anew.
    Point drop(const Point& current, Index s) {
        Point dropped = without(current, s);
        if (closed())
            dropped.loss = rows_.shift(current, dropped, current.columns[s]);
        else
            objective_.evaluate(dropped);
        return dropped;
    }

    void undo_drop(const Point& dropped, const Point& current, Index column) {
        if (closed()) rows_.shift(dropped, current, column);
    }

  private:
    LineRows& rows_;
    Objective& objective_;
    const Penalty& penalty_;
    const ColumnInfo& columns_;
    Along along_;
};

}  // namespace sparsegam
