// bind/bind_interactions.cpp: binding of the search for candidate interactions. The tables of sums are not copied to
// Python.
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "coarse_bins.hpp"
#include "sparsegam/interactions.hpp"
#include "stop.hpp"

using namespace sparsegam;

namespace {

template <class T>
nb::object column(const BestInteractions& best, T Interaction::* member) {
    std::vector<T> values;
    for (const Interaction& product : best.products) values.push_back(product.*member);
    return as_numpy(std::move(values));
}

BestInteractions find_best_interactions(Rows& rows, const Point& point, const nb::sequence& coarse_bins,
                                        const PairArray& pairs, Index per_pair, double ridge, double min_curvature,
                                        const std::optional<Stop>& stop) {
    for (Index c : point.columns)
        if (c < 0 || c >= rows.columns().size())
            throw std::invalid_argument("the design does not have column " + std::to_string(c));
    if (per_pair < 0 || !(ridge >= 0.0) || !(min_curvature >= 0.0))
        throw std::invalid_argument("per_pair, ridge and min_curvature must not be negative");
    const auto in = coarse_bins_from(coarse_bins);
    const auto feature_pairs = pairs_from(pairs);
    const Released released;
    rows.set_poll(poll_of(stop));
    return best_interactions(rows, point, in, feature_pairs, {per_pair, ridge, min_curvature});
}

}  // namespace

void bind_interactions(nb::module_& m) {
    nb::class_<BestInteractions>(m, "BestInteractions")
        .def_prop_ro("pair", [](const BestInteractions& best) { return column(best, &Interaction::pair); })
        .def_prop_ro("condition_a",
                     [](const BestInteractions& best) { return column(best, &Interaction::condition_a); })
        .def_prop_ro("condition_b",
                     [](const BestInteractions& best) { return column(best, &Interaction::condition_b); })
        .def_prop_ro("marginal_gain",
                     [](const BestInteractions& best) { return column(best, &Interaction::marginal_gain); })
        .def_prop_ro("interaction_gain",
                     [](const BestInteractions& best) { return column(best, &Interaction::interaction_gain); })
        .def_prop_ro(
            "best_interaction_gain",
            [](const BestInteractions& best) { return as_numpy(std::vector<double>(best.best_interaction_gain)); })
        .def("__len__", [](const BestInteractions& best) { return best.products.size(); });
    m.def("best_interactions", find_best_interactions, nb::arg("rows"), nb::arg("point"), nb::arg("coarse_bins"),
          nb::arg("pairs"), nb::kw_only(), nb::arg("per_pair"), nb::arg("ridge") = 0.0, nb::arg("min_curvature") = 0.0,
          nb::arg("stop") = nb::none());
}
