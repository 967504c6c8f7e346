// bind/bind_rows.cpp: Rows and Penalty for Python; the questions themselves are bound too, for the contract tests.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <numeric>
#include <stdexcept>

#include "bound.hpp"
#include "sparsegam/penalty.hpp"

using namespace sparsegam;

BoundRows::BoundRows(nb::object design, Vector<double> y, Vector<double> weight, const std::string& loss,
                     Index n_threads, std::size_t max_bytes)
    : design_(design), y_(y), weight_(weight) {
    if (n_threads < 1) throw std::invalid_argument("n_threads must be at least 1");
    const bool codes = nb::isinstance<BoundDesign>(design);
    const Index n = codes ? nb::cast<const BoundDesign&>(design).get().n_rows()
                          : nb::cast<const BoundMatrix&>(design).get().n_rows();
    if (static_cast<Index>(y.shape(0)) != n || static_cast<Index>(weight.shape(0)) != n)
        throw std::invalid_argument("design, y and weight must have one entry per row");
    if (codes)
        rows_ = std::make_unique<ThresholdRows>(nb::cast<const BoundDesign&>(design).get(), y_.data(), weight_.data(),
                                                loss_named(loss), n_threads);
    else
        rows_ = std::make_unique<MatrixRows>(nb::cast<const BoundMatrix&>(design).get(), y_.data(), weight_.data(),
                                             loss_named(loss), n_threads, max_bytes);
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
struct ScanArrays final : ScanVisitor {
    std::vector<double> grad, curv, cross;
    Index size = 0;

    void take_gram(Gram gram) override { size = gram.curv.size(); }
    void take_block(const Block& block) override {
        for (std::size_t c = 0; c < block.columns.size(); ++c) {
            grad.push_back(block.grad[c]);
            curv.push_back(block.curv[c]);
            const double* first = block.cross + c * block.cross_stride;
            cross.insert(cross.end(), first, first + size);
        }
    }
};

auto scan_arrays(BoundRows& rows, const Vector<Index>& support) {
    ScanArrays scan;
    rows.get().scan(view(support), scan);
    return nb::make_tuple(as_numpy(std::move(scan.grad)), as_numpy(std::move(scan.curv)),
                          as_numpy(std::move(scan.cross)));
}

// A rescan the same way: grad, curv (where columns are 0/1) and cross (columns x entered).
auto rescan_arrays(BoundRows& rows, const Vector<Index>& entered) {
    std::vector<double> grad, curv, cross;
    rows.get().rescan(view(entered), [&](const Block& block) {
        for (std::size_t c = 0; c < block.columns.size(); ++c) {
            grad.push_back(block.grad[c]);
            if (block.curv.data) curv.push_back(block.curv[c]);
            const double* first = block.cross + c * block.cross_stride;
            cross.insert(cross.end(), first, first + entered.shape(0));
        }
    });
    return nb::make_tuple(as_numpy(std::move(grad)), as_numpy(std::move(curv)), as_numpy(std::move(cross)));
}

auto gram_arrays(BoundRows& rows, const Vector<Index>& support) {
    const Gram gram = rows.get().gram(view(support), false);
    const Index size = gram.curv.size();
    std::vector<double> curv(gram.curv.data(), gram.curv.data() + size * size);
    return nb::make_tuple(as_numpy(std::move(curv)), as_numpy(std::vector<double>(gram.grad)));
}

auto slope_arrays(BoundRows& rows) {
    Slopes slopes = rows.get().slopes();
    return nb::make_tuple(as_numpy(std::move(slopes.slope)), as_numpy(std::move(slopes.curv)));
}

// A line from the point last evaluated, along one centred column.
std::tuple<double, double, double> line_sums(BoundRows& rows, Index column, double step) {
    if (column < 0 || column >= rows.get().n_columns())
        throw std::invalid_argument("the design does not have this column");
    const LineSums sums = rows.get().line(column, step);
    return {sums.value, sums.slope, sums.curv};
}

double shifted(BoundRows& rows, Index column, double on, double off) {
    if (column < 0 || column >= rows.get().n_columns())
        throw std::invalid_argument("the design does not have this column");
    return rows.get().shift(column, on, off);
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

template <class T>
void check_columns(const Vector<T>& array, std::size_t p) {
    if (array.shape(0) != p)
        throw std::invalid_argument("cost, low, high, allowed and group must have one entry per column");
}

Penalty make_penalty(double lambda2, const Vector<double>& cost, const Vector<double>& low, const Vector<double>& high,
                     const Vector<bool>& allowed, const Vector<Index>& group, const Vector<Index>& always) {
    const std::size_t p = cost.shape(0);
    check_columns(low, p);
    check_columns(high, p);
    check_columns(allowed, p);
    check_columns(group, p);
    Penalty penalty;
    penalty.lambda2 = lambda2;
    penalty.cost = copied(cost);
    penalty.low = copied(low);
    penalty.high = copied(high);
    penalty.group = copied(group);
    penalty.always = copied(always);
    std::sort(penalty.always.begin(), penalty.always.end());
    if (!penalty.always.empty() && (penalty.always.front() < 0 || penalty.always.back() >= static_cast<Index>(p)))
        throw std::invalid_argument("always names a column that the design does not have");
    for (Index c : penalty.always) penalty.cost[c] = 0.0;
    for (std::size_t c = 0; c < p; ++c) {
        if (!(low.data()[c] <= 0.0 && high.data()[c] >= 0.0))
            throw std::invalid_argument("bounds must have low <= 0 <= high");
        penalty.allowed.push_back(allowed.data()[c]);
    }
    return penalty;
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<BoundRows>(m, "Rows")
        .def(nb::init<nb::object, Vector<double>, Vector<double>, std::string, Index, std::size_t>(), nb::arg("design"),
             nb::arg("y"), nb::arg("weight"), nb::kw_only(), nb::arg("loss"), nb::arg("n_threads"),
             nb::arg("max_bytes") = std::size_t{1} << 28)
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
        .def("shift", shifted, nb::arg("column"), nb::arg("on"), nb::arg("off"))
        .def("scan", scan_arrays, nb::arg("support"))
        .def("rescan", rescan_arrays, nb::arg("entered"))
        .def("gram", gram_arrays, nb::arg("support"))
        .def("groups", group_arrays)
        .def("slopes", slope_arrays)
        .def("line", line_sums, nb::arg("column"), nb::arg("step"));
    nb::class_<Penalty>(m, "Penalty")
        .def(
            "__init__",
            [](Penalty* self, double lambda2, const Vector<double>& cost, const Vector<double>& low,
               const Vector<double>& high, const Vector<bool>& allowed, const Vector<Index>& group,
               const Vector<Index>& always, Index max_groups, Index max_per_group, double lambda1, bool standardize,
               bool free_intercept) {
                Penalty penalty = make_penalty(lambda2, cost, low, high, allowed, group, always);
                penalty.max_groups = max_groups;
                penalty.max_per_group = max_per_group;
                penalty.lambda1 = lambda1;
                penalty.standardize = standardize;
                penalty.free_intercept = free_intercept;
                new (self) Penalty(std::move(penalty));
            },
            nb::kw_only(), nb::arg("lambda2"), nb::arg("cost"), nb::arg("low"), nb::arg("high"), nb::arg("allowed"),
            nb::arg("group"), nb::arg("always"), nb::arg("max_groups") = 0, nb::arg("max_per_group") = 0,
            nb::arg("lambda1") = 0.0, nb::arg("standardize") = true, nb::arg("free_intercept") = true);
}
