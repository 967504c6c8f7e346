// sparsegam/score_tables.hpp: scores of rows out of tables by bin, of one point or of a few in one pass over the codes.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "column_threshold.hpp"

namespace sparsegam {

// A table for each feature, or joint features, on the supports of the points: the score of a row is the sum of its bins'
// entries, and those of a few points stand side by side. Summed in the order of the features, whichever are there.
class ScoreTables {
  public:
    static constexpr Index at_once = pack;  // points at most

    enum class Joint { yes, no };  // are features summed as they are counted, joint where they are few of bins

    ScoreTables(const ThresholdDesign& design, std::span<const Point> points, Joint joint = Joint::yes)
        : stride_(points.size() > 1 ? at_once : 1) {
        std::vector<Index> used;
        std::vector<ByFeature> tables;
        for (const Point& point : points) {
            intercepts_.push_back(point.intercept);
            tables.push_back(by_feature(design, point));
            for (Index c : point.columns) used.push_back(design.feature_of(c));
        }
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        for (const auto& unit : joint == Joint::yes ? design.units_of(used) : design.single_units(used)) {
            const Index n_bins = design.n_bins(unit);
            std::vector<double> together(n_bins * stride_, 0.0);
            for (std::size_t p = 0; p < points.size(); ++p) {
                const auto mine = table_of(design, unit, tables[p]);
                for (Index b = 0; b < n_bins; ++b) together[b * stride_ + p] = mine[b];
            }
            tables_.emplace_back(design.codes(unit), std::move(together));
        }
    }

    // The scores of some rows at the first point, then, `apart` numbers on, those at the next.
    void score(Index begin, Index end, Index apart, double* scores) const noexcept {
        if (stride_ == 1) {
            std::fill(scores, scores + (end - begin), intercepts_[0]);
            for (const auto& [codes, table] : tables_) codes.add_table(begin, end, table.data(), scores);
            return;
        }
        for (Index first = begin; first < end; first += part)
            score_part(first, std::min(first + part, end), apart, scores + (first - begin));
    }

  private:
    static constexpr Index part = 512;  // rows whose scores at all points stay in a first-level cache

    using ByFeature = std::vector<std::vector<double>>;  // of features that are not in a point, none

    static ByFeature by_feature(const ThresholdDesign& design, const Point& point) {
        ByFeature tables(design.n_features());
        for (Index s = 0; s < point.size(); ++s) {
            const Index f = design.feature_of(point.columns[s]);
            const Feature& feature = design.feature(f);
            tables[f].resize(feature.n_bins, 0.0);
            feature.add_to_table(point.columns[s] - feature.offset, point.coef[s], tables[f].data());
        }
        return tables;
    }

    static std::vector<double> table_of(const ThresholdDesign& design, const ThresholdDesign::Unit& unit,
                                        const ByFeature& tables) {
        if (unit.joint != none) return design.joint(unit.joint).join(tables);
        std::vector<double> mine = tables[unit.features[0]];
        mine.resize(design.n_bins(unit), 0.0);
        return mine;
    }

    void score_part(Index begin, Index end, Index apart, double* scores) const noexcept {
        double together[part * at_once];
        const Index n = end - begin, n_points = static_cast<Index>(intercepts_.size());
        for (Index p = 0; p < at_once; ++p) {
            const double intercept = p < n_points ? intercepts_[p] : 0.0;
            for (Index i = 0; i < n; ++i) together[i * at_once + p] = intercept;
        }
        for (const auto& [codes, table] : tables_) codes.add_tables(begin, end, table.data(), together);
        for (Index p = 0; p < n_points; ++p)
            for (Index i = 0; i < n; ++i) scores[p * apart + i] = together[i * at_once + p];
    }

    Index stride_;  // of the points in a table
    std::vector<double> intercepts_;
    std::vector<std::pair<Codes, std::vector<double>>> tables_;
};

}  // namespace sparsegam
