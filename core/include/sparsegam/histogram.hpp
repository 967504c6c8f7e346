// sparsegam/histogram.hpp: bin codes of features, sums per bin, and the sums per column that follow from them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "types.hpp"

namespace sparsegam {

// Channels are processed in packs of four float64 values, one AVX2 register.
inline constexpr Index pack = 4;

inline Index padded(Index channels) { return (channels + pack - 1) / pack * pack; }

// The codes of one feature: uint8 for up to 256 bins, uint16 otherwise. Not owned.
struct Codes {
    const std::uint8_t* narrow = nullptr;
    const std::uint16_t* wide = nullptr;

    template <class Code>
    const Code* as() const noexcept {
        if constexpr (sizeof(Code) == 1)
            return narrow;
        else
            return wide;
    }

    void add_table(Index begin, Index end, const double* table, double* score) const noexcept {
        if (narrow)
            kernels().add_table_8(end - begin, narrow + begin, table, score);
        else
            kernels().add_table_16(end - begin, wide + begin, table, score);
    }

    // Adds a pack of interleaved tables to interleaved scores.
    void add_tables(Index begin, Index end, const double* tables, double* scores) const noexcept {
        if (narrow)
            kernels().add_tables_8(end - begin, narrow + begin, tables, scores);
        else
            kernels().add_tables_16(end - begin, wide + begin, tables, scores);
    }

    template <class Real>
    void fill_channel(Index begin, Index end, unsigned first, unsigned last, const double* curv, Index stride,
                      Real* channel) const noexcept {
        const Index n = end - begin;
        if (narrow)
            kernels().histogram<Real, std::uint8_t>().fill_channel(n, narrow + begin, first, last, curv, stride,
                                                                   channel);
        else
            kernels().histogram<Real, std::uint16_t>().fill_channel(n, wide + begin, first, last, curv, stride,
                                                                    channel);
    }

    // Fills a channel of a column that has one value per bin.
    template <class Real>
    void fill_channel(Index begin, Index end, const double* table, const double* curv, Index stride,
                      Real* channel) const noexcept {
        for (Index i = 0; i < end - begin; ++i)
            channel[i * stride] = static_cast<Real>(table[narrow ? narrow[begin + i] : wide[begin + i]] * curv[i]);
    }
};

// Ramps of a feature: min(x - t, 0) for knots t at the upper ends of some of its ordered bins. Every row counts as
// being at the mean of its bin, so that each ramp is a function of the bin.
struct Ramps {
    // Mean value and upper end of each ordered bin.
    std::vector<double> centre, end;
    // Bins with a knot at their upper end, in ascending order.
    std::vector<Index> knots;

    Index size() const { return static_cast<Index>(knots.size()); }
    double knot(Index ramp) const { return end[knots[ramp]]; }
    double value(Index ramp, Index bin) const { return bin <= knots[ramp] ? centre[bin] - knot(ramp) : 0.0; }
};

// A feature. Its first n_ordered bins are ordered: bin b is the column `code <= b`. Any other bin b is the column `code
// == b` (a level, a special code or missing).
struct Feature {
    Codes codes = {};
    Index n_bins = 0, n_ordered = 0;
    // Index of the first column. There is one column for each bin, followed by one for each ramp.
    Index offset = 0;
    Ramps ramps = {};

    Index n_columns() const { return n_bins + ramps.size(); }
    bool is_ramp(Index column) const { return column >= n_bins; }

    unsigned first(Index bin) const { return bin < n_ordered ? 0u : static_cast<unsigned>(bin); }
    unsigned last(Index bin) const { return static_cast<unsigned>(bin); }

    // Turns sums per bin into sums per column: prefix sums for ordered bins, the sums of ramps, and the sums of other
    // bins unchanged. The second channel is the curvature. If there are ramps, moment_channel receives the sums of h
    // x^2 for ramps and of h times the bin centre for steps.
    void columns_from_bins(double* histogram, Index stride, Index moment_channel) const {
        if (ramps.size() > 0) sum_ramps(histogram, stride, moment_channel);
        for (Index b = 1; b < n_ordered; ++b)
            for (Index c = 0; c < stride; ++c) histogram[b * stride + c] += histogram[(b - 1) * stride + c];
    }

