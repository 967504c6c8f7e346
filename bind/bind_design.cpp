// bind/bind_design.cpp: binding of binning functions, matrices and the threshold design.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <variant>

#include "arrays.hpp"
#include "bound.hpp"
#include "released.hpp"
#include "sparsegam/binning.hpp"
#include "sparsegam/column_counts.hpp"
#include "sparsegam/matrix.hpp"

using namespace sparsegam;

namespace {

template <class Code>
nb::object codes_as(std::span<const double> values, std::span<const double> edges) {
    std::vector<Code> codes(values.size());
    {
        // Only plain arrays are used without the GIL.
        const Released released;
        bin_codes(values, edges, codes.data());
    }
    return as_numpy(std::move(codes));
}

nb::object bin_codes_of(const InputArray<double>& values, const InputArray<double>& edges) {
    std::int64_t missing = 0;
    for (double value : view(values)) missing += value != value;
    if (missing > 0) throw std::invalid_argument("values must not contain NaN");
    if (edges.shape(0) >= 65536) throw std::invalid_argument("a feature can have at most 65536 bins");
    return edges.shape(0) < 256 ? codes_as<std::uint8_t>(view(values), view(edges))
                                : codes_as<std::uint16_t>(view(values), view(edges));
}

nb::tuple distinct_of(const InputArray<double>& values) {
    Distinct all;
    {
        const Released released;
        all = distinct(view(values));
    }
    return nb::make_tuple(as_numpy(std::move(all.values)), as_numpy(std::move(all.counts)));
}

nb::object bin_edges_of(const InputArray<double>& values, Index max_bins, Index min_rows) {
    std::vector<double> edges;
    {
        const Released released;
        edges = bin_edges(view(values), max_bins, min_rows);
    }
    return as_numpy(std::move(edges));
}

nb::object select_thresholds_of(const InputArray<double>& rows, double min_count) {
    return as_numpy(select_thresholds(view(rows), min_count));
}

template <class Code>
void check_codes(std::span<const Code> codes, Index n_rows, Index n_bins) {
    if (static_cast<Index>(codes.size()) != n_rows)
        throw std::invalid_argument("codes must have one entry per row for every feature");
    Code largest = 0;
#pragma omp simd reduction(max : largest)
    for (std::size_t i = 0; i < codes.size(); ++i) largest = codes[i] > largest ? codes[i] : largest;
    if (!codes.empty() && static_cast<Index>(largest) >= n_bins)
        throw std::invalid_argument("codes must be below the number of bins (" + std::to_string(n_bins) + "), got " +
                                    std::to_string(largest));
}

nb::object bin_counts_of(nb::handle codes, Index n_bins, const std::optional<InputArray<double>>& weight) {
    const Counting counting{weight ? view(*weight) : std::span<const double>(), {}};
    InputArray<std::uint8_t> narrow;
    InputArray<std::uint16_t> wide;
    const bool is_narrow = nb::try_cast(codes, narrow, false);
    if (!is_narrow) wide = nb::cast<InputArray<std::uint16_t>>(codes);
    const std::size_t n = is_narrow ? narrow.shape(0) : wide.shape(0);
    if (weight && counting.weight.size() != n) throw std::invalid_argument("weight must have one entry per code");
    std::vector<double> sums(n_bins, 0.0);
    const auto add = [&](auto all) {
        const Released released;
        check_codes(all, static_cast<Index>(n), n_bins);
        add_rows(all, n_bins, counting, sums.data());
    };
    if (is_narrow)
        add(view(narrow));
    else
        add(view(wide));
    return as_numpy(std::move(sums));
}

nb::object column_counts_of(const BoundDesign& bound, const InputArray<Index>& features,
                            const std::optional<InputArray<double>>& weight,
                            const std::optional<InputArray<bool>>& mask) {
    const ThresholdDesign& design = bound.get();
    const Counting counting{weight ? view(*weight) : std::span<const double>(),
                            mask ? view(*mask) : std::span<const bool>()};
    const auto one_each = [&](std::size_t n) { return n == static_cast<std::size_t>(design.n_rows()); };
    if ((weight && !one_each(counting.weight.size())) || (mask && !one_each(counting.mask.size())))
        throw std::invalid_argument("weight and mask must have one entry per row");
    if (weight && mask) throw std::invalid_argument("pass either weight or mask, not both");
    for (Index f : view(features))
        if (f < 0 || f >= design.n_features())
            throw std::invalid_argument("the design does not have feature " + std::to_string(f));
    std::vector<double> counts;
    {
        const Released released;
        counts = column_counts(design, view(features), counting);
    }
    return as_numpy(std::move(counts));
}

nb::object row_scores_of(const BoundDesign& bound, const Point& point) {
    const ThresholdDesign& design = bound.get();
    for (Index c : point.columns)
        if (c < 0 || c >= design.n_columns())
            throw std::invalid_argument("the design does not have column " + std::to_string(c));
    std::vector<double> scores;
    {
        const Released released;
        scores = row_scores(design, point);
    }
    return as_numpy(std::move(scores));
}

}  // namespace

