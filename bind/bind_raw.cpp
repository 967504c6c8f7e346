// bind/bind_raw.cpp: binding of columns computed from raw values.
#include <stdexcept>

#include "bound.hpp"
#include "released.hpp"

using namespace sparsegam;

namespace {

// Not necessarily contiguous, such as a column of a matrix.
using Numbers = Aligned<const double, nb::ndim<1>, nb::device::cpu>;

template <class Code>
const Code* checked_codes(const InputArray<Code>& codes, Index n_rows, std::size_t n_numbers) {
    const auto all = view(codes);
    if (static_cast<Index>(all.size()) != n_rows) throw std::invalid_argument("codes must have one entry per row");
    if (!all.empty() && *std::max_element(all.begin(), all.end()) >= n_numbers)
        throw std::invalid_argument("codes must be below the number of values (" + std::to_string(n_numbers) + ")");
    return all.data();
}

// Converts values by row or, if codes are given, values by code. The arrays are added to `kept`, which keeps them
// alive.
RawValues numbers_from(nb::handle given, nb::handle codes, Index n_rows, nb::list& kept) {
    Numbers numbers;
    if (!nb::try_cast(given, numbers, false)) throw std::invalid_argument("values must be a float64 array");
    kept.append(nb::cast(numbers));
    RawValues out{numbers.data(), static_cast<Index>(numbers.stride(0)), {}};
    if (codes.is_none()) {
        if (static_cast<Index>(numbers.shape(0)) != n_rows)
            throw std::invalid_argument("values must have one entry per row if codes is None");
        return out;
    }
    if (numbers.shape(0) > 1 && out.stride != 1)
        throw std::invalid_argument("values must be contiguous if codes are given");
    if (InputArray<std::uint8_t> narrow; nb::try_cast(codes, narrow, false)) {
        out.codes.narrow = checked_codes(narrow, n_rows, numbers.shape(0));
        kept.append(nb::cast(narrow));
    } else if (InputArray<std::uint16_t> wide; nb::try_cast(codes, wide, false)) {
        out.codes.wide = checked_codes(wide, n_rows, numbers.shape(0));
        kept.append(nb::cast(wide));
    } else {
        throw std::invalid_argument("codes must be uint8 or uint16");
    }
    return out;
}

// Converts a ramp from a tuple (values, codes or None, low, high, knot) or None.
std::optional<RawRamp> ramp_from(nb::handle given, Index n_rows, nb::list& kept) {
    if (given.is_none()) return std::nullopt;
    const RawRamp ramp{numbers_from(given[0], given[1], n_rows, kept), nb::cast<double>(given[2]),
                       nb::cast<double>(given[3]), nb::cast<double>(given[4])};
    if (!(ramp.low < ramp.high))
        throw std::invalid_argument("a ramp must have low < high, got low=" + std::to_string(ramp.low) +
                                    " and high=" + std::to_string(ramp.high));
    return ramp;
}

}  // namespace

BoundRawColumns::BoundRawColumns(const nb::object& design, const InputArray<Index>& columns, const nb::sequence& ramps)
    : design_(design) {
    const ThresholdDesign& core = nb::cast<const BoundDesign&>(design).get();
    std::vector<std::optional<RawRamp>> raw;
    for (nb::handle given : ramps) raw.push_back(ramp_from(given, core.n_rows(), kept_));
    if (raw.size() != columns.shape(0))
        throw std::invalid_argument("ramps must have one entry per column, a tuple or None");
    for (Index c : view(columns))
        if (c < 0 || c >= core.n_columns())
            throw std::invalid_argument("the design does not have column " + std::to_string(c));
    columns_.emplace(core, copied(columns), std::move(raw));
}

void bind_raw(nb::module_& m) {
    nb::class_<BoundRawColumns>(m, "RawColumns")
        .def(nb::init<const nb::object&, InputArray<Index>, nb::sequence>(), nb::arg("design"), nb::arg("columns"),
             nb::arg("ramps"))
        .def(
            "scores",
            [](const BoundRawColumns& raw, double intercept, const InputArray<double>& coef) {
                if (static_cast<Index>(coef.shape(0)) != raw.get().size())
                    throw std::invalid_argument("coef must have one coefficient per column");
                std::vector<double> scores;
                {
                    const Released released;
                    scores = raw.get().scores(intercept, view(coef));
                }
                return as_numpy(std::move(scores));
            },
            nb::arg("intercept"), nb::arg("coef"));
}