    // Adds the contribution of a term to the score of each bin.
    void add_to_table(Index column, double coef, double* table) const noexcept {
        if (is_ramp(column))
            for (Index b = 0; b <= ramps.knots[column - n_bins]; ++b)
                table[b] += coef * ramps.value(column - n_bins, b);
        else
            for (unsigned b = first(column); b <= last(column); ++b) table[b] += coef;
    }

  private:
    // From one knot to the next, at distance d, the sums S = sum c, L = sum (x - t) c and Q = sum (x - t)^2 h over the
    // bins so far become S, L - d S and Q - 2 d L + d^2 S. All summands have the same sign for any knots, so that there
    // is no cancellation.
    void sum_ramps(double* histogram, Index stride, Index moment_channel) const {
        constexpr Index h = 1;
        std::vector<double> sum(stride, 0.0), line(stride, 0.0);
        double square = 0.0, last_end = ramps.end[0];
        for (Index b = 0, ramp = 0; b < n_ordered; ++b) {
            const double d = ramps.end[b] - last_end, z = ramps.centre[b] - ramps.end[b];
            double* sums_of_bin = histogram + b * stride;
            square += d * (d * sum[h] - 2.0 * line[h]) + z * z * sums_of_bin[h];
            for (Index c = 0; c < stride; ++c) {
                line[c] += z * sums_of_bin[c] - d * sum[c];
                sum[c] += sums_of_bin[c];
            }
            last_end = ramps.end[b];
            sums_of_bin[moment_channel] = ramps.centre[b] * sums_of_bin[h];
            if (ramp == ramps.size() || ramps.knots[ramp] != b) continue;
            double* to = histogram + (n_bins + ramp++) * stride;
            std::copy(line.begin(), line.end(), to);
            to[moment_channel] = square;
        }
    }
};

// Codes, their number of bins, and the array to which the sums per bin are added.
struct HistogramTarget {
    Codes codes;
    Index n_bins;
    double* sums;
};

// Histograms of several features over the same channels, four features at a time.
template <class Real>
class Histograms {
  public:
    Histograms(std::vector<HistogramTarget> targets, Index stride) : targets_(std::move(targets)), stride_(stride) {
        std::stable_partition(targets_.begin(), targets_.end(),
                              [](const HistogramTarget& c) { return c.codes.narrow; });
        Index size = 0;
        for (const HistogramTarget& c : targets_) {
            start_.push_back(size);
            size += c.n_bins * stride;
        }
        bins_.assign(static_cast<std::size_t>(size), Real(0));
    }

    // Adds the channels of rows [begin, end).
    void add(Index begin, Index end, const Real* channels) noexcept {
        for (std::size_t f = 0; f < targets_.size();) {
            const std::size_t at_once = batch_size(f);
            if (targets_[f].codes.narrow)
                add_some<std::uint8_t>(f, at_once, begin, end, channels);
            else
                add_some<std::uint16_t>(f, at_once, begin, end, channels);
            f += at_once;
        }
    }

    // Adds the sums to the targets and resets them to zero.
    void flush() noexcept {
        for (std::size_t f = 0; f < targets_.size(); ++f) {
            const Real* from = bins_.data() + start_[f];
            double* to = targets_[f].sums;
            for (Index i = 0; i < targets_[f].n_bins * stride_; ++i) to[i] += static_cast<double>(from[i]);
        }
        std::fill(bins_.begin(), bins_.end(), Real(0));
    }

  private:
    static constexpr std::size_t max_batch = 4;

    // Returns four if the next four features have codes of the same type, else one.
    std::size_t batch_size(std::size_t f) const noexcept {
        const bool four =
            f + max_batch <= targets_.size() && !targets_[f].codes.narrow == !targets_[f + max_batch - 1].codes.narrow;
        return four ? max_batch : 1;
    }

    template <class Code>
    void add_some(std::size_t first, std::size_t count, Index begin, Index end, const Real* channels) noexcept {
        const Code* codes[max_batch];
        Real* bins[max_batch];
        for (std::size_t f = 0; f < count; ++f) {
            codes[f] = targets_[first + f].codes.template as<Code>() + begin;
            bins[f] = bins_.data() + start_[first + f];
        }
        kernels().histogram<Real, Code>().accumulate(static_cast<Index>(count), end - begin, codes, stride_, channels,
                                                     bins);
    }

    std::vector<HistogramTarget> targets_;
    Index stride_;
    std::vector<Index> start_;
    std::vector<Real> bins_;
};

}  // namespace sparsegam
