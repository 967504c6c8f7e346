// sparsegam/exponential.hpp: the exponential loss along a 0/1 column, in closed form (the paper's theorem 5.1).
//
// With the intercept free, each of the column's two groups of rows shifts by itself. In a group of loss W, of
// which the share d is on the negative labels, the best shift is log((1 - d) / d) / 2 and leaves
// 2 W sqrt(d (1 - d)): the theorem, group by group.
#pragma once

#include <algorithm>
#include <cmath>

#include "rows.hpp"

namespace sparsegam {

// Rows that shift together: their sums of gradient and curvature; the loss is the curvature.
struct ShiftGroup {
    double grad, curv;

    double best_shift() const {
        const double d = std::clamp(0.5 + 0.5 * grad / std::max(curv, 1e-300), 1e-9, 1.0 - 1e-9);
        return 0.5 * std::log((1.0 - d) / d);
    }

    double gain() const { return exponential_shift_gain(grad, curv, curv); }
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
inline ClosedStep closed_step(const Groups& groups, std::size_t i) {
    const ShiftGroup on{groups.grad[i], groups.curv[i]};
    return closed_step(on, {groups.total_grad - on.grad, groups.total_curv - on.curv});
}

}  // namespace sparsegam
