// sparsegam/top_columns.hpp: the few columns that gain most, kept as they come.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// Kept as they come: to list all of them for every term would take k times the memory of a scan.
class TopColumns {
  public:
    explicit TopColumns(std::size_t most) : most_(most) {}

    // Of columns in one range (none: each is alone) only the best is kept.
    void offer(double gain, Index column, Index range = none) {
        const Entry entry{-gain, column, range};
        if (ranked_.size() == most_ && !(entry < ranked_.front())) return;
        if (range != none) {
            const auto same = std::find_if(ranked_.begin(), ranked_.end(),
                                           [&](const Entry& other) { return std::get<2>(other) == range; });
            if (same != ranked_.end()) {
                *same = std::min(*same, entry);
                std::make_heap(ranked_.begin(), ranked_.end());
                return;
            }
        }
        ranked_.push_back(entry);
        std::push_heap(ranked_.begin(), ranked_.end());
        if (ranked_.size() <= most_) return;
        std::pop_heap(ranked_.begin(), ranked_.end());
        ranked_.pop_back();
    }

    // What a column must gain more than, to be kept if it comes after all others.
    double least() const { return ranked_.size() < most_ ? -infinity : -std::get<0>(ranked_.front()); }

    void append_to(std::vector<Index>& columns) const {
        for (const auto& [gain, column, range] : ranked_) columns.push_back(column);
    }

  private:
    using Entry = std::tuple<double, Index, Index>;  // what it loses, column, range

    std::size_t most_;
    std::vector<Entry> ranked_;  // a heap, the worst in front
};

}  // namespace sparsegam
