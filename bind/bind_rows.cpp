// bind/bind_rows.cpp: binding of Rows: the compiled implementations, their methods, and the base class of
// implementations in Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bound.hpp"
#include "python_rows.hpp"
#include "released.hpp"

using namespace sparsegam;

Labels::Labels(Index n_rows, InputArray<double> y, std::optional<InputArray<double>> weight)
    : y(std::move(y)), weight(std::move(weight)) {
    const bool weighed = !this->weight || static_cast<Index>(this->weight->shape(0)) == n_rows;
    if (static_cast<Index>(this->y.shape(0)) != n_rows || !weighed)
        throw std::invalid_argument("design, y and weight must have one entry per row");
}

namespace {

Index checked_threads(Index n_threads) {
    if (n_threads < 1) throw std::invalid_argument("n_threads must be at least 1, got " + std::to_string(n_threads));
    return n_threads;
}

}  // namespace

BoundThresholdRows::BoundThresholdRows(const ThresholdDesign& design, nb::object&& owner, Labels&& labels, Loss loss,
                                       Index n_threads)
    : ThresholdRows(design, labels.y.data(), labels.weights(), loss, checked_threads(n_threads)),
      owner_(std::move(owner)),
      labels_(std::move(labels)) {}

BoundMatrixRows::BoundMatrixRows(const Matrix& matrix, nb::object&& owner, Labels&& labels, Loss loss, Index n_threads,
                                 std::size_t max_bytes)
    : MatrixRows(matrix, labels.y.data(), labels.weights(), loss, checked_threads(n_threads), max_bytes),
      owner_(std::move(owner)),
      labels_(std::move(labels)) {}

BoundRawRows::BoundRawRows(const RawColumns& raw, const ColumnInfo& binned_info, nb::object&& owner, Labels&& labels,
                           Loss loss, Index n_threads)
    : RawRows(raw, binned_info, labels.y.data(), labels.weights(), loss, checked_threads(n_threads)),
      owner_(std::move(owner)),
      labels_(std::move(labels)) {}

namespace {

nb::object array(const std::vector<double>& values) { return as_numpy(std::vector<double>(values)); }

void check_column(const Rows& rows, Index column) {
    if (column < 0 || column >= rows.columns().size())
        throw std::invalid_argument("the design does not have column " + std::to_string(column));
}

const Point& checked(const Rows& rows, const Point& point) {
    for (Index c : point.columns) check_column(rows, c);
    return point;
}

std::span<const Index> checked(const Rows& rows, const InputArray<Index>& columns) {
    for (Index c : view(columns)) check_column(rows, c);
    return view(columns);
}

// Collects the results of a scan or rescan in flat arrays: grad and curv (one per column) and cross (columns x `size`).
struct ScanArrays final : ScanVisitor {
    Gram gram;
    std::vector<double> grad, curv, cross, moment;
    Index size = 0;

