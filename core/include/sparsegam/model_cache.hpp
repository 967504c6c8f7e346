// sparsegam/model_cache.hpp: keeps a local model at hand while the search goes on, for as few scans as will do.
//
// A model follows the search from point to point, until it has grown old. Where columns are many, a full scan chooses
// a shortlist, and models of those alone follow, until the search asks for another full scan. Where columns are so many that
// a model of all of them would fill the memory, the full scan goes part by part, and keeps nothing but the shortlist.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "local_model.hpp"
#include "shortlist.hpp"

namespace sparsegam {

class ModelCache {
  public:
    ModelCache(Objective& objective, Index max_terms) : objective_(objective), max_terms_(max_terms) {}

    // From now on the model of all columns follows the search, too, and chooses shortlists for the price of gradients: for
    // a search of many models, where no single look has the last word. A shortlist is always scanned. Where curvature is
    // constant, rows are not asked for scans anyway.
    void cache_curvature() { caches_curvature_ = !objective_.loss().constant_curvature; }

    // The model of a point, whose columns are put into the model's order.
    const LocalModel& at(Point& point) {
        if (!move_to(point)) scan(point);
        return *model_;
    }

    // The next model will be about all columns, or about a shortlist chosen from all of them.
    void invalidate() {
        shortlist_.clear();
        model_ = nullptr;
        shortlist_model_.reset();
        if (!caches_curvature_) full_model_.reset();
    }

    // Is the model that of a full scan at its very point, or of a scan of those that a look at all of them chose there?
    bool from_full_scan() const { return (is_full() || chosen_here_) && model_->age() == 0; }

  private:
    bool is_full() const { return full_model_ && model_ == &*full_model_; }

    Index capacity(const Point& point) const {
        const Index most = std::clamp(tuning::full_model_floats / std::max(objective_.n_columns(), Index{1}),
                                      tuning::min_capacity, tuning::max_capacity);
        return std::clamp(max_terms_ - point.size() + 1, Index{1}, most);
    }

    static bool is_old(const LocalModel& model) {
        return model.age() >= tuning::max_model_age || model.n_moves() >= tuning::max_moves;
    }

    bool move_to(Point& point) {
        if (!model_ || is_old(*model_)) return false;
        if (is_full() && !shortlist_.empty()) {
            shortlist_model_.emplace(full_model_->restricted_to(shortlist_, capacity(point)));
            model_ = &*shortlist_model_;
            if (!caches_curvature_) full_model_.reset();
        }
        chosen_here_ = false;
        return model_->move_to(point);
    }

    void scan(Point& point) {
        if (!includes_all(point.columns)) invalidate();
        const bool choose = shortlist_.empty() && objective_.columns().shortlist > 0;
        chosen_here_ = choose && (choose_by_parts(point) || choose_with_cached_curvature(point));
        if (!shortlist_.empty()) {
            shortlist_model_.reset();  // before the next is made: of many columns, it is large
            model_ = &shortlist_model_.emplace(objective_, point, shortlist_, capacity(point));
            return;
        }
        chosen_here_ = false;
        full_model_.reset();
        model_ =
            &full_model_.emplace(objective_, point, shortlist_, choose && !caches_curvature_ ? 0 : capacity(point));
        if (choose) choose_from_full_model(point);
    }

    // By the model of all columns from an earlier look, the curvature held; false where it cannot be.
    bool choose_with_cached_curvature(Point& point) {
        if (!caches_curvature_ || !full_model_ || full_model_->age() >= tuning::max_full_model_age ||
            !full_model_->move_to(point))
            return false;
        choose_from_full_model(point);
        return true;
    }

    void choose_from_full_model(const Point& point) {
        ShortlistBuilder builder(objective_, point);
        builder.add_candidates(*full_model_);
        shortlist_ = usable(builder.columns());
    }

    // Columns whose model is of a size that can be borne.
    static Index part_columns(const Point& point) { return tuning::full_model_floats / (point.size() + 1); }

    bool choose_by_parts(const Point& point) {
        if (part_columns(point) >= objective_.n_columns()) return false;
        ShortlistBuilder builder(objective_, point);
        std::vector<Index> part;
        const Index at_once = tuning::part_model_floats / (point.size() + 1);
        for (Index c = 0; c < objective_.n_columns(); ++c) {
            part.push_back(c);
            if (static_cast<Index>(part.size()) < at_once && c + 1 < objective_.n_columns()) continue;
            builder.add_candidates(LocalModel(objective_, point, part, 0));
            part.clear();
        }
        shortlist_ = usable(builder.columns());
        return true;
    }

    // A shortlist that is too long to save work is none.
    std::vector<Index> usable(std::vector<Index> columns) const {
        if (static_cast<Index>(columns.size()) > objective_.columns().shortlist) columns.clear();
        return columns;
    }

    bool includes_all(const std::vector<Index>& columns) const {
        return std::all_of(columns.begin(), columns.end(),
                           [&](Index c) { return std::binary_search(shortlist_.begin(), shortlist_.end(), c); });
    }

    Objective& objective_;
    Index max_terms_;
    std::optional<LocalModel> full_model_, shortlist_model_;  // models of all columns and of the shortlist
    LocalModel* model_ = nullptr;                             // that of the two which is in use
    bool caches_curvature_ = false;  // may a look at all columns hold the curvature of an earlier one
    bool chosen_here_ = false;       // was the shortlist chosen at the point that its model is a scan of
    std::vector<Index> shortlist_;   // what scans are about; none: all columns
};

}  // namespace sparsegam
