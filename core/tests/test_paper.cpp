// core/tests/test_paper.cpp: cuts and closed-form steps of the search of the paper, against minimisation by brute force.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "sparsegam/paper/cuts.hpp"
#include "sparsegam/paper/lines.hpp"

using namespace sparsegam;

namespace {

// The minimum of a convex function on [-40, 40] by golden section search: (position, value).
template <class Function>
std::pair<double, double> minimum(const Function& f) {
    const double ratio = 0.5 * (std::sqrt(5.0) - 1.0);
    double low = -40.0, high = 40.0;
    for (int i = 0; i < 200; ++i) {
        const double a = high - ratio * (high - low), b = low + ratio * (high - low);
        (f(a) <= f(b) ? high : low) = f(a) <= f(b) ? b : a;
    }
    const double x = 0.5 * (low + high);
    return {x, std::min({f(x), f(-40.0), f(40.0)})};
}

// A 0/1 column with both values in both classes, labels, weights and scores of random rows.
struct RandomRows {
    std::vector<double> x, y, weight, score;

    explicit RandomRows(unsigned seed) {
        std::mt19937_64 engine(seed);
        std::uniform_real_distribution<double> uniform;
        std::normal_distribution<double> normal;
        const double share = 0.1 + 0.8 * uniform(engine), positive = 0.2 + 0.6 * uniform(engine);
        for (int i = 0; i < 64; ++i) {
            x.push_back(i < 4 ? i / 2 : uniform(engine) < share ? 1.0 : 0.0);
            y.push_back(i < 4 ? 2.0 * (i % 2) - 1.0 : uniform(engine) < positive ? 1.0 : -1.0);
            weight.push_back(0.5 + 1.5 * uniform(engine));
            score.push_back(normal(engine));
        }
    }

    std::size_t size() const { return x.size(); }
};

// The loss of random rows along a centred column, with a ridge m w^2.
struct Line {
    RandomRows rows;
    Loss loss;
    double m, mean = 0.0;

    Line(unsigned seed, Loss loss, double m) : rows(seed), loss(loss), m(m) {
        double total = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            mean += rows.weight[i] * rows.x[i];
            total += rows.weight[i];
        }
        mean /= total;
    }

    double value(double w) const { return at(w).first.value; }

    // Value and slope, and the curvature.
    std::pair<LinePoint, double> at(double w) const {
        LinePoint point{w, m * w * w, 2.0 * m * w};
        double curv = 2.0 * m;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double centred = rows.x[i] - mean;
            const Derivatives d = traits(loss).derivatives(rows.score[i] + w * centred, rows.y[i]);
            point.value += rows.weight[i] * d.value;
            point.slope += rows.weight[i] * d.grad * centred;
            curv += rows.weight[i] * d.curv * centred * centred;
        }
        return {point, curv};
    }
};

void check_cuts(unsigned seed, Loss loss, double m) {
    const Line line(seed, loss, m);
    const std::string where =
        std::string(traits(loss).name) + ", seed " + std::to_string(seed) + ", m " + std::to_string(m);
    const auto [best, least] = minimum([&](double w) { return line.value(w); });
    const double slack = 1e-10 * line.value(0.0);
    std::mt19937_64 engine(seed);
    std::exponential_distribution<double> distance;
    std::uniform_real_distribution<double> uniform(-3.0, 3.0);
    const LinePoint a = line.at(best - distance(engine)).first, b = line.at(best + distance(engine)).first;
    const double linear = linear_cut(a, b);
    CHECK(linear <= least + slack, "linear cut is a lower bound: " + where);
    const auto [any, curv] = line.at(uniform(engine));
    if (m > 0.0) {
        CHECK(quadratic_cut(any, m) <= least + slack, "quadratic cut from one point is a lower bound: " + where);
        CHECK(quadratic_cut(a, b, m) <= least + slack, "quadratic cut from two points is a lower bound: " + where);
        CHECK(quadratic_cut(a, b, m) >= linear - slack, "quadratic cut is at least the linear cut: " + where);
        return;
    }
    const double r = traits(loss).self_concordance * std::max(line.mean, 1.0 - line.mean);
    const double bound = concordant_cut(any, curv, r);
    CHECK(bound <= least + slack, "self-concordant cut is a lower bound: " + where);
    if (loss == Loss::squared) CHECK_NEAR(bound, least, 1e-8 * least, "cut is exact for the squared loss: " + where);
}

void test_cuts() {
    for (unsigned seed = 0; seed < 60; ++seed) {
        for (double m : {0.0, 1e-5, 1e-3, 0.1, 10.0}) {
            check_cuts(seed, Loss::logistic, m);
            check_cuts(seed, Loss::squared, m);
        }
        check_cuts(seed, Loss::exponential, 0.0);
    }
}

