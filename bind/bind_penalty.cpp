// bind/bind_penalty.cpp: binding of Penalty, with checks of its arguments.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "coarse_bins.hpp"
#include "sparsegam/penalty.hpp"

using namespace sparsegam;

namespace {

template <class T>
void check_columns(const InputArray<T>& array, std::size_t p) {
    if (array.shape(0) != p)
        throw std::invalid_argument("cost, low, high, allowed, group and penalty_scale must have one entry per column");
}

Penalty make_penalty(double lambda2, const InputArray<double>& cost, const InputArray<double>& low,
                     const InputArray<double>& high, const InputArray<bool>& allowed, const InputArray<Index>& group,
                     const InputArray<Index>& always) {
    const std::size_t p = cost.shape(0);
    check_columns(low, p);
    check_columns(high, p);
    check_columns(allowed, p);
    check_columns(group, p);
    Penalty penalty;
    penalty.lambda2 = lambda2;
    penalty.cost = copied(cost);
    const auto no_bound = [](double bound) { return bound == infinity || bound == -infinity; };
    if (!std::all_of(view(low).begin(), view(low).end(), no_bound) ||
        !std::all_of(view(high).begin(), view(high).end(), no_bound)) {
        penalty.low = copied(low);
        penalty.high = copied(high);
    }
    penalty.group.assign(view(group).begin(), view(group).end());
    penalty.always = copied(always);
    std::sort(penalty.always.begin(), penalty.always.end());
    if (!penalty.always.empty() && (penalty.always.front() < 0 || penalty.always.back() >= static_cast<Index>(p)))
        throw std::invalid_argument("always contains a column outside 0 to " +
                                    std::to_string(static_cast<Index>(p) - 1));
    for (Index c : penalty.always) penalty.cost[c] = 0.0;
    for (std::size_t c = 0; c < p; ++c) {
        if (!(low.data()[c] <= 0.0 && high.data()[c] >= 0.0))
            throw std::invalid_argument(
                "bounds must satisfy low <= 0 <= high, got low=" + std::to_string(low.data()[c]) +
                " and high=" + std::to_string(high.data()[c]) + " for column " + std::to_string(c));
        penalty.allowed.push_back(allowed.data()[c]);
    }
    return penalty;
}

Hierarchy hierarchy_named(const std::string& name) {
    if (name == "none") return Hierarchy::none;
    if (name == "weak") return Hierarchy::weak;
    if (name == "strong") return Hierarchy::strong;
    throw std::invalid_argument("hierarchy must be 'none', 'weak' or 'strong', got '" + name + "'");
}

// Checks that each interaction has two different source features and a group that is not used by main effects.
std::vector<FeaturePair> checked_parents(const PairArray& given, std::span<const Index> group) {
    auto parents = pairs_from(given);
    if (parents.size() != group.size()) throw std::invalid_argument("parents must have one row per column");
    std::set<Index> features;
    for (std::size_t c = 0; c < parents.size(); ++c)
        if (parents[c].second == none) features.insert(group[c]);
    for (std::size_t c = 0; c < parents.size(); ++c) {
        const auto [first, second] = parents[c];
        if (second != none && (first < 0 || second < 0 || first == second || features.count(group[c]) > 0))
            throw std::invalid_argument(
                "column " + std::to_string(c) +
                " is not a valid interaction: its parents must be two different features, and its group must "
                "not be the group of a feature");
    }
    return parents;
}

// Returns a method that copies a penalty and replaces one of its members.
auto with(double Penalty::* number) {
    return [number](const Penalty& self, double value) {
        Penalty other = self;
        other.*number = value;
        return other;
    };
}

}  // namespace

void bind_penalty(nb::module_& m) {
    nb::class_<Penalty>(m, "Penalty")
        .def(
            "__init__",
            [](Penalty* self, double lambda2, const InputArray<double>& cost, const InputArray<double>& low,
               const InputArray<double>& high, const InputArray<bool>& allowed, const InputArray<Index>& group,
               const InputArray<Index>& always, Index max_groups, Index max_per_group, double lambda1,
               const std::optional<InputArray<double>>& penalty_scale, bool free_intercept,
               const std::optional<PairArray>& parents, Index max_per_pair, const std::string& hierarchy) {
                Penalty penalty = make_penalty(lambda2, cost, low, high, allowed, group, always);
                penalty.max_groups = max_groups;
                penalty.max_per_group = max_per_group;
                penalty.lambda1 = lambda1;
                if (penalty_scale) {
                    check_columns(*penalty_scale, cost.shape(0));
                    penalty.penalty_scale = copied(*penalty_scale);
                }
                penalty.free_intercept = free_intercept;
                if (parents) penalty.parents = checked_parents(*parents, view(group));
                penalty.max_per_pair = max_per_pair;
                penalty.hierarchy = hierarchy_named(hierarchy);
                new (self) Penalty(std::move(penalty));
            },
            nb::kw_only(), nb::arg("lambda2"), nb::arg("cost"), nb::arg("low"), nb::arg("high"), nb::arg("allowed"),
            nb::arg("group"), nb::arg("always"), nb::arg("max_groups") = 0, nb::arg("max_per_group") = 0,
            nb::arg("lambda1") = 0.0, nb::arg("penalty_scale") = nb::none(), nb::arg("free_intercept") = true,
            nb::arg("parents") = nb::none(), nb::arg("max_per_pair") = 0, nb::arg("hierarchy") = "none")
        .def("with_lambda2", with(&Penalty::lambda2), nb::arg("lambda2"))
        .def("with_lambda1", with(&Penalty::lambda1), nb::arg("lambda1"));
}