namespace {

// Converts ramps from a tuple (bin_centres, bin_ends, knots) or None.
Ramps ramps_from(nb::handle given, Index n_ordered) {
    if (given.is_none()) return {};
    const auto [centre, end, knots] =
        nb::cast<std::tuple<InputArray<double>, InputArray<double>, InputArray<Index>>>(given);
    const auto places = view(centre), ends = view(end);
    const auto at = view(knots);
    Ramps ramps{{places.begin(), places.end()}, {ends.begin(), ends.end()}, {at.begin(), at.end()}};
    if (static_cast<Index>(places.size()) != n_ordered || static_cast<Index>(ends.size()) != n_ordered)
        throw std::invalid_argument("ramps must have a centre and an end for every ordered bin");
    for (Index b = 0; b < n_ordered; ++b)
        if (!(places[b] <= ends[b] && (b == 0 || ends[b - 1] <= places[b])))
            throw std::invalid_argument("bin centres and bin ends must be in ascending order");
    for (std::size_t r = 0; r < at.size(); ++r)
        if (at[r] < 0 || at[r] >= n_ordered || (r > 0 && at[r] <= at[r - 1]))
            throw std::invalid_argument("knots must be indices of ordered bins, in ascending order");
    return ramps;
}

}  // namespace

BoundDesign::BoundDesign(nb::sequence codes, const InputArray<Index>& n_bins, const InputArray<Index>& n_ordered,
                         const nb::object& ramps) {
    std::vector<Feature> features;
    Index n_rows = -1;
    for (nb::handle item : codes) {
        const std::size_t f = features.size();
        if (f >= n_bins.shape(0) || f >= n_ordered.shape(0))
            throw std::invalid_argument("n_bins and n_ordered must have one entry per feature");
        Feature feature;
        feature.n_bins = n_bins.data()[f];
        feature.n_ordered = n_ordered.data()[f];
        if (feature.n_ordered < 0 || feature.n_ordered > feature.n_bins)
            throw std::invalid_argument("n_ordered must be between 0 and n_bins");
        if (InputArray<std::uint8_t> narrow; nb::try_cast(item, narrow, false)) {
            if (n_rows < 0) n_rows = static_cast<Index>(narrow.shape(0));
            check_codes(view(narrow), n_rows, feature.n_bins);
            feature.codes.narrow = narrow.data();
            narrow_.push_back(std::move(narrow));
        } else {
            const auto wide = nb::cast<InputArray<std::uint16_t>>(item);
            if (n_rows < 0) n_rows = static_cast<Index>(wide.shape(0));
            check_codes(view(wide), n_rows, feature.n_bins);
            feature.codes.wide = wide.data();
            wide_.push_back(wide);
        }
        if (!ramps.is_none()) feature.ramps = ramps_from(ramps[f], feature.n_ordered);
        features.push_back(std::move(feature));
    }
    design_.emplace(std::move(features), std::max(n_rows, Index{0}));
}

