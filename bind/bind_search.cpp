// bind/bind_search.cpp: the searches for Python: the GIL is released, Ctrl-C is noticed, a callback hears of
// each point.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>

#include "bound.hpp"
#include "sparsegam/path.hpp"

using namespace sparsegam;

namespace {

struct Search {
    std::vector<Point> points;
    bool finished = true;
    Counts counts;
    std::optional<Certificate> certificate;
};

// Signal handlers run only where Python asks for them, on its main thread; elsewhere this does nothing.
void poll_signals() {
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Progress progress_of(const nb::object& callback) {
    if (callback.is_none()) return {};
    return [callback = &callback](Index n_terms, double value) {
        nb::gil_scoped_acquire held;
        (*callback)(n_terms, value);
    };
}

void check_columns(BoundRows& rows, const Penalty& penalty) {
    if (static_cast<Index>(penalty.cost.size()) != rows.get().n_columns())
        throw std::invalid_argument("the penalty must have one entry per column of the design");
}

Search outcome(const Frontier& found) {
    Search search;
    for (Index k = 0; k < found.reached(); ++k)
        if (found.known(k)) search.points.push_back(found.at(k));
    search.finished = found.finished();
    search.counts = found.counts();
    search.certificate = found.certificate();
    return search;
}

Search frontier(BoundRows& rows, const Penalty& penalty, Index max_terms, std::optional<double> time_limit,
                nb::object callback) {
    check_columns(rows, penalty);
    const Progress progress = progress_of(callback);
    nb::gil_scoped_release
        released;  // the arrays in use are kept alive by the arguments; callbacks take the GIL back
    rows.get().pool().ticker().set(poll_signals);
    const Deadline deadline(time_limit.value_or(infinity));
    Frontier found(rows.get(), penalty, max_terms, deadline, progress);
    found.search_all();
    for (Index k = 0; k < found.reached(); ++k) found.polish(k);
    return outcome(found);
}

Search fit_at(BoundRows& rows, const Penalty& penalty, double lambda0, Index max_terms, bool certify,
              std::optional<double> time_limit, nb::object callback) {
    check_columns(rows, penalty);
    const Progress progress = progress_of(callback);
    nb::gil_scoped_release released;
    rows.get().pool().ticker().set(poll_signals);
    const Deadline deadline(time_limit.value_or(infinity));
    Frontier found(rows.get(), penalty, max_terms, deadline, progress);
    found.search_at(lambda0, certify);
    found.polish(found.best_size(lambda0));
    Search search = outcome(found);
    search.points = {found.at(found.best_size(lambda0))};
    return search;
}

nb::dict counts_of(const Search& search) {
    nb::dict out;
    out["scans"] = search.counts.scans;
    out["trials"] = search.counts.trials;
    out["failed"] = search.counts.failed;
    out["moves"] = search.counts.moves;
    out["newton_steps"] = search.counts.newton_steps;
    return out;
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<Point>(m, "Point")
        .def_ro("intercept", &Point::intercept)
        .def_prop_ro("columns", [](const Point& p) { return as_numpy(std::vector<Index>(p.columns)); })
        .def_prop_ro("coef", [](const Point& p) { return as_numpy(std::vector<double>(p.coef)); })
        .def_ro("loss", &Point::loss)
        .def_ro("ridge", &Point::ridge);
    nb::class_<Certificate>(m, "Certificate")
        .def_ro("swap_optimal", &Certificate::swap_optimal)
        .def_ro("pairs", &Certificate::pairs)
        .def_ro("line_searches", &Certificate::line_searches);
    nb::class_<Search>(m, "Search")
        .def_ro("points", &Search::points)
        .def_ro("finished", &Search::finished)
        .def_ro("certificate", &Search::certificate)
        .def_prop_ro("counts", counts_of);
    m.def("frontier", frontier, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("max_terms"),
          nb::arg("time_limit") = nb::none(), nb::arg("callback") = nb::none());
    m.def("fit_at", fit_at, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("lambda0"),
          nb::arg("max_terms"), nb::arg("certify") = true, nb::arg("time_limit") = nb::none(),
          nb::arg("callback") = nb::none());
}
