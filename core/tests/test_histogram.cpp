// core/tests/test_histogram.cpp: sums per column of a threshold design against sums over its expanded columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/histogram.hpp"
#include "sparsegam/score_tables.hpp"
#include "sparsegam/support_design.hpp"
#include "sparsegam/threshold_design.hpp"

using namespace sparsegam;

namespace {

std::mt19937_64 random_engine(3);

double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_engine); }

double whole(int most) { return static_cast<double>(random_engine() % (2 * most + 1)) - most; }

// Features of all kinds: thresholds, levels, both, a single bin, uint8 and uint16 codes.
struct Table {
    std::vector<std::vector<std::uint8_t>> narrow;
    std::vector<std::vector<std::uint16_t>> wide;
    std::vector<Feature> features;
    Index n_rows, n_columns = 0;

    Table(Index rows, std::size_t most) : n_rows(rows) {
        const std::pair<Index, Index> kinds[] = {{5, 5},     {300, 300}, {4, 0}, {1, 1},   {256, 255}, {7, 4},
                                                 {400, 390}, {2, 1},     {9, 9}, {257, 0}, {3, 3},     {1, 0}};
        for (auto [n_bins, n_ordered] : kinds)
            if (features.size() < most) add(n_bins, n_ordered);
    }

    Index code(const Feature& feature, Index row) const {
        return feature.codes.narrow ? feature.codes.narrow[row] : feature.codes.wide[row];
    }

    // Value of column `bin` of a feature in a row, by definition.
    bool holds(const Feature& feature, Index bin, Index row) const {
        return bin < feature.n_ordered ? code(feature, row) <= bin : code(feature, row) == bin;
    }

  private:
    void add(Index n_bins, Index n_ordered) {
        Feature feature;
        feature.n_bins = n_bins, feature.n_ordered = n_ordered, feature.offset = n_columns;
        if (n_bins <= 256)
            feature.codes.narrow = narrow.emplace_back(random_codes<std::uint8_t>(n_bins)).data();
        else
            feature.codes.wide = wide.emplace_back(random_codes<std::uint16_t>(n_bins)).data();
        features.push_back(feature);
        n_columns += n_bins;
    }

    template <class Code>
    std::vector<Code> random_codes(Index n_bins) const {
        std::vector<Code> codes(n_rows);
        for (auto& c : codes) c = static_cast<Code>(random_engine() % n_bins);
        return codes;
    }
};

// Sums of the channels (rows x stride) over the rows where each column is 1.
std::vector<double> naive_sums(const Table& table, const std::vector<double>& channels, Index stride) {
    std::vector<double> sums(table.n_columns * stride, 0.0);
    for (const Feature& feature : table.features)
        for (Index i = 0; i < table.n_rows; ++i)
            for (Index b = 0; b < feature.n_bins; ++b)
                if (table.holds(feature, b, i))
                    for (Index c = 0; c < stride; ++c)
                        sums[(feature.offset + b) * stride + c] += channels[i * stride + c];
    return sums;
}

// The channels are integers, so that float32 sums are exact and must be equal.
template <class Real>
void check_histograms(std::size_t n_features, Index n_channels) {
    const Table table(333, n_features);
    const Index stride = padded(n_channels);
    std::vector<double> channels(table.n_rows * stride);
    for (auto& c : channels) c = whole(50);
    std::vector<double> sums(table.n_columns * stride, 0.0);
    std::vector<HistogramTarget> targets;
    for (const Feature& f : table.features) targets.push_back({f.codes, f.n_bins, sums.data() + f.offset * stride});
    Histograms<Real> histograms(std::move(targets), stride);
    for (auto [begin, end] : {std::pair<Index, Index>{0, 100}, {100, 101}, {101, 333}}) {
        const std::vector<Real> rows(channels.begin() + begin * stride, channels.begin() + end * stride);
        histograms.add(begin, end, rows.data());
        if (begin == 0) histograms.flush();
    }
    histograms.flush();
    // A second call has nothing to add.
    histograms.flush();
    for (const Feature& f : table.features) f.columns_from_bins(sums.data() + f.offset * stride, stride, 0);
    CHECK(sums == naive_sums(table, channels, stride),
          std::to_string(n_features) + " features, " + std::to_string(n_channels) + " channels");
}

void test_histograms() {
    for (std::size_t n_features = 0; n_features <= 12; ++n_features)
        for (Index n_channels : {1, 3, 4, 5, 37}) {
            check_histograms<float>(n_features, n_channels);
            check_histograms<double>(n_features, n_channels);
        }
}