void test_cuts_of_known_functions() {
    CHECK_NEAR(linear_cut({-1.0, 1.0, -2.0}, {1.0, 1.0, 2.0}), -1.0, 1e-12, "tangents of x^2 at -1 and 1");
    // f = x^2 + |x - 1|: the parabolas cross at 1 with value 1, but the first has its vertex at f(1/2) = 3/4.
    const LinePoint a{0.0, 1.0, -1.0}, b{2.0, 5.0, 5.0};
    CHECK_NEAR(quadratic_cut(a, b, 1.0), 0.75, 1e-12, "vertex before the crossing");
    CHECK_NEAR(quadratic_cut(b, a, 1.0), 0.75, 1e-12, "vertex before the crossing, points in the other order");
    // f = x^2 + 10 |x - 1| has its minimum at the crossing.
    CHECK_NEAR(quadratic_cut({0.0, 10.0, -10.0}, {2.0, 14.0, 14.0}, 1.0), 1.0, 1e-12, "minimum at the crossing");
    CHECK(concordant_cut({0.0, 1.0, 2.0}, 1.0, 1.0) == -infinity, "no bound where the slope is too steep");
}

ClosedStep step_of(const RandomRows& rows) {
    ShiftGroup on{0.0, 0.0}, off{0.0, 0.0};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double loss = rows.weight[i] * std::exp(-rows.y[i] * rows.score[i]);
        ShiftGroup& group = rows.x[i] > 0.0 ? on : off;
        group.grad -= rows.y[i] * loss;
        group.curv += loss;
    }
    return closed_step(on, off);
}

// The column splits the rows into two groups, each of which can be minimised by itself.
void test_closed_step() {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomRows rows(seed);
        const auto loss_after = [&](double on, double off) {
            double sum = 0.0;
            for (std::size_t i = 0; i < rows.size(); ++i)
                sum += rows.weight[i] * std::exp(-rows.y[i] * (rows.score[i] + (rows.x[i] > 0.0 ? on : off)));
            return sum;
        };
        const ClosedStep step = step_of(rows);
        const double start = loss_after(0.0, 0.0);
        const double on = minimum([&](double w) { return loss_after(w, 0.0); }).first;
        const double off = minimum([&](double w) { return loss_after(0.0, w); }).first;
        const double without = minimum([&](double w) { return loss_after(w, w); }).second;
        const std::string where = "closed step, seed " + std::to_string(seed);
        CHECK_NEAR(step.shift, off, 1e-5, where + ": shift of the intercept");
        CHECK_NEAR(step.coef, on - off, 1e-5, where + ": coefficient");
        CHECK_NEAR(start - step.gain, loss_after(on, off), 1e-9 * start, where + ": gain");
        CHECK_NEAR(step.term_gain, without - loss_after(on, off), 1e-9 * start, where + ": gain beyond an intercept");
    }
}

// Theorem 5.1: with the share d of the loss on rows where label and column disagree, the column read as -1 and 1 has
// the best coefficient log((1 - d) / d) / 2 and leaves the loss 2 W sqrt(d (1 - d)). Mirroring the rows keeps the
// intercept of this column at zero, so that the step with a free intercept must be the same.
void test_closed_step_of_mirrored_groups() {
    for (unsigned seed = 0; seed < 60; ++seed) {
        RandomRows rows(seed);
        double total = 0.0, wrong = 0.0;
        for (std::size_t i = 0, n = rows.size(); i < n; ++i) {
            rows.x.push_back(1.0 - rows.x[i]);
            rows.y.push_back(-rows.y[i]);
            rows.weight.push_back(rows.weight[i]);
            rows.score.push_back(-rows.score[i]);
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double loss = rows.weight[i] * std::exp(-rows.y[i] * rows.score[i]);
            total += loss;
            if (rows.y[i] * (2.0 * rows.x[i] - 1.0) < 0.0) wrong += loss;
        }
        const double d = wrong / total, w = 0.5 * std::log((1.0 - d) / d);
        const ClosedStep step = step_of(rows);
        CHECK_NEAR(step.coef, 2.0 * w, 1e-9, "coefficient of theorem 5.1");
        CHECK_NEAR(step.shift, -w, 1e-9, "intercept of theorem 5.1");
        CHECK_NEAR(total - step.gain, 2.0 * total * std::sqrt(d * (1.0 - d)), 1e-9 * total, "loss of theorem 5.1");
    }
}

void test_closed_step_of_a_pure_group_is_finite() {
    const ClosedStep step = closed_step({-5.0, 5.0}, {0.0, 10.0});
    CHECK_NEAR(step.coef, 0.5 * std::log(1e9), 1e-2, "coefficient of a pure group");
    CHECK_NEAR(step.shift, 0.0, 1e-12, "shift of the intercept");
    CHECK_NEAR(step.gain, 5.0, 1e-6, "gain of a pure group");
}

}  // namespace

int main() {
    test_cuts();
    test_cuts_of_known_functions();
    test_closed_step();
    test_closed_step_of_mirrored_groups();
    test_closed_step_of_a_pure_group_is_finite();
    return finish("paper");
}
