// bind/bind_cuts.cpp: the cuts and the closed step for Python, so that each can be held against its function.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "sparsegam/paper/cuts.hpp"
#include "sparsegam/paper/lines.hpp"

namespace nb = nanobind;
using namespace sparsegam;

namespace {

std::tuple<double, double, double, double> closed(double on_grad, double on_curv, double off_grad, double off_curv) {
    const ClosedStep step = closed_step({on_grad, on_curv}, {off_grad, off_curv});
    return {step.coef, step.shift, step.gain, step.worth};
}

}  // namespace

void bind_cuts(nb::module_& m) {
    nb::class_<LinePoint>(m, "LinePoint")
        .def(nb::init<double, double, double>(), nb::arg("at"), nb::arg("value"), nb::arg("slope"));
    m.def("linear_cut", linear_cut, nb::arg("a"), nb::arg("b"));
    m.def("quadratic_cut_one", nb::overload_cast<const LinePoint&, double>(quadratic_cut), nb::arg("a"), nb::arg("m"));
    m.def("quadratic_cut_two", nb::overload_cast<const LinePoint&, const LinePoint&, double>(quadratic_cut),
          nb::arg("a"), nb::arg("b"), nb::arg("m"));
    m.def("concordant_cut", concordant_cut, nb::arg("a"), nb::arg("curv"), nb::arg("r"));
    m.def("closed_step", closed, nb::arg("on_grad"), nb::arg("on_curv"), nb::arg("off_grad"), nb::arg("off_curv"));
}
