// sparsegam/cells.hpp: the bins of a feature in a few coarse cells, and the conditions that a product is made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// Of each bin its cell. The first n_ordered cells are ordered, as the bins in them are; the others stand alone.
struct Cells {
    static constexpr Index most = 256;  // a byte each

    std::vector<std::uint8_t> of_bin;  // empty where a feature is not asked about
    Index n_ordered = 0, n_cells = 0;

    // A part is a condition on a feature: `cell <= i` and then `cell > i` among the ordered cells, for every i but the
    // last, and then `cell == i` for each that stands alone. They are numbered in this order.
    Index n_cuts() const { return std::max(n_ordered - 1, Index{0}); }
    Index n_parts() const { return 2 * n_cuts() + n_cells - n_ordered; }
};

using FeaturePair = std::pair<Index, Index>;

inline void check_cells(std::span<const Cells> cells) {
    for (std::size_t f = 0; f < cells.size(); ++f) {
        const Cells& in = cells[f];
        const auto outside = [&](std::uint8_t cell) { return cell >= in.n_cells; };
        if (in.n_ordered < 0 || in.n_ordered > in.n_cells || in.n_cells > Cells::most ||
            std::any_of(in.of_bin.begin(), in.of_bin.end(), outside))
            throw std::invalid_argument("the cells of feature " + std::to_string(f) +
                                        " must be numbered below n_cells, of which n_ordered are ordered; at most 256");
    }
}

// A pair is two features that have cells.
inline void check_pairs(std::span<const Cells> cells, std::span<const FeaturePair> pairs) {
    check_cells(cells);
    const auto has_cells = [&](Index f) {
        return f >= 0 && f < static_cast<Index>(cells.size()) && !cells[f].of_bin.empty();
    };
    for (const auto& [a, b] : pairs)
        if (a == b || !has_cells(a) || !has_cells(b))
            throw std::invalid_argument("features " + std::to_string(a) + " and " + std::to_string(b) +
                                        " are no pair: a pair is two features that have cells");
}

}  // namespace sparsegam
