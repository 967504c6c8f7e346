// sparsegam/top_columns.hpp: the columns with the largest gains of a sequence.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// A bounded heap. Listing all columns for every term would take k times the memory of a scan.
class TopColumns {
  public:
    explicit TopColumns(std::size_t most) : max_size_(most) {}

    // Only the best column of each range is kept; columns without a range (none) are kept independently.
    void add(double gain, Index column, Index range = none) {
        const Entry entry{-gain, column, range};
        if (ranked_.size() == max_size_ && !(entry < ranked_.front())) return;
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
        if (ranked_.size() <= max_size_) return;
        std::pop_heap(ranked_.begin(), ranked_.end());
        ranked_.pop_back();
    }

    // The gain that a column with a larger index than all others must exceed to be kept.
    double threshold() const { return ranked_.size() < max_size_ ? -infinity : -std::get<0>(ranked_.front()); }

    void append_to(std::vector<Index>& columns) const {
        for (const auto& [gain, column, range] : ranked_) columns.push_back(column);
    }

  private:
    // Negative gain, column and range.
    using Entry = std::tuple<double, Index, Index>;

    std::size_t max_size_;
    // A heap with the worst entry in front.
    std::vector<Entry> ranked_;
};

}  // namespace sparsegam
