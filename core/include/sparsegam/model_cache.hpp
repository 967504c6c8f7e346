// sparsegam/model_cache.hpp: keeps a local model at hand while the search goes on, for as few scans as will do.
//
// A model follows the search from point to point, until it has grown old. Where columns are many, a full scan chooses
// a shortlist, and models of those alone follow, until the search asks for another full scan. Where columns are so many that
// a model of all of them would fill the memory, the full scan goes part by part, and keeps nothing but the shortlist.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "chooser.hpp"
#include "local_model.hpp"

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
    bool from_full_scan() const { return (of_all_ || chosen_here_) && model_->age() == 0; }

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
        const bool choose = shortlist_.empty() && objective_.columns().shortlist > 0;
        model_.reset();  // before the next is made: of many columns, it is large
        chosen_here_ = choose && part_columns(point) < objective_.n_columns();
        if (chosen_here_) choose_by_parts(point);
        of_all_ = shortlist_.empty();
        model_.emplace(objective_, point, shortlist_, choose && of_all_ ? 0 : room(point));
        if (!choose || !of_all_) return;
        Chooser chooser(objective_, point);
        chooser.look_at(*model_);
        shortlist_ = kept(chooser.columns());
    }

    // Columns whose model is of a size that can be borne.
    static Index part_columns(const Point& point) { return tuning::room_in_all / (point.size() + 1); }

    void choose_by_parts(const Point& point) {
        Chooser chooser(objective_, point);
        std::vector<Index> part;
        for (Index c = 0; c < objective_.n_columns(); ++c) {
            part.push_back(c);
            if (static_cast<Index>(part.size()) < part_columns(point) && c + 1 < objective_.n_columns()) continue;
            chooser.look_at(LocalModel(objective_, point, part, 0));
            part.clear();
        }
        shortlist_ = kept(chooser.columns());
    }

    // A shortlist that is too long to save work is none.
    std::vector<Index> kept(std::vector<Index> columns) const {
        if (static_cast<Index>(columns.size()) > objective_.columns().shortlist) columns.clear();
        return columns;
    }

    bool lists(const std::vector<Index>& columns) const {
        return std::all_of(columns.begin(), columns.end(),
                           [&](Index c) { return std::binary_search(shortlist_.begin(), shortlist_.end(), c); });
    }

    Objective& objective_;
    Index max_terms_;
    std::optional<LocalModel> model_;
    bool of_all_ = false;           // is it of all columns
    bool chosen_here_ = false;      // or of the shortlist that was chosen from all of them at its scan
    std::vector<Index> shortlist_;  // what scans are about; none: all columns
};

}  // namespace sparsegam
