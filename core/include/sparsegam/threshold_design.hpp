// sparsegam/threshold_design.hpp: the threshold design: features as bin codes, without storing the columns they define.
//
// The sums for all columns of a feature are one histogram and one prefix sum: O(n) per feature instead of O(n x
// thresholds). Several sums are computed at once as channels: [g, h, h x_1 ... h x_k] for a scan, [g, h, loss] for
// groups.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "histogram.hpp"
#include "joint_codes.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace sparsegam {

// Values that each row adds to its bins. If present, `value` is the third channel. The channels of the support are its
// columns times support_curv.
struct Channels {
    const double *grad, *curv, *value, *support_curv;
    std::span<const Index> support;

    Index count() const { return 2 + (value ? 1 : 0) + static_cast<Index>(support.size()); }
};

// Sums per column of some features, `stride` apart. If there are ramps, `moment_channel`, the last channel, contains
// the sums of their squares, and for steps the sums of bin centres (see Feature).
struct FeatureSums {
    std::vector<double> values;
    std::vector<Index>
        // Position of the sums of each feature's first column; unspecified for features that were not requested.
        start;
    Index stride = 0, moment_channel = 0;

    double* of(Index feature, Index column) { return values.data() + start[feature] + column * stride; }
    const double* of(Index feature, Index column) const { return values.data() + start[feature] + column * stride; }
};

class ThresholdDesign {
  public:
    ThresholdDesign(std::vector<Feature> features, Index n_rows) : features_(std::move(features)), n_rows_(n_rows) {
        for (Index f = 0; f < n_features(); ++f) {
            Feature& feature = features_[f];
            feature.offset = n_columns_;
            n_columns_ += feature.n_columns();
            feature_of_.insert(feature_of_.end(), feature.n_columns(), static_cast<std::int32_t>(f));
            nested_.push_back({feature.offset, feature.offset + feature.n_ordered, feature.offset + feature.n_bins,
                               feature.offset + feature.n_columns()});
            has_ramps_ |= feature.ramps.size() > 0;
        }
        joint_ = joint_codes(features_, n_rows_);
        joint_of_.assign(n_features(), none);
        for (std::size_t j = 0; j < joint_.size(); ++j)
            for (Index f : joint_[j].features()) joint_of_[f] = static_cast<Index>(j);
    }

    Index n_rows() const { return n_rows_; }
    Index n_columns() const { return n_columns_; }
    Index n_features() const { return static_cast<Index>(features_.size()); }
    const Feature& feature(Index f) const { return features_[f]; }
    Index feature_of(Index column) const { return feature_of_[column]; }
    bool has_ramps() const { return has_ramps_; }
    ColumnKind kind(Index column) const {
        const Feature& feature = features_[feature_of_[column]];
        if (feature.is_ramp(column - feature.offset)) return ColumnKind::ramp;
        return column - feature.offset < feature.n_ordered ? ColumnKind::step : ColumnKind::level;
    }

    // The value of a column in each bin.
    std::vector<double> values_by_bin(Index column) const {
        const Feature& feature = features_[feature_of_[column]];
        std::vector<double> table(feature.n_bins, 0.0);
        feature.add_to_table(column - feature.offset, 1.0, table.data());
        return table;
    }
    std::span<const NestedColumns> nested() const { return nested_; }

    // The knots of all columns: for steps, the ends of their last bins. Levels have none.
    std::vector<double> knots() const {
        std::vector<double> out(n_columns_, 0.0);
        for (const Feature& feature : features_) {
            std::copy(feature.ramps.end.begin(), feature.ramps.end.end(), out.begin() + feature.offset);
            for (Index r = 0; r < feature.ramps.size(); ++r)
                out[feature.offset + feature.n_bins + r] = feature.ramps.knot(r);
        }
        return out;
    }

    // Features that are counted or scored in one histogram: a single feature, or the requested ones among joint
    // features.
    struct Unit {
        Index joint;
        std::vector<Index> features;
    };

