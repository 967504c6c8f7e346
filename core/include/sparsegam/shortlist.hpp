// sparsegam/shortlist.hpp: selects the columns of a shortlist from local models of all columns, or of one part after
// the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "local_model.hpp"
#include "top_columns.hpp"

namespace sparsegam {

// Selects the columns with the largest predicted gains as additions, those with the largest gains as replacements of
// each term, and the terms themselves. Thresholds of a feature are ranked by the best of them and selected together,
// since pairs of them are moves, too.
class ShortlistBuilder {
  public:
    ShortlistBuilder(const Objective& objective, const Point& point)
        : objective_(objective),
          point_(point),
          taken_(objective.n_columns(), 0),
          range_of_(ranges()),
          additions_(nested() ? tuning::shortlist_added_features : tuning::shortlist_additions),
          substitutes_(point.size(),
                       TopColumns(nested() ? tuning::shortlist_substitute_features : tuning::shortlist_substitutes)) {
        for (Index c : point.columns) taken_[c] = 1;
    }

    void add_candidates(const LocalModel& model) {
        const Index k = static_cast<Index>(substitutes_.size());
        // Costs of zero rank the replacements of each term regardless of the cost of dropping the term.
        std::vector<float> costs(k, 0.0f), gains(in_octets(k));
        costs.resize(gains.size(), std::numeric_limits<float>::infinity());
        for (Index c : model.columns()) {
            if (!objective_.penalty().allowed[c] || taken_[c]) continue;
            additions_.add(model.add_gain(c), c, range_of_[c]);
            model.swap_gains(c, costs.data(), gains.data());
            for (Index s = 0; s < k; ++s)
                if (gains[s] > substitutes_[s].threshold()) substitutes_[s].add(gains[s], c, range_of_[c]);
        }
    }

    // Returns the selected columns in ascending order.
    std::vector<Index> columns() const {
        std::vector<Index> chosen = point_.columns;
        for (const TopColumns& list : substitutes_) list.append_to(chosen);
        additions_.append_to(chosen);
        return with_nested_columns(chosen);
    }

  private:
    bool nested() const { return !objective_.columns().nested.empty(); }

    // Returns the index of the nested range that contains each column, or none.
    std::vector<std::int32_t> ranges() const {
        const auto& nested = objective_.columns().nested;
        std::vector<std::int32_t> range_of(objective_.n_columns(), std::int32_t{none});
        for (std::size_t r = 0; r < nested.size(); ++r) mark(nested[r], static_cast<std::int32_t>(r), range_of);
        return range_of;
    }

    template <class T>
    static void mark(const NestedColumns& range, T with, std::vector<T>& by_column) {
        std::fill(by_column.begin() + range.first, by_column.begin() + range.last, with);
        std::fill(by_column.begin() + range.first_ramp, by_column.begin() + range.last_ramp, with);
    }

    std::vector<Index> with_nested_columns(const std::vector<Index>& columns) const {
        std::vector<char> chosen(objective_.n_columns(), 0);
        for (Index c : columns) {
            chosen[c] = 1;
            if (range_of_[c] != none) mark(objective_.columns().nested[range_of_[c]], char{1}, chosen);
        }
        std::vector<Index> out;
        for (Index c = 0; c < objective_.n_columns(); ++c)
            if (chosen[c]) out.push_back(c);
        return out;
    }

    const Objective& objective_;
    const Point& point_;
    // Whether each column is in the support.
    std::vector<char> taken_;
    std::vector<std::int32_t> range_of_;
    TopColumns additions_;
    std::vector<TopColumns> substitutes_;
};

}  // namespace sparsegam
