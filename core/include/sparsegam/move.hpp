// sparsegam/move.hpp: what a search may do to a support, and what that does to the coefficients.
#pragma once

#include <vector>

#include "penalty.hpp"
#include "types.hpp"

namespace sparsegam {

struct Move {
    Index drop = none;  // position in the support
    Index add = none;   // column
    Index also = none;  // a second column, nested around the first
    double gain = 0.0;  // predicted fall of the objective, its lambda0 part included
};

// What a move does to the coefficients: changes of those on the support, the column that leaves, those that enter.
struct Step {
    double intercept = 0.0;
    std::vector<Index> columns;
    std::vector<double> change;
    Index dropped = none;
    std::vector<Index> added;
    std::vector<double> added_coef;
};

// The step taken from any point that still has most of the support it was worked out for.
inline Point taken(const Step& step, const Penalty& penalty, const Point& from) {
    Point to;
    to.intercept = from.intercept + step.intercept;
    for (Index s = 0; s < from.size(); ++s) {
        const Index column = from.columns[s];
        if (column == step.dropped) continue;
        const auto at = std::find(step.columns.begin(), step.columns.end(), column);
        const double change = at == step.columns.end() ? 0.0 : step.change[at - step.columns.begin()];
        to.columns.push_back(column);
        to.coef.push_back(penalty.clip(column, from.coef[s] + change));
    }
    to.columns.insert(to.columns.end(), step.added.begin(), step.added.end());
    to.coef.insert(to.coef.end(), step.added_coef.begin(), step.added_coef.end());
    return to;
}

}  // namespace sparsegam