BoundMatrix::BoundMatrix(Aligned<nb::ro, nb::ndim<2>, nb::device::cpu> dense) : kept_(nb::cast(dense)) {
    const Index n = static_cast<Index>(dense.shape(0)), p = static_cast<Index>(dense.shape(1));
    // An axis of length one may have any stride.
    const bool by_rows = (p == 1 || dense.stride(1) == 1) && (n == 1 || dense.stride(0) == p);
    if (!by_rows && !((n == 1 || dense.stride(0) == 1) && (p == 1 || dense.stride(1) == n)))
        throw std::invalid_argument("a dense matrix must be contiguous (C or Fortran order)");
    if (dense.dtype() == nb::dtype<double>())
        matrix_ = std::make_unique<DenseMatrix<double>>(static_cast<const double*>(dense.data()), n, p, by_rows);
    else if (dense.dtype() == nb::dtype<float>())
        matrix_ = std::make_unique<DenseMatrix<float>>(static_cast<const float*>(dense.data()), n, p, by_rows);
    else
        throw std::invalid_argument("a dense matrix must be float32 or float64");
}

BoundMatrix::BoundMatrix(InputArray<double> data, InputArray<std::int32_t> rows, InputArray<Index> start, Index n_rows)
    : kept_(nb::cast(data)), kept_rows_(nb::cast(rows)), kept_start_(nb::cast(start)) {
    const auto all = view(rows);
    const auto ends = view(start);
    if (ends.empty() || ends.front() != 0 || ends.back() != static_cast<Index>(all.size()) ||
        all.size() != data.shape(0) || !std::is_sorted(ends.begin(), ends.end()))
        throw std::invalid_argument("the arrays do not form a valid CSC matrix");
    if (std::any_of(all.begin(), all.end(), [&](std::int32_t r) { return r < 0 || r >= n_rows; }))
        throw std::invalid_argument("a row index of the CSC matrix is out of range");
    matrix_ = std::make_unique<SparseMatrix>(data.data(), rows.data(), start.data(), n_rows,
                                             static_cast<Index>(ends.size()) - 1);
}

void bind_design(nb::module_& m) {
    m.def("distinct", distinct_of, nb::arg("values"));
    m.def("bin_edges", bin_edges_of, nb::arg("values"), nb::arg("max_bins"), nb::arg("min_rows") = 1);
    m.def("select_thresholds", select_thresholds_of, nb::arg("counts"), nb::arg("min_count"));
    m.def("bin_codes", bin_codes_of, nb::arg("values"), nb::arg("edges"));
    m.def("bin_counts", bin_counts_of, nb::arg("codes"), nb::arg("n_bins"), nb::arg("weight") = nb::none());
    nb::class_<BoundMatrix>(m, "Matrix")
        .def(nb::init<Aligned<nb::ro, nb::ndim<2>, nb::device::cpu>>(), nb::arg("dense"))
        .def(nb::init<InputArray<double>, InputArray<std::int32_t>, InputArray<Index>, Index>(), nb::arg("data"),
             nb::arg("rows"), nb::arg("start"), nb::arg("n_rows"))
        .def_prop_ro("n_rows", [](const BoundMatrix& d) { return d.get().n_rows(); })
        .def_prop_ro("n_columns", [](const BoundMatrix& d) { return d.get().n_columns(); });
    nb::class_<BoundDesign>(m, "ThresholdDesign")
        .def(nb::init<nb::sequence, InputArray<Index>, InputArray<Index>, nb::object>(), nb::arg("codes"),
             nb::arg("n_bins"), nb::arg("n_ordered"), nb::arg("ramps") = nb::none())
        .def("column_counts", column_counts_of, nb::arg("features"), nb::arg("weight") = nb::none(),
             nb::arg("mask") = nb::none())
        .def("row_scores", row_scores_of, nb::arg("point"))
        .def_prop_ro("n_rows", [](const BoundDesign& d) { return d.get().n_rows(); })
        .def_prop_ro("n_columns", [](const BoundDesign& d) { return d.get().n_columns(); })
        .def_prop_ro("offset", [](const BoundDesign& d) {
            std::vector<Index> offset;
            for (Index f = 0; f < d.get().n_features(); ++f) offset.push_back(d.get().feature(f).offset);
            return as_numpy(std::move(offset));
        });
}
