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

    // From now on the model of all columns follows the search, too, and chooses shortlists for the price of gradients: for
    // a search of many models, where no single look has the last word. A shortlist is always scanned. Where curvature is
    // constant, rows are not asked for scans anyway.
    void hold_curvature() { holds_ = !objective_.loss().constant_curvature; }

    // The model of a point, whose columns are put into the model's order.
    const LocalModel& at(Point& point) {
        if (!follow(point)) look(point);
        return *model_;
    }

    // The next model will be about all columns, or about a shortlist chosen from all of them.
    void renew() {
        shortlist_.clear();
        model_ = nullptr;
        listed_.reset();
        if (!holds_) all_.reset();
    }

    // Is the model that of a full scan at its very point, or of a scan of those that a look at all of them chose there?
    bool from_full_scan() const { return (is_of_all() || chosen_here_) && model_->age() == 0; }

  private:
    bool is_of_all() const { return all_ && model_ == &*all_; }

    Index room(const Point& point) const {
        const Index most = std::clamp(tuning::room_in_all / std::max(objective_.n_columns(), Index{1}),
                                      tuning::least_room, tuning::most_room);
        return std::clamp(max_terms_ - point.size() + 1, Index{1}, most);
    }

    static bool is_old(const LocalModel& model) {
        return model.age() >= tuning::oldest_model || model.follows() >= tuning::most_follows;
    }

    bool follow(Point& point) {
        if (!model_ || is_old(*model_)) return false;
        if (is_of_all() && !shortlist_.empty()) {
            listed_.emplace(all_->narrowed(shortlist_, room(point)));
            model_ = &*listed_;
            if (!holds_) all_.reset();
        }
        chosen_here_ = false;
        return model_->follow(point);
    }

    void look(Point& point) {
        if (!lists(point.columns)) renew();
        const bool choose = shortlist_.empty() && objective_.columns().shortlist > 0;
        chosen_here_ = choose && (choose_by_parts(point) || choose_again(point));
        if (!shortlist_.empty()) {
            listed_.reset();  // before the next is made: of many columns, it is large
            model_ = &listed_.emplace(objective_, point, shortlist_, room(point));
            return;
        }
        chosen_here_ = false;
        all_.reset();
        model_ = &all_.emplace(objective_, point, shortlist_, choose && !holds_ ? 0 : room(point));
        if (choose) choose_from_all(point);
    }

    // By the model of all columns from an earlier look, the curvature held; false where it cannot be.
    bool choose_again(Point& point) {
        if (!holds_ || !all_ || all_->age() >= tuning::oldest_of_all || !all_->follow(point)) return false;
        choose_from_all(point);
        return true;
    }

    void choose_from_all(const Point& point) {
        Chooser chooser(objective_, point);
        chooser.look_at(*all_);
        shortlist_ = kept(chooser.columns());
    }

    // Columns whose model is of a size that can be borne.
    static Index part_columns(const Point& point) { return tuning::room_in_all / (point.size() + 1); }

    bool choose_by_parts(const Point& point) {
        if (part_columns(point) >= objective_.n_columns()) return false;
        Chooser chooser(objective_, point);
        std::vector<Index> part;
        const Index at_once = tuning::room_in_part / (point.size() + 1);
        for (Index c = 0; c < objective_.n_columns(); ++c) {
            part.push_back(c);
            if (static_cast<Index>(part.size()) < at_once && c + 1 < objective_.n_columns()) continue;
            chooser.look_at(LocalModel(objective_, point, part, 0));
            part.clear();
        }
        shortlist_ = kept(chooser.columns());
        return true;
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
    std::optional<LocalModel> all_, listed_;  // models of all columns and of the shortlist
    LocalModel* model_ = nullptr;             // that of the two which is in use
    bool holds_ = false;                      // may a look at all columns hold the curvature of an earlier one
    bool chosen_here_ = false;                // was the shortlist chosen at the point that its model is a scan of
    std::vector<Index> shortlist_;            // what scans are about; none: all columns
};

}  // namespace sparsegam
