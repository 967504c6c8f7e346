// sparsegam/score_tables.hpp: computes the scores of rows from tables by bin, for one or several points in one pass
// over the codes.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "threshold_design.hpp"

namespace sparsegam {

// One table for each feature, or joint features, in the supports of the points. The score of a row is the sum of the
// entries of its bins. Tables of several points are interleaved. Sums are always in the order of the features, so that
// they do not depend on the other points.
class ScoreTables {
  public:
    // Maximum number of points.
    static constexpr Index max_points = pack;

    // Whether features with few bins are scored together by their joint codes.
    enum class Joint { yes, no };

    ScoreTables(const ThresholdDesign& design, std::span<const Point> points, Joint joint = Joint::yes)
        : stride_(points.size() > 1 ? max_points : 1) {
        const auto used = features_of(design, points);
        const auto units = joint == Joint::yes ? design.units_of(used) : design.single_units(used);
        Index size = 0;
        for (const auto& unit : units) {
            tables_.emplace_back(design.codes(unit), size);
            size += design.n_bins(unit) * stride_;
        }
        entries_.resize(size, 0.0);
        ByFeature by_feature(design, used);
        for (std::size_t p = 0; p < points.size(); ++p) {
            intercepts_.push_back(points[p].intercept);
            by_feature.fill(points[p]);
            for (std::size_t u = 0; u < units.size(); ++u)
                write(design, units[u], by_feature, &entries_[tables_[u].second + p]);
        }
    }

    // Writes the scores of some rows at the first point, followed, after `point_stride` values, by those at the next
    // point.
    void score(Index begin, Index end, Index point_stride, double* scores) const noexcept {
        if (stride_ == 1) {
            std::fill(scores, scores + (end - begin), intercepts_[0]);
            for (const auto& [codes, start] : tables_) codes.add_table(begin, end, &entries_[start], scores);
            return;
        }
        for (Index first = begin; first < end; first += part)
            score_part(first, std::min(first + part, end), point_stride, scores + (first - begin));
    }

  private:
    // Number of rows whose scores at all points fit into the first-level cache.
    static constexpr Index part = 512;

    // Tables of some features for one point at a time.
    class ByFeature {
      public:
        ByFeature(const ThresholdDesign& design, std::span<const Index> features)
            : design_(design), start_(design.n_features(), none) {
            Index size = 0;
            for (Index f : features) {
                start_[f] = size;
                size += design.feature(f).n_bins;
            }
            entries_.resize(size);
        }

        void fill(const Point& point) {
            std::fill(entries_.begin(), entries_.end(), 0.0);
            for (Index s = 0; s < point.size(); ++s) {
                const Index f = design_.feature_of(point.columns[s]);
                const Feature& feature = design_.feature(f);
                feature.add_to_table(point.columns[s] - feature.offset, point.coef[s], &entries_[start_[f]]);
            }
        }

        const double* of(Index feature) const { return start_[feature] == none ? nullptr : &entries_[start_[feature]]; }

      private:
        const ThresholdDesign& design_;
        std::vector<Index> start_;
        std::vector<double> entries_;
    };

    // The features of the points, in ascending order.
    static std::vector<Index> features_of(const ThresholdDesign& design, std::span<const Point> points) {
        std::vector<Index> used;
        for (const Point& point : points)
            for (Index c : point.columns) used.push_back(design.feature_of(c));
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        return used;
    }

    void write(const ThresholdDesign& design, const ThresholdDesign::Unit& unit, const ByFeature& by_feature,
               double* to) const {
        const double* entries = by_feature.of(unit.features[0]);
        std::vector<double> joined;
        if (unit.joint != none) {
            joined = design.joint(unit.joint).join([&](Index feature) { return by_feature.of(feature); });
            entries = joined.data();
        }
        for (Index b = 0; b < design.n_bins(unit); ++b) to[b * stride_] = entries[b];
    }

    void score_part(Index begin, Index end, Index point_stride, double* scores) const noexcept {
        double interleaved[part * max_points];
        const Index n = end - begin, n_points = static_cast<Index>(intercepts_.size());
        for (Index p = 0; p < max_points; ++p) {
            const double intercept = p < n_points ? intercepts_[p] : 0.0;
            for (Index i = 0; i < n; ++i) interleaved[i * max_points + p] = intercept;
        }
        for (const auto& [codes, start] : tables_) codes.add_tables(begin, end, &entries_[start], interleaved);
        for (Index p = 0; p < n_points; ++p)
            for (Index i = 0; i < n; ++i) scores[p * point_stride + i] = interleaved[i * max_points + p];
    }

    // Number of interleaved points.
    Index stride_;
    std::vector<double> intercepts_, entries_;
    // Codes, and the position of their entries.
    std::vector<std::pair<Codes, Index>> tables_;
};

// Scores each feature separately, so that sums do not depend on which features are joint.
inline std::vector<double> row_scores(const ThresholdDesign& design, const Point& point) {
    std::vector<double> scores(design.n_rows());
    ScoreTables(design, std::span(&point, 1), ScoreTables::Joint::no).score(0, design.n_rows(), 0, scores.data());
    return scores;
}

}  // namespace sparsegam
