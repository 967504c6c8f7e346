// bind/python_rows.hpp: implementations of Rows written in Python, called by the compiled search.
//
// _core.pyi documents their methods. The search runs without the GIL and acquires it for each call.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "coarse_bins.hpp"
#include "sparsegam/rows.hpp"

// Holds the Python object that a scan returned as its token.
struct PythonToken final : sparsegam::ScanToken {
    explicit PythonToken(nb::object value) : value(std::move(value)) {}
    ~PythonToken() override {
        nb::gil_scoped_acquire gil;
        value.reset();
    }
    nb::object value;
};

using Numbers = Aligned<const double, nb::c_contig, nb::device::cpu>;

class PythonRows final : public sparsegam::Rows {
  public:
    NB_TRAMPOLINE(sparsegam::Rows, 8);

    using Index = sparsegam::Index;
    using Point = sparsegam::Point;

    sparsegam::Loss loss() const override {
        if (!loss_) {
            nb::gil_scoped_acquire gil;
            loss_ = sparsegam::loss_named(nb::cast<std::string>(member("loss")));
        }
        return *loss_;
    }

    const sparsegam::ColumnInfo& columns() const override {
        if (!columns_) {
            nb::gil_scoped_acquire gil;
            columns_ = nb::cast<sparsegam::ColumnInfo>(member("columns"));
        }
        return *columns_;
    }

    std::vector<double> evaluate(std::span<const Point> points) override {
        nb::gil_scoped_acquire gil;
        nb::list columns_or_all;
        for (const Point& point : points) columns_or_all.append(nb::cast(point));
        return numbers(member("evaluate")(columns_or_all), points.size(), "evaluate: one loss per point");
    }

    sparsegam::NewtonSums newton(const Point& point, std::span<const Index> support, bool low_precision) override {
        nb::gil_scoped_acquire gil;
        const nb::tuple result =
            checked_tuple(member("newton")(point, array(support), low_precision), 3, "newton: loss, curv, grad");
        return {nb::cast<double>(result[0]), gram(result[1], result[2], support.size() + 1)};
    }

    sparsegam::Token scan(const Point& point, std::span<const Index> selected,
                          sparsegam::ScanVisitor& visitor) override {
        nb::gil_scoped_acquire gil;
        const bool ramped = !columns().knot.empty();
        const nb::tuple result =
            checked_tuple(member("scan")(point, array(selected)), ramped ? 7 : 6,
                          ramped ? "scan: token, support curv and grad, then grad, curv, cross, moment"
                                 : "scan: token, support curv and grad, then grad, curv, cross");
        const std::size_t size = point.columns.size() + 1;
        visitor.visit_gram(gram(result[1], result[2], size));
        const auto columns = columns_or_all(selected);
        const auto moment = ramped ? numbers(result[6], columns.size(), "moment") : std::vector<double>();
        take(result[3], result[4], result[5], columns, size, [&](sparsegam::Block block) {
            if (ramped) block.moment = {moment.data(), 1};
            visitor.visit_block(block);
        });
        return std::make_shared<PythonToken>(nb::borrow<nb::object>(result[0]));
    }

    double rescan(const sparsegam::ScanToken& token, const Point& point, std::span<const Index> entered,
                  std::span<const Index> selected, const sparsegam::BlockCallback& visit_block) override {
        nb::gil_scoped_acquire gil;
        const nb::tuple result = checked_tuple(
            member("rescan")(static_cast<const PythonToken&>(token).value, point, array(entered), array(selected)), 4,
            "rescan: total gradient, then grad, curv, cross");
        take(result[1], result[2], result[3], columns_or_all(selected), entered.size(), visit_block);
        return nb::cast<double>(result[0]);
    }