// Sums of ramps from the sums per bin, and row by row: [c, h, ...] and, in the last channel, the square of each ramp
// weighted by h.
void test_ramps() {
    constexpr Index n_bins = 9, n_ordered = 7, stride = 4, moment_channel = 3;
    Feature feature{.n_bins = n_bins, .n_ordered = n_ordered};
    feature.ramps = {
        {-1.0, -0.75, -0.5, -0.5, -0.25, -0.125, 0.0}, {-1.0, -0.625, -0.5, -0.375, -0.25, 0.0, 0.0}, {1, 3, 5}};
    std::vector<double> sums(feature.n_columns() * stride, 0.0), bins;
    for (Index i = 0; i < n_bins * stride; ++i) sums[i] = i % stride == moment_channel ? 0.0 : whole(50);
    bins = sums;
    feature.columns_from_bins(sums.data(), stride, moment_channel);
    for (Index r = 0; r < feature.ramps.size(); ++r) {
        double expected[stride] = {0.0, 0.0, 0.0, 0.0};
        for (Index b = 0; b < n_ordered; ++b) {
            const double value = feature.ramps.value(r, b);
            for (Index c = 0; c < moment_channel; ++c) expected[c] += value * bins[b * stride + c];
            expected[moment_channel] += value * value * bins[b * stride + 1];
        }
        for (Index c = 0; c < stride; ++c)
            CHECK(std::abs(sums[(n_bins + r) * stride + c] - expected[c]) < 1e-12, "ramp " + std::to_string(r));
    }
    double places = 0.0;
    for (Index b = 0; b < n_ordered; ++b) {
        places += feature.ramps.centre[b] * bins[b * stride + 1];
        CHECK(std::abs(sums[b * stride + moment_channel] - places) < 1e-12, "centres up to bin " + std::to_string(b));
    }
}

void test_score_tables() {
    const Table table(100, 12);
    const ThresholdDesign design(table.features, table.n_rows);
    Point point;
    point.intercept = 0.5;
    for (Index c : {0, 3, 4, 10, 306, 307, 309, 310, 570}) {
        point.columns.push_back(c);
        point.coef.push_back(whole(8));
    }
    std::vector<double> score(60, -1.0), expected(60, point.intercept);
    ScoreTables(design, std::span(&point, 1)).score(30, 90, 0, score.data());
    for (Index s = 0; s < point.size(); ++s) {
        const Feature& feature = design.feature(design.feature_of(point.columns[s]));
        for (Index i = 30; i < 90; ++i)
            if (table.holds(feature, point.columns[s] - feature.offset, i)) expected[i - 30] += point.coef[s];
    }
    CHECK(score == expected, "scores by tables");
}

// Points that share some features, up to a pack of them, on more rows than are scored at a time, have the same scores,
// to the last bit, as each point alone.
void test_score_tables_of_several_points() {
    const Table table(1500, 12);
    const ThresholdDesign design(table.features, table.n_rows);
    const std::vector<std::vector<Index>> supports{{570, 0, 10}, {}, {306, 3, 309, 4}, {307, 571}};
    std::vector<Point> points;
    for (const auto& support : supports) {
        Point point;
        point.intercept = 0.1 * static_cast<double>(points.size());
        for (Index c : support) {
            point.columns.push_back(c);
            point.coef.push_back(whole(8) / 3.0);
        }
        points.push_back(point);
    }
    const Index begin = 7, n = 1400;
    for (std::size_t count : {1, 2, 3, 4}) {
        std::vector<double> scores(count * n), alone(n);
        ScoreTables(design, std::span(points).first(count)).score(begin, begin + n, n, scores.data());
        for (std::size_t p = 0; p < count; ++p) {
            ScoreTables(design, std::span(points).subspan(p, 1)).score(begin, begin + n, n, alone.data());
            CHECK(std::equal(alone.begin(), alone.end(), scores.begin() + p * n), "scores of several points");
        }
    }
}

// The channels [g, h, (loss), h x_1 ... h x_k] of each row.
std::vector<double> naive_channels(const Table& table, const ThresholdDesign& design, const Channels& from,
                                   Index stride) {
    std::vector<double> rows(table.n_rows * stride, 0.0);
    for (Index i = 0; i < table.n_rows; ++i) {
        double* row = rows.data() + i * stride;
        *row++ = from.grad[i], *row++ = from.curv[i];
        if (from.value) *row++ = from.value[i];
        for (Index column : from.support) {
            const Feature& feature = design.feature(design.feature_of(column));
            *row++ = table.holds(feature, column - feature.offset, i) ? from.curv[i] : 0.0;
        }
    }
    return rows;
}

template <class Real>
void check_sum(Index n_rows, Index n_threads, bool with_value, double tolerance) {
    const Table table(n_rows, 12);
    const ThresholdDesign design(table.features, n_rows);
    std::vector<double> grad(n_rows), curv(n_rows), value(n_rows);
    for (Index i = 0; i < n_rows; ++i)
        grad[i] = uniform(-1.0, 1.0), curv[i] = uniform(0.0, 1.0), value[i] = uniform(0.0, 2.0);
    const std::vector<Index> support{1, 100, 306, 309, 570, 571};
    const Channels channels{grad.data(), curv.data(), with_value ? value.data() : nullptr, curv.data(), support};
    const Index stride = padded(channels.count());
    std::vector<Index> every(design.n_features());
    std::iota(every.begin(), every.end(), Index{0});
    Pool pool(n_threads);
    FeatureSums sums;
    design.sum<Real>(channels, every, pool, sums);
    const auto expected = naive_sums(table, naive_channels(table, design, channels, stride), stride);
    const std::string where = std::to_string(n_rows) + " rows, " + std::to_string(n_threads) + " threads";
    CHECK(sums.values.size() == expected.size(), where);
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK_NEAR(sums.values[i], expected[i], tolerance * static_cast<double>(n_rows), where);
}

