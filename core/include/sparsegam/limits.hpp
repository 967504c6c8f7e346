// sparsegam/limits.hpp: limits on which columns may be in a model together: numbers of source features and of their
// terms, and main effects that interactions require.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penalty.hpp"

namespace sparsegam {

// Returns for a given support whether a column may enter it, possibly in exchange for another, and whether one may
// leave it.
class Limits {
  public:
    Limits(const Penalty& penalty, std::span<const Index> columns) : penalty_(penalty) {
        if (!penalty.limited()) return;
        for (Index c : columns) {
            ++terms_[penalty.group[c]];
            for_each_source(c, [&](Index feature) { ++uses_[feature]; });
            if (penalty.hierarchy != Hierarchy::none && penalty.is_interaction(c)) interactions_.push_back(c);
        }
        for (Index p : interactions_)
            for_each_source(p, [&](Index feature) {
                if (count(terms_, feature) == 1) required_.push_back(feature);
            });
    }

    // n_added is the number of columns of this group that enter.
    bool allow(Index dropped, Index added, Index n_added = 1) const {
        if (!penalty_.limited()) return true;
        return allow_in_group(dropped, added, n_added) && allow_source(dropped, added) &&
               (!penalty_.is_interaction(added) || has_main_effects(added, dropped, added)) &&
               interactions_keep_main_effects(dropped, added);
    }

    bool may_drop(Index column) const { return interactions_keep_main_effects(column, none); }

    // Whether the main effects that interactions require are in the support.
    bool hierarchy_holds() const {
        return std::all_of(interactions_.begin(), interactions_.end(),
                           [&](Index p) { return has_main_effects(p, none, none); });
    }

  private:
    static Index count(const std::unordered_map<Index, Index>& counts, Index of) {
        const auto at = counts.find(of);
        return at == counts.end() ? 0 : at->second;
    }

    template <class Take>
    void for_each_source(Index column, const Take& take) const {
        if (column == none) return;
        if (!penalty_.is_interaction(column)) return take(penalty_.group[column]);
        take(penalty_.parents[column].first);
        take(penalty_.parents[column].second);
    }

    bool allow_in_group(Index dropped, Index added, Index n_added) const {
        const Index most = penalty_.is_interaction(added) ? penalty_.max_per_pair : penalty_.max_per_group;
        if (most == 0) return true;
        const Index group = penalty_.group[added], left = dropped != none && penalty_.group[dropped] == group;
        return count(terms_, group) - left + n_added <= most;
    }

    bool allow_source(Index dropped, Index added) const {
        if (penalty_.max_groups == 0) return true;
        Index features = static_cast<Index>(uses_.size());
        for_each_source(dropped, [&](Index f) { features -= count(uses_, f) == 1; });
        for_each_source(added, [&](Index f) {
            Index left = count(uses_, f);
            for_each_source(dropped, [&](Index other) { left -= other == f; });
            features += left == 0;
        });
        return features <= penalty_.max_groups;
    }

    // Whether the interactions of the support still have the required main effects after one column has left and
    // another has entered. Most columns are not the last main effect of a feature of an interaction.
    bool interactions_keep_main_effects(Index dropped, Index added) const {
        if (dropped == none || required_.empty() || penalty_.is_interaction(dropped) ||
            !is_required(penalty_.group[dropped]))
            return true;
        return std::all_of(interactions_.begin(), interactions_.end(),
                           [&](Index p) { return has_main_effects(p, dropped, added); });
    }

    bool is_required(Index feature) const {
        return std::find(required_.begin(), required_.end(), feature) != required_.end();
    }

    bool has_main_effects(Index interaction, Index dropped, Index added) const {
        if (penalty_.hierarchy == Hierarchy::none) return true;
        const auto [first, second] = penalty_.parents[interaction];
        const bool one = n_main_effects(first, dropped, added) > 0, other = n_main_effects(second, dropped, added) > 0;
        return penalty_.hierarchy == Hierarchy::strong ? one && other : one || other;
    }

    // Interactions have groups of their own, which are not counted here.
    Index n_main_effects(Index feature, Index dropped, Index added) const {
        const auto is_in = [&](Index column) { return column != none && penalty_.group[column] == feature; };
        return count(terms_, feature) - is_in(dropped) + is_in(added);
    }

    const Penalty& penalty_;
    // Number of terms of each group.
    std::unordered_map<Index, Index> terms_;
    // Number of terms that use each source feature, as main effect or in an interaction.
    std::unordered_map<Index, Index> uses_;
    // Interactions of the support that require main effects.
    std::vector<Index> interactions_;
    // Source features of these interactions that have a single main effect.
    std::vector<Index> required_;
};

}  // namespace sparsegam
