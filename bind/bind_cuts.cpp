// bind/bind_cuts.cpp: the cuts for Python, so that each can be held against the function it bounds.
#include <nanobind/nanobind.h>

#include "sparsegam/cuts.hpp"

namespace nb = nanobind;
using namespace sparsegam;

void bind_cuts(nb::module_& m) {
    nb::class_<LinePoint>(m, "LinePoint")
        .def(nb::init<double, double, double>(), nb::arg("at"), nb::arg("value"), nb::arg("slope"));
    m.def("linear_cut", linear_cut, nb::arg("a"), nb::arg("b"));
    m.def("quadratic_cut_one", nb::overload_cast<const LinePoint&, double>(quadratic_cut), nb::arg("a"), nb::arg("m"));
    m.def("quadratic_cut_two", nb::overload_cast<const LinePoint&, const LinePoint&, double>(quadratic_cut),
          nb::arg("a"), nb::arg("b"), nb::arg("m"));
    m.def("concordant_cut", concordant_cut, nb::arg("a"), nb::arg("curv"), nb::arg("r"));
}
