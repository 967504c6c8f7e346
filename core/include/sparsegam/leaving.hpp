// sparsegam/leaving.hpp: what it would do to each column of a support to leave it, as a local model has it.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "tuning.hpp"
#include "types.hpp"

namespace sparsegam {

// With w* and M as in local_model.hpp: w*_j / M_jj, 1 / M_jj, and the cost of the drop. Zeros and `cost` as it was given
// for coefficients that may not move.
struct Leaving {
    std::vector<double> shift, inverse, cost;
    std::vector<float> shift_float, inverse_float;  // for the gains of swaps, in octets

    Leaving() = default;
    explicit Leaving(std::vector<double> costs)
        : shift(costs.size()),
          inverse(costs.size()),
          cost(std::move(costs)),
          shift_float(in_octets(static_cast<Index>(shift.size()))),
          inverse_float(shift_float.size()) {}

    void set(Index position, double shift_here, double inverse_here, double cost_here) {
        shift[position] = shift_here;
        inverse[position] = inverse_here;
        cost[position] = cost_here;
        shift_float[position] = static_cast<float>(shift_here);
        inverse_float[position] = static_cast<float>(inverse_here);
    }
};

// A diverged coefficient (a pure group, no ridge) leaves so little curvature that dropping it looks free; the curvature on
// the way back grows like exp(R |w|), and so must the cost.
inline double cost_growth(double way_back) { return way_back > tuning::far ? std::exp(way_back - tuning::far) : 1.0; }

}  // namespace sparsegam
