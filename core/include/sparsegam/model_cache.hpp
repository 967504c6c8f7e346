// sparsegam/model_cache.hpp: provides the local model of the current point with as few scans as possible.
//
// A local model is moved from point to point, with frozen curvature, until it is too old. With many columns, a full
// scan selects a shortlist, and models of the shortlist are used until the search requests another full scan. With so
// many columns that a model of all of them would not fit into memory, the full scan is done for one part of the columns
// after the other, and only the shortlist is kept.
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

    // From now on, the model of all columns is moved from point to point, too, and selects shortlists at the cost of
    // computing gradients only. This is for searches of many models, in which no single full scan is decisive. A
    // shortlist is always scanned. For losses of constant curvature this changes nothing, since they need no further
    // scans.
    void cache_curvature() { caches_curvature_ = !objective_.loss().constant_curvature; }

    // Returns the local model at a point. Reorders the columns of the point to match the model.
    const LocalModel& at(Point& point) {
        if (!move_to(point)) scan(point);
        return *model_;
    }

    // Makes the next model one of all columns, or of a shortlist selected from all columns.
    void invalidate() {
        shortlist_.clear();
        model_ = nullptr;
        shortlist_model_.reset();
        if (!caches_curvature_) full_model_.reset();
    }

    // Whether the current model is a full scan at its point, or a scan of a shortlist that was selected at this point.
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
            // Release the memory of the old model before the new one is made: with many columns it is large.
            shortlist_model_.reset();
            model_ = &shortlist_model_.emplace(objective_, point, shortlist_, capacity(point));
            return;
        }
        chosen_here_ = false;
        full_model_.reset();
        model_ =
            &full_model_.emplace(objective_, point, shortlist_, choose && !caches_curvature_ ? 0 : capacity(point));
        if (choose) choose_from_full_model(point);
    }

    // Selects a shortlist with the model of all columns from an earlier scan, with frozen curvature. Returns false if
    // this is impossible.
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

    // The number of columns whose model fits into memory.
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

    // Discards a shortlist that is too long to save work.
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
    // The models of all columns and of the shortlist, and the one in use.
    std::optional<LocalModel> full_model_, shortlist_model_;
    LocalModel* model_ = nullptr;
    // Whether full scans may reuse the curvature of an earlier scan.
    bool caches_curvature_ = false;
    // Whether the shortlist was selected at the point at which its model was scanned.
    bool chosen_here_ = false;
    // The columns that are scanned; empty for all columns.
    std::vector<Index> shortlist_;
};

}  // namespace sparsegam
