// sparsegam/scout.hpp: keeps a local model at hand while the search goes on, for as few scans as will do.
//
// A model follows the search from point to point, until it has grown old. Where columns are many, a scan of all of them
// chooses a shortlist, and models of those alone follow, until the search asks for another look at all.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "best.hpp"
#include "local_model.hpp"

namespace sparsegam {

class Scout {
  public:
    Scout(Rows& rows, const Penalty& penalty, Index max_terms) : rows_(rows), penalty_(penalty), max_terms_(max_terms) {
        rows.focus({});  // an earlier search may have left a shortlist behind
    }

    // The model of a point that the rows were just evaluated at.
    const LocalModel& look(const Point& point, Counts& counts) {
        if (follow(point))
            ++counts.rescans;
        else
            scan(point, counts);
        return *model_;
    }

    // The next look will be a new scan of all columns.
    void renew() {
        rows_.focus({});
        focused_ = false;
        model_.reset();
    }

    // Was the last look a new scan of all columns?
    bool saw_all() const { return whole_ && model_->age() == 0; }

  private:
    static constexpr std::size_t additions = 64;   // columns of a shortlist that may be added
    static constexpr std::size_t substitutes = 4;  // and that may stand in for each term
    static constexpr Index oldest = 24;            // points that a model may follow the search to
    static constexpr Index most_follows = 200;     // the same where curvature never changes, but floats round
    static constexpr Index most_room = 64;         // columns that may enter meanwhile

    Index room(const Point& point) const { return std::min(most_room, max_terms_ - point.size() + 1); }

    bool follow(const Point& point) {
        if (!model_ || model_->age() >= oldest || model_->follows() >= most_follows) return false;
        if (whole_ && focused_) {
            model_.emplace(model_->narrowed(shortlist_, room(point)));
            whole_ = false;
        }
        return model_->follow(point);
    }

    void scan(const Point& point, Counts& counts) {
        if (focused_ && !lists(point.columns)) renew();
        ++counts.scans;
        whole_ = !focused_;
        const bool choose = whole_ && rows_.can_focus();
        const Index seen = whole_ ? rows_.n_columns() : static_cast<Index>(shortlist_.size());
        model_.reset();  // before the next is made: of many columns, it is large
        model_.emplace(rows_, penalty_, point, seen, choose ? 0 : room(point));
        if (!choose) return;
        shortlist_ = shortlist(point);
        focused_ = rows_.focus(shortlist_);
    }

    bool lists(const std::vector<Index>& columns) const {
        return std::all_of(columns.begin(), columns.end(),
                           [&](Index c) { return std::binary_search(shortlist_.begin(), shortlist_.end(), c); });
    }

    // The columns that look best to add, those that look best in place of each term, and the terms themselves.
    std::vector<Index> shortlist(const Point& point) const {
        const Index k = point.size();
        std::vector<Best> best(k, Best(substitutes));
        Best to_add(additions);
        std::vector<double> costs(k, 0.0), gains(k);
        std::vector<char> taken(rows_.n_columns(), 0);
        for (Index c : point.columns) taken[c] = 1;
        for (Index c : model_->columns()) {
            if (!penalty_.allowed[c] || taken[c]) continue;
            to_add.offer(model_->add_gain(c), c);
            model_->swap_gains(c, costs.data(), gains.data());
            for (Index s = 0; s < k; ++s) best[s].offer(gains[s], c);
        }
        std::vector<Index> chosen = point.columns;
        for (Best& list : best) list.append_to(chosen);
        to_add.append_to(chosen);
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        return chosen;
    }

    Rows& rows_;
    const Penalty& penalty_;
    Index max_terms_;
    std::optional<LocalModel> model_;
    bool whole_ = false;  // is it of all columns
    std::vector<Index> shortlist_;
    bool focused_ = false;  // do scans look at the shortlist alone
};

}  // namespace sparsegam