    void visit_gram(Gram taken) override {
        gram = std::move(taken);
        size = gram.curv.size();
    }
    void visit_block(const Block& block) override {
        for (std::size_t c = 0; c < block.columns.size(); ++c) {
            grad.push_back(block.grad[c]);
            if (block.curv.data) curv.push_back(block.curv[c]);
            if (block.moment.data) moment.push_back(block.moment[c]);
            const double* first = block.cross + c * block.cross_stride;
            cross.insert(cross.end(), first, first + size);
        }
    }
};

std::vector<double> flat(const Symmetric& matrix) {
    return {matrix.data(), matrix.data() + matrix.size() * matrix.size()};
}

// Calls a function without the GIL, so that other Python threads can run while rows are summed.
template <class Ask>
auto released(const Ask& ask) {
    const Released released;
    return ask();
}

std::vector<double> joined(const std::vector<std::vector<double>>& parts) {
    std::vector<double> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

nb::object evaluate(Rows& rows, const std::vector<Point>& points) {
    for (const Point& point : points) checked(rows, point);
    return as_numpy(released([&] { return rows.evaluate(points); }));
}

nb::tuple newton(Rows& rows, const Point& point, const InputArray<Index>& support, bool low_precision) {
    const auto& at = checked(rows, point);
    const auto on = checked(rows, support);
    const NewtonSums result = released([&] { return rows.newton(at, on, low_precision); });
    return nb::make_tuple(result.loss, as_numpy(flat(result.gram.curv)), array(result.gram.grad));
}

nb::tuple scan(LocalRows& rows, const Point& point, const InputArray<Index>& selected) {
    ScanArrays sums;
    const auto& at = checked(rows, point);
    const auto requested = checked(rows, selected);
    Token token = released([&] { return rows.scan(at, requested, sums); });
    const nb::tuple result =
        nb::make_tuple(BoundToken{std::move(token)}, as_numpy(flat(sums.gram.curv)), array(sums.gram.grad),
                       array(sums.grad), array(sums.curv), array(sums.cross));
    return sums.moment.empty() ? result : nb::tuple(result + nb::make_tuple(array(sums.moment)));
}

nb::tuple rescan(LocalRows& rows, const BoundToken& token, const Point& point, const InputArray<Index>& entered,
                 const InputArray<Index>& selected) {
    ScanArrays sums;
    sums.size = static_cast<Index>(entered.shape(0));
    const auto& at = checked(rows, point);
    const auto in = checked(rows, entered), requested = checked(rows, selected);
    const double total = released([&] {
        return rows.rescan(*token.value, at, in, requested, [&](const Block& block) { sums.visit_block(block); });
    });
    return nb::make_tuple(total, array(sums.grad), array(sums.curv), array(sums.cross));
}

nb::tuple groups(LocalRows& rows, const Point& point, const InputArray<Index>& columns) {
    const auto& at = checked(rows, point);
    const auto requested = checked(rows, columns);
    const GroupSums all = released([&] { return rows.groups(at, requested); });
    return nb::make_tuple(array(all.grad), array(all.curv), array(all.loss),
                          as_numpy(std::vector<double>{all.total_grad, all.total_curv, all.total_loss}));
}

// Returns the tables of all pairs, one after the other, each with one row per coarse bin of the first feature.
nb::tuple pairs(LocalRows& rows, const Point& point, const nb::sequence& coarse_bins, const PairArray& features) {
    const auto& at = checked(rows, point);
    const auto in = coarse_bins_from(coarse_bins);
    const auto requested = pairs_from(features);
    std::vector<std::vector<double>> grad(requested.size()), curv(requested.size());
    released([&] {
        rows.pairs(at, in, requested, [&](Index pair, std::span<const double> g, std::span<const double> h) {
            grad[pair].assign(g.begin(), g.end());
            curv[pair].assign(h.begin(), h.end());
        });
    });
    return nb::make_tuple(as_numpy(joined(grad)), as_numpy(joined(curv)));
}

nb::tuple slopes(LocalRows& rows, const Point& point, bool centred) {
    const Slopes all = rows.slopes(checked(rows, point), centred ? Along::centred : Along::bare);
    return nb::make_tuple(array(all.slope), array(all.curv));
}

// Returns loss, slope and curvature along one centred column.
std::tuple<double, double, double> line(LocalRows& rows, const Point& point, Index column, double step) {
    check_column(rows, column);
    const LineSums sums = rows.line(checked(rows, point), column, step, Along::centred);
    return {sums.value, sums.slope, sums.curv};
}

double shift(LocalRows& rows, const Point& from, const Point& to, Index column) {
    check_column(rows, column);
    return rows.shift(checked(rows, from), checked(rows, to), column);
}

constexpr std::pair<ColumnKind, const char*> kind_names[] = {
    {ColumnKind::step, "step"}, {ColumnKind::level, "level"}, {ColumnKind::ramp, "ramp"}, {ColumnKind::raw, "raw"}};

const char* name_of(ColumnKind kind) {
    for (const auto& [known, name] : kind_names)
        if (known == kind) return name;
    throw std::logic_error("unknown kind of column");
}

ColumnKind kind_named(const std::string& name) {
    for (const auto& [kind, known] : kind_names)
        if (name == known) return kind;
    throw std::invalid_argument("kind must be 'step', 'level', 'ramp' or 'raw' for each column, got '" + name + "'");
}

using Ranges = std::vector<std::pair<Index, Index>>;

// Combines the column ranges of the steps and of the ramps of each feature. `ramps` may be empty.
std::vector<NestedColumns> nested_from(const Ranges& steps, const Ranges& ramps, Index n_columns) {
    const auto outside = [&](const auto& range) {
        return range.first < 0 || range.second < range.first || range.second > n_columns;
    };
    if (std::any_of(steps.begin(), steps.end(), outside) || std::any_of(ramps.begin(), ramps.end(), outside))
        throw std::invalid_argument("nested and nested_ramps must be ranges within 0 and the number of columns (" +
                                    std::to_string(n_columns) + ")");
    if (!ramps.empty() && ramps.size() != steps.size())
        throw std::invalid_argument("nested_ramps must have one entry for each entry of nested");
    std::vector<NestedColumns> out;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        out.push_back({steps[i].first, steps[i].second});
        if (!ramps.empty()) out.back().first_ramp = ramps[i].first, out.back().last_ramp = ramps[i].second;
    }
    return out;
}

// Returns, for each feature, the range of the columns of its steps, or of its ramps.
Ranges ranges(const ColumnInfo& columns, Index NestedColumns::* first, Index NestedColumns::* last) {
    Ranges out;
    for (const NestedColumns& range : columns.nested) out.emplace_back(range.*first, range.*last);
    return out;
}

ColumnInfo make_columns(const std::vector<std::string>& kind, const InputArray<double>& mean,
                        const InputArray<double>& centred_sq_norm, double total_weight, const Ranges& nested,
                        Index shortlist, const Ranges& nested_ramps, const std::vector<double>& knot) {
    ColumnInfo columns;
    for (const auto& name : kind) columns.kind.push_back(kind_named(name));
    if (mean.shape(0) != kind.size() || centred_sq_norm.shape(0) != kind.size())
        throw std::invalid_argument("kind, mean and centred_sq_norm must have one entry per column");
    columns.mean = copied(mean);
    columns.centred_sq_norm = copied(centred_sq_norm);
    columns.total_weight = total_weight;
    columns.shortlist = shortlist;
    columns.nested = nested_from(nested, nested_ramps, columns.size());
    columns.knot = knot;
    const auto has_ramps = [](const NestedColumns& range) { return range.first_ramp < range.last_ramp; };
    const bool ramped = std::any_of(columns.nested.begin(), columns.nested.end(), has_ramps);
    if (ramped ? knot.size() != kind.size() : !knot.empty())
        throw std::invalid_argument(
            "knot must have one entry per column if there are nested ramps, and must be empty otherwise");
    return columns;
}

Point make_point(double intercept, const InputArray<Index>& columns, const InputArray<double>& coef, double loss,
                 double ridge) {
    if (columns.shape(0) != coef.shape(0)) throw std::invalid_argument("a Point must have one coefficient per column");
    return {.intercept = intercept, .columns = copied(columns), .coef = copied(coef), .loss = loss, .ridge = ridge};
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<Point>(m, "Point")
        .def(
            "__init__",
            [](Point* self, double intercept, const InputArray<Index>& columns, const InputArray<double>& coef,
               double loss, double ridge) { new (self) Point(make_point(intercept, columns, coef, loss, ridge)); },
            nb::arg("intercept"), nb::arg("columns"), nb::arg("coef"), nb::kw_only(), nb::arg("loss") = infinity,
            nb::arg("ridge") = 0.0)
        .def_ro("intercept", &Point::intercept)
        .def_prop_ro("columns", [](const Point& p) { return as_numpy(std::vector<Index>(p.columns)); })
        .def_prop_ro("coef", [](const Point& p) { return as_numpy(std::vector<double>(p.coef)); })
        .def_ro("loss", &Point::loss)
        .def_ro("ridge", &Point::ridge);
    nb::class_<ColumnInfo>(m, "ColumnInfo")
        .def(
            "__init__",
            [](ColumnInfo* self, const std::vector<std::string>& kind, const InputArray<double>& mean,
               const InputArray<double>& centred_sq_norm, double total_weight, const Ranges& nested, Index shortlist,
               const Ranges& nested_ramps, const std::optional<InputArray<double>>& knot) {
                new (self) ColumnInfo(make_columns(kind, mean, centred_sq_norm, total_weight, nested, shortlist,
                                                   nested_ramps, knot ? copied(*knot) : std::vector<double>()));
            },
            nb::kw_only(), nb::arg("kind"), nb::arg("mean"), nb::arg("centred_sq_norm"), nb::arg("total_weight"),
            nb::arg("nested"), nb::arg("shortlist") = 0, nb::arg("nested_ramps") = Ranges(),
            nb::arg("knot") = nb::none())
        .def_prop_ro("mean", [](const ColumnInfo& c) { return array(c.mean); })
        .def_prop_ro("centred_sq_norm", [](const ColumnInfo& c) { return array(c.centred_sq_norm); })
        .def_prop_ro("ramps",
                     [](const ColumnInfo& c) {
                         std::vector<Index> ramps;
                         for (Index column = 0; column < c.size(); ++column)
                             if (c.kind[column] == ColumnKind::ramp) ramps.push_back(column);
                         return as_numpy(std::move(ramps));
                     })
        .def_ro("total_weight", &ColumnInfo::total_weight)
        .def_ro("shortlist", &ColumnInfo::shortlist)
        .def_prop_ro("kind",
                     [](const ColumnInfo& c) {
                         std::vector<std::string> names;
                         for (ColumnKind kind : c.kind) names.emplace_back(name_of(kind));
                         return names;
                     })
        .def_prop_ro("nested",
                     [](const ColumnInfo& c) { return ranges(c, &NestedColumns::first, &NestedColumns::last); })
        .def_prop_ro(
            "nested_ramps",
            [](const ColumnInfo& c) { return ranges(c, &NestedColumns::first_ramp, &NestedColumns::last_ramp); })
        .def_prop_ro("knot", [](const ColumnInfo& c) { return array(c.knot); })
        .def("__len__", &ColumnInfo::size);
    nb::class_<BoundToken>(m, "ScanToken");
    nb::class_<Rows, PythonRows>(m, "Rows").def(nb::init<>());
    nb::class_<LocalRows, Rows>(m, "LocalRows")
        .def_prop_ro("loss", [](const LocalRows& rows) { return traits(rows.loss()).name; })
        .def_prop_ro("columns", [](const LocalRows& rows) { return rows.columns(); })
        .def("evaluate", evaluate, nb::arg("points"))
        .def("newton", newton, nb::arg("point"), nb::arg("support"), nb::arg("low_precision") = false)
        .def("scan", scan, nb::arg("point"), nb::arg("columns"))
        .def("rescan", rescan, nb::arg("token"), nb::arg("point"), nb::arg("entered"), nb::arg("columns"))
        .def("groups", groups, nb::arg("point"), nb::arg("columns"))
        .def("pair_sums", pairs, nb::arg("point"), nb::arg("coarse_bins"), nb::arg("pairs"))
        .def("slopes", slopes, nb::arg("point"), nb::arg("centred") = true)
        .def("line", line, nb::arg("point"), nb::arg("column"), nb::arg("step"))
        .def("shift", shift, nb::arg("start"), nb::arg("to"), nb::arg("column"));
    nb::class_<BoundThresholdRows, LocalRows>(m, "ThresholdRows")
        .def(
            "__init__",
            [](BoundThresholdRows* self, nb::object design, InputArray<double> y,
               std::optional<InputArray<double>> weight, const std::string& loss, Index n_threads) {
                const ThresholdDesign& core = nb::cast<const BoundDesign&>(design).get();
                Labels labels(core.n_rows(), y, weight);
                const Loss named = loss_named(loss);
                const Released released;
                new (self) BoundThresholdRows(core, std::move(design), std::move(labels), named, n_threads);
            },
            nb::arg("design"), nb::arg("y"), nb::arg("weight").none(), nb::kw_only(), nb::arg("loss"),
            nb::arg("n_threads"));
    nb::class_<BoundMatrixRows, LocalRows>(m, "MatrixRows")
        .def(
            "__init__",
            [](BoundMatrixRows* self, nb::object matrix, InputArray<double> y, InputArray<double> weight,
               const std::string& loss, Index n_threads, std::size_t max_bytes) {
                const Matrix& core = nb::cast<const BoundMatrix&>(matrix).get();
                Labels labels(core.n_rows(), y, weight);
                const Loss named = loss_named(loss);
                const Released released;
                new (self) BoundMatrixRows(core, std::move(matrix), std::move(labels), named, n_threads, max_bytes);
            },
            nb::arg("matrix"), nb::arg("y"), nb::arg("weight"), nb::kw_only(), nb::arg("loss"), nb::arg("n_threads"),
            nb::arg("max_bytes") = std::size_t{1} << 28);
    nb::class_<BoundRawRows, Rows>(m, "RawRows")
        .def(
            "__init__",
            [](BoundRawRows* self, nb::object columns, const ColumnInfo& binned_info, InputArray<double> y,
               InputArray<double> weight, const std::string& loss, Index n_threads) {
                const RawColumns& raw = nb::cast<const BoundRawColumns&>(columns).get();
                Labels labels(raw.n_rows(), y, weight);
                for (Index i = 0; i < raw.size(); ++i)
                    if (raw.column(i) >= binned_info.size())
                        throw std::invalid_argument("binned_info must describe the columns of the same design");
                const Loss named = loss_named(loss);
                const Released released;
                new (self) BoundRawRows(raw, binned_info, std::move(columns), std::move(labels), named, n_threads);
            },
            nb::arg("columns"), nb::arg("binned_info"), nb::arg("y"), nb::arg("weight"), nb::kw_only(), nb::arg("loss"),
            nb::arg("n_threads"))
        .def_prop_ro("loss", [](const BoundRawRows& rows) { return traits(rows.loss()).name; })
        .def_prop_ro("columns", [](const BoundRawRows& rows) { return rows.columns(); })
        .def("evaluate", evaluate, nb::arg("points"))
        .def("newton", newton, nb::arg("point"), nb::arg("support"), nb::arg("low_precision") = false);
    std::vector<std::string> names;
    for (const LossTraits& row : loss_table) names.emplace_back(row.name);
    m.attr("LOSSES") = nb::tuple(nb::cast(names));
}