    sparsegam::GroupSums groups(const Point& point, std::span<const Index> columns) override {
        nb::gil_scoped_acquire gil;
        const nb::tuple result =
            checked_tuple(member("groups")(point, array(columns)), 4, "groups: grad, curv, loss, totals");
        const auto totals = numbers(result[3], 3, "groups: totals of gradient, curvature and loss");
        const std::size_t n = columns.size();
        return {numbers(result[0], n, "groups: grad"),
                numbers(result[1], n, "groups: curv"),
                numbers(result[2], n, "groups: loss"),
                totals[0],
                totals[1],
                totals[2]};
    }

    void pairs(const Point& point, std::span<const sparsegam::CoarseBins> coarse_bins,
               std::span<const sparsegam::FeaturePair> pairs, const sparsegam::PairCallback& take) override {
        sparsegam::check_pairs(coarse_bins, pairs);
        nb::gil_scoped_acquire gil;
        std::vector<std::size_t> sizes;
        for (const auto& [a, b] : pairs) sizes.push_back(coarse_bins[a].n_coarse * coarse_bins[b].n_coarse);
        const std::size_t size = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
        const nb::tuple result = checked_tuple(member("pair_sums")(point, as_tuples(coarse_bins), as_array(pairs)), 2,
                                               "pair_sums: tables of gradient and curvature");
        const auto grad = numbers(result[0], size, "pair_sums: grad"),
                   curv = numbers(result[1], size, "pair_sums: curv");
        for (std::size_t p = 0, first = 0; p < pairs.size(); first += sizes[p++])
            take(static_cast<Index>(p), std::span(grad).subspan(first, sizes[p]),
                 std::span(curv).subspan(first, sizes[p]));
    }

  private:
    nb::object member(const char* name) const { return nb_trampoline.base().attr(name); }

    static nb::object array(std::span<const Index> values) {
        return as_numpy(std::vector<Index>(values.begin(), values.end()));
    }

    static nb::tuple checked_tuple(const nb::object& result, std::size_t count, const char* what) {
        nb::tuple tuple;
        if (!nb::try_cast(result, tuple) || tuple.size() != count)
            throw std::invalid_argument(std::string("a Rows class in Python must return ") + what);
        return tuple;
    }

    static std::vector<double> numbers(nb::handle result, std::size_t count, const char* what) {
        const nb::object made = nb::module_::import_("numpy").attr("ascontiguousarray")(result, "float64");
        const auto values = nb::cast<Numbers>(made);
        if (values.size() != count)
            throw std::invalid_argument("a Rows class in Python must return " + std::string(what) + " (" +
                                        std::to_string(count) + " numbers), got " + std::to_string(values.size()));
        return {values.data(), values.data() + values.size()};
    }

    static sparsegam::Gram gram(nb::handle curv, nb::handle grad, std::size_t size) {
        sparsegam::Gram out{sparsegam::Symmetric(static_cast<Index>(size)),
                            numbers(grad, size, "the support's gradient")};
        const auto values = numbers(curv, size * size, "the support's curvature");
        std::copy(values.begin(), values.end(), out.curv.data());
        return out;
    }

    std::vector<Index> columns_or_all(std::span<const Index> selected) const {
        if (!selected.empty()) return {selected.begin(), selected.end()};
        std::vector<Index> all(columns().size());
        for (std::size_t c = 0; c < all.size(); ++c) all[c] = static_cast<Index>(c);
        return all;
    }

    // Passes the sums of some columns to a callback; curv may be None for columns that are not 0/1.
    template <class Take>
    static void take(nb::handle grad, nb::handle curv, nb::handle cross, const std::vector<Index>& columns,
                     std::size_t size, const Take& visit_block) {
        const std::size_t n = columns.size();
        const auto slopes = numbers(grad, n, "grad"), products = numbers(cross, n * size, "cross");
        const auto curvature = curv.is_none() ? std::vector<double>() : numbers(curv, n, "curv");
        visit_block(sparsegam::Block{columns,
                                     {slopes.data(), 1},
                                     {curvature.empty() ? nullptr : curvature.data(), 1},
                                     products.data(),
                                     static_cast<Index>(size)});
    }

    mutable std::optional<sparsegam::Loss> loss_;
    mutable std::optional<sparsegam::ColumnInfo> columns_;
};
