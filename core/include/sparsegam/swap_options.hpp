// sparsegam/swap_options.hpp: how the paper's search goes about it, and what it counts.
#pragma once

#include "types.hpp"

namespace sparsegam {

enum class Cuts { none, linear, quadratic, selfconcordant };

struct SwapOptions {
    Cuts cuts = Cuts::quadratic;
    bool dynamic = true;    // terms that failed least often first; else by column, from the start after each swap
    Index candidates = 50;  // columns tried in place of a term; 0: all
    int line_steps = 10;    // thresholding steps of a line search
    Index max_swaps = -1;   // swaps made at one lambda0; 0: coordinate descent alone; -1: no limit
};

// What the search did, in numbers that do not depend on the machine.
struct SwapCounts {
    Index terms_tried = 0, columns_tried = 0, swaps = 0, drops = 0;
    Index cut_linear = 0, cut_quadratic = 0, cut_selfconcordant = 0;
    Index closed_lines = 0;                    // exponential loss: settled by the closed form
    Index line_searches = 0, line_points = 0;  // and the values of f that lines took
};

inline bool counted(bool cut, Index& count) {
    count += cut;
    return cut;
}

}  // namespace sparsegam
