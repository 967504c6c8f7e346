// bind/bind_search.cpp: binding of the searches. They release the GIL, check for Ctrl-C and call a callback for each
// improved model.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "bound.hpp"
#include "released.hpp"
#include "sparsegam/frontier.hpp"
#include "sparsegam/paper/swap.hpp"
#include "stop.hpp"

using namespace sparsegam;

namespace {

struct Search {
    std::vector<Point> points;
    bool finished = true;
    Counts counts;
    std::optional<Certificate> certificate;
};

void end_all() {
    running().closing = true;
    // Cancelled computations need the GIL to raise their exceptions.
    nb::gil_scoped_release released;
    for (int waited = 0; running().works > 0 && waited < 500; ++waited)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

Progress progress_of(const nb::object& callback) {
    if (callback.is_none()) return {};
    return [callback = &callback](Index n_terms, double value) {
        nb::gil_scoped_acquire gil;
        (*callback)(n_terms, value);
    };
}

void check_columns(const Rows& rows, const Penalty& penalty) {
    if (static_cast<Index>(penalty.cost.size()) != rows.columns().size())
        throw std::invalid_argument("the penalty must have one entry per column of the design");
}

void check_search(const Rows& rows, const Penalty& penalty, Index max_terms) {
    check_columns(rows, penalty);
    const Index fixed = static_cast<Index>(penalty.always.size());
    if (fixed > max_terms)
        throw std::invalid_argument(std::to_string(fixed) + " columns are in every model (always), but max_terms is " +
                                    std::to_string(max_terms));
    if (!Limits(penalty, penalty.always).hierarchy_holds())
        throw std::invalid_argument(
            "an interaction in always requires the main effects demanded by hierarchy in always, too");
}

// The loss of the starting model must be finite, because the losses of other models are compared with it.
void check_start(const Point& start) {
    if (!std::isfinite(start.value()) || !std::isfinite(start.intercept))
        throw std::invalid_argument(
            "the loss of the starting model is not finite: rescale y, the weights or the columns in every model");
}

void check_point(const Rows& rows, const Point& point) {
    for (Index c : point.columns)
        if (c < 0 || c >= rows.columns().size())
            throw std::invalid_argument("the design does not have column " + std::to_string(c));
}

// A starting model must contain the columns of every model, and no columns that are not allowed.
void check_start_of(const Rows& rows, const Penalty& penalty, const Point& point) {
    check_point(rows, point);
    const auto enters = [&](Index c) { return penalty.allowed[c] || penalty.is_always(c); };
    const auto is_in = [&](Index c) { return point.has(c); };
    if (!std::all_of(point.columns.begin(), point.columns.end(), enters) ||
        !std::all_of(penalty.always.begin(), penalty.always.end(), is_in))
        throw std::invalid_argument("start contains a column that is not allowed, or lacks a column of always");
    if (!Limits(penalty, point.columns).hierarchy_holds())
        throw std::invalid_argument("start contains an interaction without the main effects that hierarchy requires");
}

Search outcome(const Frontier& found, const Objective& objective) {
    Search search;
    for (Index k = 0; k < found.n_sizes(); ++k)
        if (found.known(k)) search.points.push_back(found.at(k));
    search.finished = found.finished();
    search.counts = objective.counts();
    search.certificate = found.certificate();
    return search;
}

Search frontier(Rows& rows, const Penalty& penalty, Index max_terms, const std::vector<Point>& start, double price,
                bool polish, std::optional<double> time_limit, nb::object callback, std::optional<Stop> stop) {
    check_search(rows, penalty, max_terms);
    for (const Point& point : start) check_start_of(rows, penalty, point);
    if (!(price >= 0.0 && price < infinity))
        throw std::invalid_argument("comparison_lambda0 must be finite and not negative, got " + std::to_string(price));
    const Progress progress = progress_of(callback);
    // The function's arguments keep the arrays alive; callbacks acquire the GIL.
    const Released released;
    rows.set_poll(poll_of(stop));
    const Deadline deadline(time_limit.value_or(infinity));
    const Penalty by_size = penalty.above_least_cost();
    Objective objective(rows, by_size);
    Frontier found(objective, max_terms, deadline, progress, price);
    check_start(found.start());
    if (start.empty())
        found.search_all();
    else
        found.search_from(start);
    if (polish) found.polish_all();
    return outcome(found, objective);
}

Search fit_at(Rows& rows, const Penalty& penalty, double lambda0, Index max_terms, bool certify,
              const std::optional<Point>& start, std::optional<double> time_limit, nb::object callback,
              std::optional<Stop> stop) {
    check_search(rows, penalty, max_terms);
    if (start) check_start_of(rows, penalty, *start);
    if (certify && !rows.columns().all_zero_one())
        throw std::invalid_argument("certify=True requires that all columns are 0/1");
    const Progress progress = progress_of(callback);
    const Released released;
    rows.set_poll(poll_of(stop));
    const Deadline deadline(time_limit.value_or(infinity));
    Objective objective(rows, penalty);
    Frontier found(objective, max_terms, deadline, progress);
    check_start(found.start());
    if (start && start->size() <= max_terms) found.start_from(*start);
    found.search_at(lambda0, certify);
    if (found.finished()) found.polish(found.best_size(lambda0));
    Search search = outcome(found, objective);
    search.points = {found.at(found.best_size(lambda0))};
    return search;
}

// Moves the fixed columns to the front, where a refit does not change them.
Point fixed_first(const Point& point, std::span<const Index> fixed) {
    Point out = point;
    out.columns.clear();
    out.coef.clear();
    for (const bool in_front : {true, false})
        for (Index s = 0; s < point.size(); ++s)
            if ((std::find(fixed.begin(), fixed.end(), point.columns[s]) != fixed.end()) == in_front) {
                out.columns.push_back(point.columns[s]);
                out.coef.push_back(point.coef[s]);
            }
    return out;
}

Point refit_point(Rows& rows, const Penalty& penalty, const Point& point, const std::optional<InputArray<Index>>& fixed,
                  double tolerance, bool full_precision) {
    check_columns(rows, penalty);
    check_point(rows, point);
    Point fitted = fixed ? fixed_first(point, view(*fixed)) : point;
    Index n_fixed = 0;
    if (fixed)
        for (Index c : view(*fixed)) n_fixed += fitted.has(c);
    const Released released;
    Objective objective(rows, penalty);
    refit(objective, fitted, {.share = tolerance, .n_fixed = n_fixed, .full_precision = full_precision});
    return fitted;
}

nb::tuple swap_costs(Rows& rows, const Penalty& penalty, const Point& point) {
    check_columns(rows, penalty);
    check_point(rows, point);
    std::vector<double> drop, rise;
    {
        const Released released;
        Objective objective(rows, penalty);
        const LocalModel model(objective, point, {}, 0);
        const Index k = point.size();
        for (Index s = 0; s < k; ++s) drop.push_back(model.drop_cost(s));
        std::vector<float> costs(drop.begin(), drop.end());
        costs.resize(in_octets(k), std::numeric_limits<float>::infinity());
        std::vector<float> gains(costs.size());
        for (Index c = 0; c < objective.n_columns(); ++c) {
            model.swap_gains(c, costs.data(), gains.data());
            for (Index s = 0; s < k; ++s) rise.push_back(gains[s] > -1e30f && !point.has(c) ? -gains[s] : infinity);
        }
    }
    return nb::make_tuple(as_numpy(std::move(drop)), as_numpy(std::move(rise)));
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

// Runs the swap search of Liu et al. (2022) at each lambda0, starting from the previous solution. Returns the points,
// whether all were reached within the time limit, and the counters.
nb::tuple swap_path(LocalRows& rows, const Penalty& penalty, const InputArray<double>& lambda0, Index max_terms,
                    const std::string& cuts, bool dynamic, Index candidates, Index line_steps, Index max_swaps,
                    const std::optional<Point>& start, std::optional<double> time_limit, std::optional<Stop> stop) {
    check_search(rows, penalty, max_terms);
    if (start) check_start_of(rows, penalty, *start);
    SwapOptions options{cuts_named(cuts), dynamic, candidates, static_cast<int>(line_steps), max_swaps};
    const bool plain = penalty.lambda2 == 0 && penalty.lambda1 == 0 && penalty.free_intercept;
    if (traits(rows.loss()).multiplicative && !(rows.columns().all_zero_one() && plain))
        throw std::invalid_argument(
            "swap_path with the exponential loss requires 0/1 columns, an intercept, lambda2=0 and lambda1=0");
    std::vector<Point> points;
    SwapCounts counts;
    bool finished = true;
    {
        const Released released;
        rows.set_poll(poll_of(stop));
        const Deadline deadline(time_limit.value_or(infinity));
        Objective objective(rows, penalty);
        SwapSearch search(rows, objective, max_terms, options, deadline);
        check_start(search.current());
        if (start) search.start_from(*start);
        for (double price : view(lambda0)) points.push_back(search.search(price));
        counts = search.counts();
        finished = search.finished();
    }
    return nb::make_tuple(points, finished, counts_of(counts));
}

nb::dict counts_of(const Search& search) {
    nb::dict out;
    out["evaluations"] = search.counts.evaluations;
    out["newtons"] = search.counts.newtons;
    out["scans"] = search.counts.scans;
    out["rescans"] = search.counts.rescans;
    out["groups"] = search.counts.groups;
    out["trials"] = search.counts.trials;
    out["failed"] = search.counts.failed;
    out["moves"] = search.counts.moves;
    out["newton_steps"] = search.counts.newton_steps;
    out["passes"] = search.counts.passes();
    return out;
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(end_all));
    nb::class_<Stop>(m, "Stop").def(nb::init<>()).def("set", [](Stop& stop) { *stop.is_stopped = true; });
    nb::class_<Certificate>(m, "Certificate")
        .def_ro("swap_optimal", &Certificate::swap_optimal)
        .def_ro("pairs", &Certificate::pairs)
        .def_ro("line_searches", &Certificate::line_searches);
    nb::class_<Search>(m, "SearchResult")
        .def_ro("points", &Search::points)
        .def_ro("finished", &Search::finished)
        .def_ro("certificate", &Search::certificate)
        .def_prop_ro("counts", [](const Search& search) { return counts_of(search); });
    m.def("frontier", frontier, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("max_terms"),
          nb::arg("start") = std::vector<Point>{}, nb::arg("comparison_lambda0") = 0.0, nb::arg("polish") = true,
          nb::arg("time_limit") = nb::none(), nb::arg("callback") = nb::none(), nb::arg("stop") = nb::none());
    m.def("fit_at", fit_at, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("lambda0"),
          nb::arg("max_terms"), nb::arg("certify") = false, nb::arg("start") = nb::none(),
          nb::arg("time_limit") = nb::none(), nb::arg("callback") = nb::none(), nb::arg("stop") = nb::none());
    m.def("refit", refit_point, nb::arg("rows"), nb::arg("penalty"), nb::arg("point"), nb::kw_only(),
          nb::arg("fixed") = nb::none(), nb::arg("tolerance") = 1e-9, nb::arg("full_precision") = true);
    m.def("swap_costs", swap_costs, nb::arg("rows"), nb::arg("penalty"), nb::arg("point"));
    m.def("swap_path", swap_path, nb::arg("rows"), nb::arg("penalty"), nb::kw_only(), nb::arg("lambda0"),
          nb::arg("max_terms"), nb::arg("cuts"), nb::arg("dynamic"), nb::arg("candidates") = 50,
          nb::arg("line_steps") = 10, nb::arg("max_swaps") = -1, nb::arg("start") = nb::none(),
          nb::arg("time_limit") = nb::none(), nb::arg("stop") = nb::none());
}
