// sparsegam/top_columns.hpp: the few columns that gain most, kept as they come.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// Kept as they come: to list all of them for every term would take k times the memory of a scan.
class TopColumns {
  public:
    explicit TopColumns(std::size_t most) : most_(most) {}

    void offer(double gain, Index column) {
        if (ranked_.size() == most_ && !(std::pair(-gain, column) < ranked_.front())) return;
        ranked_.emplace_back(-gain, column);
        std::push_heap(ranked_.begin(), ranked_.end());
        if (ranked_.size() <= most_) return;
        std::pop_heap(ranked_.begin(), ranked_.end());
        ranked_.pop_back();
    }

    void append_to(std::vector<Index>& columns) const {
        for (const auto& [gain, column] : ranked_) columns.push_back(column);
    }

  private:
    std::size_t most_;
    std::vector<std::pair<double, Index>> ranked_;  // a heap, the worst in front
};

}  // namespace sparsegam
