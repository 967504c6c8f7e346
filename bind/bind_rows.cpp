// bind/bind_rows.cpp: Rows and Penalty for Python; the questions themselves are bound too, for the contract
// tests.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <numeric>
#include <stdexcept>

#include "bound.hpp"
#include "sparsegam/penalty.hpp"

using namespace sparsegam;

BoundRows::BoundRows(nb::object design, Vector<double> y, Vector<double> weight, const std::string& loss,
                     Index n_threads)
    : design_(design), y_(y), weight_(weight) {
    const auto& core = nb::cast<const BoundDesign&>(design).get();
    if (static_cast<Index>(y.shape(0)) != core.n_rows() || y.shape(0) != weight.shape(0))
        throw std::invalid_argument("design, y and weight must have one entry per row");
    if (n_threads < 1) throw std::invalid_argument("n_threads must be at least 1");
    rows_ = std::make_unique<ThresholdRows>(core, y_.data(), weight_.data(), loss_named(loss), n_threads);
}

namespace {

Point point_of(double intercept, const Vector<Index>& columns, const Vector<double>& coef) {
    Point point;
    point.intercept = intercept;
    point.columns = copied(columns);
    point.coef = copied(coef);
    return point;
}

// A scan as flat arrays: grad, curv (one per column) and cross (columns x (terms + 1)).
auto scan_arrays(BoundRows& rows, const Vector<Index>& support) {
    const Scan& scan = rows.get().scan(view(support));
    return nb::make_tuple(as_numpy(std::vector(scan.grad)), as_numpy(std::vector(scan.curv)),
                          as_numpy(std::vector(scan.cross)));
}

auto gram_arrays(BoundRows& rows, const Vector<Index>& support) {
    const Gram gram = rows.get().gram(view(support));
    const Index size = gram.curv.size();
    std::vector<double> curv(gram.curv.data(), gram.curv.data() + size * size);
    return nb::make_tuple(as_numpy(std::move(curv)), as_numpy(std::vector<double>(gram.grad)));
}

auto group_arrays(BoundRows& rows) {
    std::vector<Index> every(rows.get().n_columns());
    std::iota(every.begin(), every.end(), Index{0});
    const Groups& groups = rows.get().groups(every);
    std::vector<double> grad, curv, loss;
    for (Index c = 0; c < rows.get().n_columns(); ++c) {
        grad.push_back(groups.grad[c]);
        curv.push_back(groups.curv[c]);
        loss.push_back(groups.loss[c]);
    }
    return nb::make_tuple(as_numpy(std::move(grad)), as_numpy(std::move(curv)), as_numpy(std::move(loss)));
}

Penalty make_penalty(double lambda2, const Vector<double>& cost, const Vector<double>& low,
                     const Vector<double>& high, const Vector<bool>& allowed, const Vector<Index>& group) {
    const std::size_t p = cost.shape(0);
    if (low.shape(0) != p || high.shape(0) != p || allowed.shape(0) != p || group.shape(0) != p)
        throw std::invalid_argument("cost, low, high, allowed and group must have one entry per column");
    Penalty penalty{lambda2, copied(cost), copied(low), copied(high), {}, copied(group)};
    for (std::size_t c = 0; c < p; ++c) penalty.allowed.push_back(allowed.data()[c]);
    return penalty;
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<BoundRows>(m, "Rows")
        .def(nb::init<nb::object, Vector<double>, Vector<double>, std::string, Index>(), nb::arg("design"),
             nb::arg("y"), nb::arg("weight"), nb::kw_only(), nb::arg("loss"), nb::arg("n_threads"))
        .def_prop_ro("spread",
                     [](BoundRows& rows) {
                         const auto s = rows.get().spread();
                         return as_numpy(std::vector<double>(s.begin(), s.end()));
                     })
        .def(
            "evaluate",
            [](BoundRows& rows, double intercept, const Vector<Index>& columns, const Vector<double>& coef) {
                return rows.get().evaluate(point_of(intercept, columns, coef));
            },
            nb::arg("intercept"), nb::arg("columns"), nb::arg("coef"))
        .def("scan", scan_arrays, nb::arg("support"))
        .def("gram", gram_arrays, nb::arg("support"))
        .def("groups", group_arrays);
    nb::class_<Penalty>(m, "Penalty")
        .def(
            "__init__",
            [](Penalty* self, double lambda2, const Vector<double>& cost, const Vector<double>& low,
               const Vector<double>& high, const Vector<bool>& allowed, const Vector<Index>& group) {
                new (self) Penalty(make_penalty(lambda2, cost, low, high, allowed, group));
            },
            nb::kw_only(), nb::arg("lambda2"), nb::arg("cost"), nb::arg("low"), nb::arg("high"),
            nb::arg("allowed"), nb::arg("group"));
}
