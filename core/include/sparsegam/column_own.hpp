// sparsegam/column_own.hpp: some columns of a threshold design by the rows' own values: a search takes the rows of a bin
// for their mean, and a ramp over bins of several values is only near to that.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "column_threshold.hpp"

namespace sparsegam {

// One number per row, read where it is; or one per code, which each row has. Not owned.
struct RawValues {
    const double* values = nullptr;
    Index stride = 1;
    Codes codes = {};  // none: values are by row

    void copy(Index begin, Index end, double* out) const noexcept {
        if (codes.narrow)
            for (Index i = begin; i < end; ++i) out[i - begin] = values[codes.narrow[i]];
        else if (codes.wide)
            for (Index i = begin; i < end; ++i) out[i - begin] = values[codes.wide[i]];
        else
            for (Index i = begin; i < end; ++i) out[i - begin] = values[i * stride];
    }
};

// min(x - t, 0) with x held between low and high, in units of high - low and measured from high, as the bins have it.
struct RawRamp {
    RawValues numbers;
    double low, high, knot;

    void fill(Index begin, Index end, double* out) const noexcept {
        numbers.copy(begin, end, out);
        const double least = low, most = high, per_unit = 1.0 / (high - low), t = knot;
#pragma omp simd
        for (Index i = 0; i < end - begin; ++i) {
            double x = out[i];
            x = x < least ? least : x;
            x = x > most ? most : x;
            x = (x - most) * per_unit - t;
            out[i] = x < 0.0 ? x : 0.0;
        }
    }
};

class RawColumns {
  public:
    // Columns without a ramp of their own are what their bins say.
    RawColumns(const ThresholdDesign& design, std::vector<Index> columns, std::vector<std::optional<RawRamp>> ramps)
        : design_(design), columns_(std::move(columns)), ramps_(std::move(ramps)) {
        for (Index column : columns_) by_bin_.emplace_back(design, column);
    }

    Index n_rows() const { return design_.n_rows(); }
    Index size() const { return static_cast<Index>(columns_.size()); }
    Index column(Index i) const { return columns_[i]; }  // where it is in the design
    ColumnKind kind(Index i) const { return design_.kind(columns_[i]); }
    bool is_own(Index i) const { return ramps_[i].has_value(); }

    static constexpr Index most_rows = 512;  // that are filled at once

    void fill(Index i, Index begin, Index end, double* out) const noexcept {
        if (!ramps_[i]) return by_bin_[i].fill(begin, end, ones.data(), 1, out);
        const Feature& feature = design_.feature(design_.feature_of(columns_[i]));
        const Codes& codes = feature.codes;
        ramps_[i]->fill(begin, end, out);
        if (feature.n_ordered == feature.n_bins) return;
        for (Index row = begin; row < end; ++row)  // missing and special values are out of the order
            if ((codes.narrow ? codes.narrow[row] : codes.wide[row]) >= feature.n_ordered) out[row - begin] = 0.0;
    }

    std::vector<double> scores(double intercept, std::span<const double> coef) const {
        std::vector<double> out(n_rows(), intercept), x(most_rows);
        for (Index begin = 0; begin < n_rows(); begin += most_rows) {
            const Index end = std::min(begin + most_rows, n_rows());
            for (Index i = 0; i < size(); ++i) {
                fill(i, begin, end, x.data());
                for (Index row = begin; row < end; ++row) out[row] += coef[i] * x[row - begin];
            }
        }
        return out;
    }

  private:
    inline static const std::vector<double> ones = std::vector<double>(most_rows, 1.0);

    const ThresholdDesign& design_;
    std::vector<Index> columns_;
    std::vector<std::optional<RawRamp>> ramps_;
    std::vector<ThresholdDesign::Filler> by_bin_;
};

}  // namespace sparsegam
