// sparsegam/histogram.hpp: bin codes of one feature, their sums per bin, and the columns those sums stand for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "types.hpp"

namespace sparsegam {

inline constexpr Index pack = 4;  // channels come in packs of four doubles: one AVX2 register

inline Index padded(Index channels) { return (channels + pack - 1) / pack * pack; }

// The codes of one feature: uint8 up to 256 bins, uint16 beyond, not owned.
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
};

// One feature: its first n_ordered bins are ordered (bin b is the column `code <= b`), the later ones stand
// alone (bin b is the column `code == b`: a level, a special code, missing).
struct Feature {
    Codes codes;
    Index n_bins = 0, n_ordered = 0;
    Index offset = 0;  // of its first column

    unsigned first(Index bin) const { return bin < n_ordered ? 0u : static_cast<unsigned>(bin); }
    unsigned last(Index bin) const { return static_cast<unsigned>(bin); }

    // Sums per bin become sums per column: prefix sums over the ordered bins, the others as they are.
    void columns_from_bins(double* histogram, Index stride) const noexcept {
        for (Index b = 1; b < n_ordered; ++b)
            for (Index c = 0; c < stride; ++c) histogram[b * stride + c] += histogram[(b - 1) * stride + c];
    }

    // The contribution of each bin to the score: the terms' coefficients summed over the bins that each covers.
    void add_to_table(Index bin, double coef, double* table) const noexcept {
        for (unsigned b = first(bin); b <= last(bin); ++b) table[b] += coef;
    }
};

// What is counted: codes, how many bins they have, and where the sums per bin go.
struct Counted {
    Codes codes;
    Index n_bins;
    double* sums;
};

// Histograms over the same rows of channels, filled four at a time.
template <class Real>
class Histograms {
  public:
    Histograms(std::vector<Counted> counted, Index stride) : counted_(std::move(counted)), stride_(stride) {
        std::stable_partition(counted_.begin(), counted_.end(), [](const Counted& c) { return c.codes.narrow; });
        Index size = 0;
        for (const Counted& c : counted_) {
            start_.push_back(size);
            size += c.n_bins * stride;
        }
        bins_.assign(static_cast<std::size_t>(size), Real(0));
    }

    // Adds the channels of rows [begin, end).
    void add(Index begin, Index end, const Real* channels) noexcept {
        for (std::size_t f = 0; f < counted_.size();) {
            const std::size_t at_once = together(f);
            if (counted_[f].codes.narrow)
                add_some<std::uint8_t>(f, at_once, begin, end, channels);
            else
                add_some<std::uint16_t>(f, at_once, begin, end, channels);
            f += at_once;
        }
    }

    // Hands the sums over, and starts anew.
    void flush() noexcept {
        for (std::size_t f = 0; f < counted_.size(); ++f) {
            const Real* from = bins_.data() + start_[f];
            double* to = counted_[f].sums;
            for (Index i = 0; i < counted_[f].n_bins * stride_; ++i) to[i] += static_cast<double>(from[i]);
        }
        std::fill(bins_.begin(), bins_.end(), Real(0));
    }

  private:
    static constexpr std::size_t most = 4;

    // Four of the same code width, or one.
    std::size_t together(std::size_t f) const noexcept {
        const bool four =
            f + most <= counted_.size() && !counted_[f].codes.narrow == !counted_[f + most - 1].codes.narrow;
        return four ? most : 1;
    }

    template <class Code>
    void add_some(std::size_t first, std::size_t count, Index begin, Index end, const Real* channels) noexcept {
        const Code* codes[most];
        Real* bins[most];
        for (std::size_t f = 0; f < count; ++f) {
            codes[f] = counted_[first + f].codes.template as<Code>() + begin;
            bins[f] = bins_.data() + start_[first + f];
        }
        kernels().histogram<Real, Code>().accumulate(static_cast<Index>(count), end - begin, codes, stride_, channels,
                                                     bins);
    }

    std::vector<Counted> counted_;
    Index stride_;
    std::vector<Index> start_;
    std::vector<Real> bins_;
};

}  // namespace sparsegam