void test_sums_of_all_features() {
    for (Index n_rows : {1, 255, 256, 257, 8192, 8193, 20000})
        for (Index n_threads : {1, 3}) {
            check_sum<float>(n_rows, n_threads, n_rows % 2 == 0, 2e-6);
            check_sum<double>(n_rows, n_threads, n_rows % 2 == 0, 1e-14);
        }
}

// Only the requested features are summed, and only they use memory.
void test_sum_of_some_features() {
    const Table table(50, 6);
    const ThresholdDesign design(table.features, table.n_rows);
    const std::vector<double> ones(table.n_rows, 1.0);
    Pool pool(2);
    FeatureSums sums;
    const std::vector<Index> some{0, 5};
    design.sum<double>({ones.data(), ones.data(), nullptr, nullptr, {}}, some, pool, sums);
    const Index n_columns = design.feature(0).n_bins + design.feature(5).n_bins;
    CHECK(sums.values.size() == static_cast<std::size_t>(n_columns * sums.stride), "two features");
    for (Index f : some) {
        const Feature& feature = design.feature(f);
        double rows = sums.of(f, feature.n_ordered - 1)[0];
        for (Index bin = feature.n_ordered; bin < feature.n_bins; ++bin) rows += sums.of(f, bin)[0];
        CHECK(rows == 50.0, "the last step and the levels contain every row exactly once");
    }
}

// Features with few bins are counted together, and the joint sums contain the sums of each feature.
void test_joint_codes() {
    const Table table(500, 12);
    const auto joint = joint_codes(table.features, table.n_rows);
    std::vector<int> times(table.features.size(), 0);
    for (const JointCodes& some : joint) {
        CHECK(some.features().size() > 1 && some.n_bins() <= JointCodes::max_bins, "joint bins");
        constexpr Index stride = 2 * pack, channel = pack + 1;
        std::vector<double> bins(some.n_bins() * stride, 0.0);
        for (Index i = 0; i < table.n_rows; ++i)
            bins[some.codes().narrow[i] * stride + channel] += static_cast<double>(i);
        std::vector<double> sums(table.n_columns * stride, 0.0);
        some.unfold(bins.data(), stride,
                    [&](Index f, Index bin) { return &sums[(table.features[f].offset + bin) * stride]; });
        for (Index f : some.features()) {
            ++times[f];
            std::vector<double> expected(table.features[f].n_bins, 0.0);
            for (Index i = 0; i < table.n_rows; ++i)
                expected[table.code(table.features[f], i)] += static_cast<double>(i);
            for (Index b = 0; b < table.features[f].n_bins; ++b)
                CHECK(sums[(table.features[f].offset + b) * stride + channel] == expected[b], "unfolded sums");
        }
    }
    for (std::size_t f = 0; f < times.size(); ++f)
        CHECK(times[f] == (table.features[f].n_bins <= 8 ? 1 : 0),
              "each feature with few bins is in exactly one group");
}

// The columns of a support have the same values in its reduced design.
void test_support_design() {
    Table table(300, 12);
    table.features[0].ramps = {{-1.0, -0.75, -0.5, -0.25, 0.0}, {-1.0, -0.75, -0.5, -0.25, 0.0}, {1, 3}};
    const ThresholdDesign design(table.features, table.n_rows);
    const std::vector<double> ones(table.n_rows, 1.0);
    const auto values = [&](const ThresholdDesign& from, Index column) {
        std::vector<double> out(table.n_rows);
        ThresholdDesign::ColumnFiller(from, column).fill(0, table.n_rows, ones.data(), 1, out.data());
        return out;
    };
    for (int round = 0; round < 100; ++round) {
        std::vector<Index> support(design.n_columns());
        std::iota(support.begin(), support.end(), Index{0});
        std::shuffle(support.begin(), support.end(), random_engine);
        support.resize(round % 40);
        const SupportDesign moment_channel(design, support);
        CHECK(moment_channel.is_of(support), "the support it was made of");
        const Index most = static_cast<Index>(support.size()) + design.n_features() + design.feature(0).n_columns();
        CHECK(moment_channel.design().n_columns() <= most, "the reduced design has few columns");
        for (std::size_t s = 0; s < support.size(); ++s)
            CHECK(values(moment_channel.design(), moment_channel.columns()[s]) == values(design, support[s]),
                  "column of a support");
    }
}

}  // namespace

int main() {
    test_histograms();
    test_ramps();
    test_score_tables();
    test_score_tables_of_several_points();
    test_sums_of_all_features();
    test_sum_of_some_features();
    test_joint_codes();
    test_support_design();
    return finish("histogram");
}
