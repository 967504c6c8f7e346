// bind/bind_search.cpp: the searches for Python: the GIL is released, Ctrl-C is noticed, a callback hears of
// each point.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>

#include "bound.hpp"
#include "sparsegam/path.hpp"
#include "sparsegam/swap.hpp"

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
    nb::gil_scoped_release released;  // the arrays in use are kept alive by the arguments; callbacks take the GIL back
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

Cuts cuts_named(const std::string& name) {
    if (name == "none") return Cuts::none;
    if (name == "linear") return Cuts::linear;
    if (name == "quadratic") return Cuts::quadratic;
    if (name == "selfconcordant") return Cuts::selfconcordant;
    throw std::invalid_argument("cuts must be 'none', 'linear', 'quadratic' or 'selfconcordant', got '" + name + "'");
}

nb::dict counts_of(const SwapCounts& counts) {
    nb::dict out;
    out["terms_tried"] = counts.terms_tried;
    out["columns_tried"] = counts.columns_tried;
    out["swaps"] = counts.swaps;
    out["drops"] = counts.drops;
    out["cut_linear"] = counts.cut_linear;
    out["cut_quadratic"] = counts.cut_quadratic;
    out["cut_selfconcordant"] = counts.cut_selfconcordant;
    out["closed_lines"] = counts.closed_lines;
    out["line_searches"] = counts.line_searches;
    out["line_points"] = counts.line_points;
    return out;
}

// The paper's search at each lambda0 in turn, warm from the one before: the points, whether all were reached,
// the counts.
nb::tuple swap_path(BoundRows& rows, const Penalty& penalty, const Vector<double>& lambda0, Index max_terms,
                    const std::string& cuts, bool dynamic, Index candidates, Index line_steps,
                    std::optional<double> time_limit) {
    check_columns(rows, penalty);
    SwapOptions options{cuts_named(cuts), dynamic, candidates, static_cast<int>(line_steps)};
    if (rows.get().loss() == Loss::exponential && (!rows.get().zero_one() || penalty.lambda2 > 0))
        throw std::invalid_argument("the exponential loss has its closed line for 0/1 columns without ridge");
    if (penalty.lambda1 > 0 || !penalty.free_intercept)
        throw std::invalid_argument("the swap search needs an intercept and knows no lambda1");
    std::vector<Point> points;
    SwapCounts counts;
    bool finished = true;
    {
        nb::gil_scoped_release released;
        rows.get().pool().ticker().set(poll_signals);
        const Deadline deadline(time_limit.value_or(infinity));
        SwapSearch search(rows.get(), penalty, max_terms, options, deadline);
        for (double price : view(lambda0)) points.push_back(search.search(price));
        counts = search.counts();
        finished = search.finished();
    }
    return nb::make_tuple(points, finished, counts_of(counts));
}

nb::dict counts_of(const Search& search) {
    nb::dict out;
    out["scans"] = search.counts.scans;
    out["rescans"] = search.counts.rescans;
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
        .def_prop_ro("counts", [](const Search& search) { return counts_of(search); });
    m.def("frontier", frontier, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("max_terms"),
          nb::arg("time_limit") = nb::none(), nb::arg("callback") = nb::none());
    m.def("fit_at", fit_at, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("lambda0"),
          nb::arg("max_terms"), nb::arg("certify") = true, nb::arg("time_limit") = nb::none(),
          nb::arg("callback") = nb::none());
    m.def("swap_path", swap_path, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("lambda0"),
          nb::arg("max_terms"), nb::arg("cuts"), nb::arg("dynamic"), nb::arg("candidates") = 50,
          nb::arg("line_steps") = 10, nb::arg("time_limit") = nb::none());
}
