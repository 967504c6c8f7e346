// bind/bind_products.cpp: products of conditions on two features, scored; the tables they are scored from stay here.
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "cells.hpp"
#include "sparsegam/products.hpp"
#include "stop.hpp"

using namespace sparsegam;

namespace {

template <class T>
nb::object column(const BestProducts& best, T Product::* member) {
    std::vector<T> values;
    for (const Product& product : best.products) values.push_back(product.*member);
    return as_numpy(std::move(values));
}

BestProducts find_best_products(Rows& rows, const Point& point, const nb::sequence& cells, const PairArray& pairs,
                                Index per_pair, double ridge, double min_curvature, const std::optional<Stop>& stop) {
    for (Index c : point.columns)
        if (c < 0 || c >= rows.columns().size())
            throw std::invalid_argument("the design does not have column " + std::to_string(c));
    if (per_pair < 0 || !(ridge >= 0.0) || !(min_curvature >= 0.0))
        throw std::invalid_argument("per_pair, ridge and min_curvature must not be negative");
    const auto in = cells_from(cells);
    const auto asked = pairs_from(pairs);
    const Released released;
    rows.set_poll(poll_of(stop));
    return best_products(rows, point, in, asked, {per_pair, ridge, min_curvature});
}

}  // namespace

void bind_products(nb::module_& m) {
    nb::class_<BestProducts>(m, "BestProducts")
        .def_prop_ro("pair", [](const BestProducts& best) { return column(best, &Product::pair); })
        .def_prop_ro("part_a", [](const BestProducts& best) { return column(best, &Product::part_a); })
        .def_prop_ro("part_b", [](const BestProducts& best) { return column(best, &Product::part_b); })
        .def_prop_ro("plain", [](const BestProducts& best) { return column(best, &Product::plain); })
        .def_prop_ro("contrast", [](const BestProducts& best) { return column(best, &Product::contrast); })
        .def_prop_ro("best_contrast",
                     [](const BestProducts& best) { return as_numpy(std::vector<double>(best.best_contrast)); })
        .def("__len__", [](const BestProducts& best) { return best.products.size(); });
    m.def("best_products", find_best_products, nb::arg("rows"), nb::arg("point"), nb::arg("cells"), nb::arg("pairs"),
          nb::kw_only(), nb::arg("per_pair"), nb::arg("ridge") = 0.0, nb::arg("min_curvature") = 0.0,
          nb::arg("stop") = nb::none());
}
