// sparsegam/column_cache.hpp: vectors by column, kept while there is room.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// Vectors by column, made when first asked for; those not in use are forgotten when they take too much memory.
class ColumnCache {
  public:
    explicit ColumnCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    const std::vector<double>* find(Index column) const {
        const auto at = kept_.find(column);
        return at == kept_.end() ? nullptr : &at->second;
    }

    const std::vector<double>& keep(Index column, std::vector<double> values) {
        return kept_[column] = std::move(values);
    }

    // Makes room, keeping the columns in use.
    void trim(std::span<const Index> in_use) {
        if (kept_.empty() || kept_.size() * kept_.begin()->second.size() * sizeof(double) <= max_bytes_) return;
        std::erase_if(kept_, [&](const auto& entry) {
            return std::find(in_use.begin(), in_use.end(), entry.first) == in_use.end();
        });
    }

  private:
    std::size_t max_bytes_;
    std::unordered_map<Index, std::vector<double>> kept_;
};

}  // namespace sparsegam