    // Returns the units of some features. Features with joint codes are one unit if at least two are requested.
    std::vector<Unit> units_of(std::span<const Index> features) const {
        std::vector<Unit> units, joint(joint_.size());
        for (Index f : features) {
            if (joint_of_[f] == none)
                units.push_back({none, {f}});
            else
                joint[joint_of_[f]].features.push_back(f);
        }
        for (std::size_t j = 0; j < joint.size(); ++j) {
            if (joint[j].features.empty()) continue;
            joint[j].joint = joint[j].features.size() > 1 ? static_cast<Index>(j) : none;
            units.push_back(std::move(joint[j]));
        }
        return units;
    }

    // Returns one unit per feature.
    static std::vector<Unit> single_units(std::span<const Index> features) {
        std::vector<Unit> units;
        for (Index f : features) units.push_back({none, {f}});
        return units;
    }

    const JointCodes& joint(Index j) const { return joint_[j]; }
    Codes codes(const Unit& unit) const {
        return unit.joint == none ? features_[unit.features[0]].codes : joint_[unit.joint].codes();
    }
    Index n_bins(const Unit& unit) const {
        return unit.joint == none ? features_[unit.features[0]].n_bins : joint_[unit.joint].n_bins();
    }

    // Computes the sums of the channels per column of the given features. Real is the type in which rows are summed:
    // float for scans, which are used for predictions, else double.
    template <class Real>
    void sum(const Channels& channels, std::span<const Index> features, Pool& pool, FeatureSums& sums) const {
        lay_out(features, channels.count(), sums);
        const auto units = units_of(features);
        const Index count = static_cast<Index>(units.size());
        const Index rows = rows_of_piece(sums.values.size()), pieces = std::max((n_rows_ + rows - 1) / rows, Index{1});
        const Index groups = std::min(count, (pool.n_threads() + pieces - 1) / pieces);
        std::vector<FeatureSums> parts(pieces - 1, sums);
        pool.run(pieces * groups, [&](Index t) {
            const Index piece = t / groups, g = t % groups;
            const Index first = count * g / groups, last = count * (g + 1) / groups;
            sum_some<Real>(channels, std::span(units).subspan(first, last - first), piece * rows,
                           std::min((piece + 1) * rows, n_rows_), piece == 0 ? sums : parts[piece - 1]);
        });
        for (const FeatureSums& part : parts)
            for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i] += part.values[i];
    }

    // The sums of one column.
    const double* sums_of(Index column, const FeatureSums& sums) const {
        const Index f = feature_of_[column];
        return sums.of(f, column - features_[f].offset);
    }

    // Writes the values of a column, multiplied by a value per row.
    class ColumnFiller {
      public:
        ColumnFiller(const ThresholdDesign& design, Index column)
            : feature_(design.feature(design.feature_of(column))), column_(column - feature_.offset) {
            if (feature_.is_ramp(column_)) values_by_bin_ = design.values_by_bin(column);
        }

        template <class Real>
        void fill(Index begin, Index end, const double* times, Index stride, Real* out) const noexcept {
            if (values_by_bin_.empty())
                feature_.codes.fill_channel(begin, end, feature_.first(column_), feature_.last(column_), times, stride,
                                            out);
            else
                feature_.codes.fill_channel(begin, end, values_by_bin_.data(), times, stride, out);
        }

      private:
        const Feature& feature_;
        Index column_;
        std::vector<double> values_by_bin_;
    };

  private:
    static constexpr Index max_rows = 256, block_bytes = 1 << 14;
    // Number of rows that are summed in float32 before the sums are added in float64.
    static constexpr Index few_rows = 8192;
    // With more rows than this, pieces are summed separately, for parallel execution and to check for Ctrl-C.
    static constexpr Index many_rows = 200'000;
    static constexpr Index min_piece = 8 * few_rows, max_pieces = 64;
    // Maximum number of sums in all pieces together: 64 MB.
    static constexpr Index max_values = 1 << 23;

    // Number of rows per piece. It does not depend on the number of threads.
    Index rows_of_piece(std::size_t n_values) const {
        if (n_rows_ <= many_rows) return std::max(n_rows_, Index{1});
        const Index pieces =
            std::clamp(max_values / static_cast<Index>(std::max<std::size_t>(n_values, 1)), Index{1}, max_pieces);
        const Index rows = std::max((n_rows_ + pieces - 1) / pieces, min_piece);
        return (rows + few_rows - 1) / few_rows * few_rows;
    }

    // Number of rows whose channels fit into the first-level cache: a power of two that divides few_rows.
    static Index rows_of_block(Index bytes_per_row) {
        Index rows = max_rows;
        while (rows > 16 && rows * bytes_per_row > block_bytes) rows /= 2;
        return rows;
    }

    void lay_out(std::span<const Index> features, Index n_channels, FeatureSums& sums) const {
        sums.moment_channel = n_channels;
        sums.stride = padded(n_channels + has_ramps_);
        sums.start.resize(features_.size());
        Index size = 0;
        for (Index f : features) {
            sums.start[f] = size;
            size += features_[f].n_columns() * sums.stride;
        }
        sums.values.assign(static_cast<std::size_t>(size), 0.0);
    }

    template <class Real>
    void sum_some(const Channels& channels, std::span<const Unit> units, Index first_row, Index last_row,
                  FeatureSums& sums) const {
        const Index stride = sums.stride;
        std::vector<HistogramTarget> targets;
        std::vector<std::vector<double>> joint_sums(units.size());
        for (std::size_t u = 0; u < units.size(); ++u) {
            if (units[u].joint == none) {
                const Index f = units[u].features[0];
                targets.push_back({features_[f].codes, features_[f].n_bins, sums.of(f, 0)});
            } else {
                const JointCodes& joint = joint_[units[u].joint];
                joint_sums[u].assign(joint.n_bins() * stride, 0.0);
                targets.push_back({joint.codes(), joint.n_bins(), joint_sums[u].data()});
            }
        }
        std::vector<ColumnFiller> support;
        for (Index column : channels.support) support.emplace_back(*this, column);
        Histograms<Real> histograms(std::move(targets), stride);
        const Index block = rows_of_block(stride * sizeof(Real));
        std::vector<Real> rows(static_cast<std::size_t>(block * stride), Real(0));
        for (Index begin = first_row; begin < last_row; begin += block) {
            const Index end = std::min(begin + block, last_row);
            fill(channels, support, begin, end, stride, rows.data());
            histograms.add(begin, end, rows.data());
            if (end % few_rows == 0 || end == last_row) histograms.flush();
        }
        for (std::size_t u = 0; u < units.size(); ++u) {
            if (units[u].joint != none) unfold(units[u], joint_sums[u].data(), sums);
            for (Index f : units[u].features)
                features_[f].columns_from_bins(sums.of(f, 0), stride, sums.moment_channel);
        }
    }

    void unfold(const Unit& unit, double* joint, FeatureSums& sums) const {
        joint_[unit.joint].unfold(joint, sums.stride, [&](Index f, Index bin) -> double* {
            const bool is_requested = std::find(unit.features.begin(), unit.features.end(), f) != unit.features.end();
            return is_requested ? sums.of(f, bin) : nullptr;
        });
    }

    template <class Real>
    static void fill(const Channels& channels, std::span<const ColumnFiller> support, Index begin, Index end,
                     Index stride, Real* rows) noexcept {
        for (Index i = begin; i < end; ++i) {
            rows[(i - begin) * stride] = static_cast<Real>(channels.grad[i]);
            rows[(i - begin) * stride + 1] = static_cast<Real>(channels.curv[i]);
        }
        Index channel = 2;
        if (channels.value) {
            for (Index i = begin; i < end; ++i) rows[(i - begin) * stride + 2] = static_cast<Real>(channels.value[i]);
            channel = 3;
        }
        for (const ColumnFiller& column : support)
            column.fill(begin, end, channels.support_curv + begin, stride, rows + channel++);
    }

    std::vector<Feature> features_;
    std::vector<std::int32_t> feature_of_;
    std::vector<NestedColumns> nested_;
    std::vector<JointCodes> joint_;
    // Index of the joint codes of each feature, or none if it is counted separately.
    std::vector<Index> joint_of_;
    Index n_rows_ = 0, n_columns_ = 0;
    bool has_ramps_ = false;
};

}  // namespace sparsegam
