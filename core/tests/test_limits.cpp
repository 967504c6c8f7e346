// core/tests/test_limits.cpp: the limits on supports, against a check of the complete support after each move.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/limits.hpp"

using namespace sparsegam;

namespace {

std::mt19937_64 random_engine(5);

Index below(Index n) { return static_cast<Index>(random_engine() % n); }

// Four features with three columns each, and two interactions of every pair of features.
Penalty with_interactions() {
    Penalty penalty;
    constexpr Index n_features = 4;
    for (Index f = 0; f < n_features; ++f)
        for (int i = 0; i < 3; ++i) {
            penalty.group.push_back(f);
            penalty.parents.emplace_back(none, none);
        }
    Index pair = n_features;
    for (Index a = 0; a < n_features; ++a)
        for (Index b = a + 1; b < n_features; ++b, ++pair)
            for (int i = 0; i < 2; ++i) {
                penalty.group.push_back(pair);
                penalty.parents.emplace_back(a, b);
            }
    return penalty;
}

// Checks all limits on a complete support.
bool holds(const Penalty& penalty, const std::vector<Index>& columns) {
    std::map<Index, Index> terms;
    std::set<Index> sources;
    for (Index c : columns) {
        ++terms[penalty.group[c]];
        const Index group = penalty.group[c];
        const auto [a, b] = penalty.is_interaction(c) ? penalty.parents[c] : std::pair(group, group);
        sources.insert({a, b});
    }
    if (penalty.max_groups > 0 && static_cast<Index>(sources.size()) > penalty.max_groups) return false;
    return std::all_of(columns.begin(), columns.end(), [&](Index c) {
        const Index most = penalty.is_interaction(c) ? penalty.max_per_pair : penalty.max_per_group;
        if (most > 0 && terms[penalty.group[c]] > most) return false;
        if (!penalty.is_interaction(c) || penalty.hierarchy == Hierarchy::none) return true;
        const bool one = terms[penalty.parents[c].first] > 0, other = terms[penalty.parents[c].second] > 0;
        return penalty.hierarchy == Hierarchy::strong ? one && other : one || other;
    });
}

std::vector<Index> changed(std::vector<Index> columns, Index dropped, std::initializer_list<Index> added) {
    std::erase(columns, dropped);
    columns.insert(columns.end(), added);
    return columns;
}

void check_moves(const Penalty& penalty, const std::vector<Index>& columns, const std::string& where) {
    const Limits limits(penalty, columns);
    const Index p = static_cast<Index>(penalty.group.size());
    const auto is_in = [&](Index c) { return std::find(columns.begin(), columns.end(), c) != columns.end(); };
    CHECK(limits.hierarchy_holds(), where);
    std::vector<Index> left{none};
    left.insert(left.end(), columns.begin(), columns.end());
    for (Index dropped : left) {
        if (dropped != none)
            CHECK(limits.may_drop(dropped) == holds(penalty, changed(columns, dropped, {})), where + ": drop");
        for (Index c = 0; c < p; ++c) {
            if (is_in(c)) continue;
            CHECK(limits.allow(dropped, c) == holds(penalty, changed(columns, dropped, {c})), where + ": add or swap");
            if (c + 1 < p && !is_in(c + 1) && penalty.group[c] == penalty.group[c + 1])
                CHECK(limits.allow(dropped, c, 2) == holds(penalty, changed(columns, dropped, {c, c + 1})),
                      where + ": two of a group");
        }
    }
}

// Random supports within the limits, grown one column at a time.
void test_limits_of_random_supports(Hierarchy hierarchy) {
    for (int trial = 0; trial < 300; ++trial) {
        Penalty penalty = with_interactions();
        penalty.hierarchy = hierarchy;
        penalty.max_groups = below(4);
        penalty.max_per_group = below(3);
        penalty.max_per_pair = below(3);
        std::vector<Index> columns;
        for (int n = 0; n < 30; ++n) {
            const Index c = below(static_cast<Index>(penalty.group.size()));
            const bool is_in = std::find(columns.begin(), columns.end(), c) != columns.end();
            if (!is_in && holds(penalty, changed(columns, none, {c}))) columns.push_back(c);
        }
        check_moves(penalty, columns, "trial " + std::to_string(trial));
    }
}

void test_hierarchy_holds() {
    Penalty penalty = with_interactions();
    penalty.hierarchy = Hierarchy::weak;
    // An interaction of the first two features.
    const std::vector<Index> alone{12};
    CHECK(!Limits(penalty, alone).hierarchy_holds(), "weak, without main effects");
    CHECK(Limits(penalty, std::vector<Index>{12, 4}).hierarchy_holds(), "weak, with one main effect");
    penalty.hierarchy = Hierarchy::strong;
    CHECK(!Limits(penalty, std::vector<Index>{12, 4}).hierarchy_holds(), "strong, with one main effect");
    CHECK(Limits(penalty, std::vector<Index>{12, 4, 0}).hierarchy_holds(), "strong, with both main effects");
}

}  // namespace

int main() {
    test_limits_of_random_supports(Hierarchy::none);
    test_limits_of_random_supports(Hierarchy::weak);
    test_limits_of_random_supports(Hierarchy::strong);
    test_hierarchy_holds();
    return finish("limits");
}
