// sparsegam/model_cache.hpp: keeps a local model at hand while the search goes on, for as few scans as will do.
//
// A model follows the search from point to point, until it has grown old. Where columns are many, a full scan chooses
// a shortlist, and models of those alone follow, until the search asks for another full scan.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "local_model.hpp"
#include "top_columns.hpp"

namespace sparsegam {

class ModelCache {
  public:
    ModelCache(Objective& objective, Index max_terms) : objective_(objective), max_terms_(max_terms) {}

    // The model of a point, whose columns are put into the model's order.
    const LocalModel& at(Point& point) {
        if (!follow(point)) scan(point);
        return *model_;
    }

    // The next model will be that of a full scan.
    void renew() {
        shortlist_.clear();
        model_.reset();
    }

    // Is the model that of a full scan at its very point?
    bool from_full_scan() const { return of_all_ && model_->age() == 0; }

  private:
    Index room(const Point& point) const {
        const Index most = std::clamp(tuning::room_in_all / std::max(objective_.n_columns(), Index{1}),
                                      tuning::least_room, tuning::most_room);
        return std::clamp(max_terms_ - point.size() + 1, Index{1}, most);
    }

    bool follow(Point& point) {
        if (!model_ || model_->age() >= tuning::oldest_model || model_->follows() >= tuning::most_follows) return false;
        if (of_all_ && !shortlist_.empty()) {
            model_.emplace(model_->narrowed(shortlist_, room(point)));
            of_all_ = false;
        }
        return model_->follow(point);
    }

    void scan(const Point& point) {
        if (!lists(point.columns)) renew();
        of_all_ = shortlist_.empty();
        const bool choose = of_all_ && objective_.columns().shortlist > 0;
        model_.reset();  // before the next is made: of many columns, it is large
        model_.emplace(objective_, point, shortlist_, choose ? 0 : room(point));
        if (!choose) return;
        shortlist_ = best_columns(point);
        if (static_cast<Index>(shortlist_.size()) > objective_.columns().shortlist) shortlist_.clear();
    }

    bool lists(const std::vector<Index>& columns) const {
        return std::all_of(columns.begin(), columns.end(),
                           [&](Index c) { return std::binary_search(shortlist_.begin(), shortlist_.end(), c); });
    }

    // The columns that look best to add, those that look best in place of each term, and the terms themselves. Thresholds
    // of a feature are listed by the best of them and stay together: their pairs are moves, too.
    std::vector<Index> best_columns(const Point& point) const {
        const Index k = point.size();
        const bool nested = !objective_.columns().nested.empty();
        const std::vector<Index> range_of = ranges();
        std::vector<TopColumns> in_place_of(k, TopColumns(nested ? tuning::substitute_features : tuning::substitutes));
        TopColumns to_add(nested ? tuning::added_features : tuning::additions);
        std::vector<float> costs(k, 0.0f), gains(k);
        std::vector<char> taken(objective_.n_columns(), 0);
        for (Index c : point.columns) taken[c] = 1;
        for (Index c : model_->columns()) {
            if (!objective_.penalty().allowed[c] || taken[c]) continue;
            to_add.offer(model_->add_gain(c), c, range_of[c]);
            model_->swap_gains(c, costs.data(), gains.data());
            for (Index s = 0; s < k; ++s) in_place_of[s].offer(gains[s], c, range_of[c]);
        }
        std::vector<Index> chosen = point.columns;
        for (TopColumns& list : in_place_of) list.append_to(chosen);
        to_add.append_to(chosen);
        return with_their_ranges(std::move(chosen), range_of);
    }

    // The nested range that each column is in, or none.
    std::vector<Index> ranges() const {
        const auto& nested = objective_.columns().nested;
        std::vector<Index> range_of(objective_.n_columns(), none);
        for (std::size_t r = 0; r < nested.size(); ++r) mark(nested[r], static_cast<Index>(r), range_of);
        return range_of;
    }

    template <class T>
    static void mark(const Nested& range, T with, std::vector<T>& by_column) {
        std::fill(by_column.begin() + range.first, by_column.begin() + range.last, with);
        std::fill(by_column.begin() + range.first_ramp, by_column.begin() + range.last_ramp, with);
    }

    std::vector<Index> with_their_ranges(std::vector<Index> columns, const std::vector<Index>& range_of) const {
        std::vector<char> chosen(objective_.n_columns(), 0);
        for (Index c : columns) {
            chosen[c] = 1;
            if (range_of[c] == none) continue;
            mark(objective_.columns().nested[range_of[c]], char{1}, chosen);
        }
        columns.clear();
        for (Index c = 0; c < objective_.n_columns(); ++c)
            if (chosen[c]) columns.push_back(c);
        return columns;
    }

    Objective& objective_;
    Index max_terms_;
    std::optional<LocalModel> model_;
    bool of_all_ = false;           // is it of all columns
    std::vector<Index> shortlist_;  // what scans are about; none: all columns
};

}  // namespace sparsegam
