// sparsegam/cuts.hpp: lower bounds on the minimum of a convex function of one coefficient, from few of its values.
//
// With them a column is ruled out before its line search is run. `f` is the loss along one column with the
// others held, its ridge included; alpha are slopes of f.
#pragma once

#include <algorithm>
#include <cmath>

#include "sparsegam/types.hpp"

namespace sparsegam {

// A point on f: where, its value and its slope.
struct LinePoint {
    double at, value, slope;
};

// Two tangents that meet between points on both sides of the minimum (classical cutting planes).
inline double linear_cut(const LinePoint& a, const LinePoint& b) {
    return (a.slope * b.value - b.slope * a.value + a.slope * b.slope * (a.at - b.at)) / (a.slope - b.slope);
}

// One parabola: f(x) >= f(a) + f'(a)(x - a) + m (x - a)^2, where m (x - a)^2 is what strong convexity gives.
inline double quadratic_cut(const LinePoint& a, double m) { return a.value - a.slope * a.slope / (4.0 * m); }

// The least value of a point's parabola on the way from it to x: at its vertex, if that comes before x.
inline double least_towards(const LinePoint& a, double x, double m) {
    const double vertex = -a.slope / (2.0 * m), way = x - a.at;
    const double d = std::abs(vertex) < std::abs(way) ? vertex : way;
    return a.value + a.slope * d + m * d * d;
}

// Two parabolas with the same leading term meet at one point x; between points on both sides of the minimum,
// f is above the first up to x and above the second from there. The paper takes their value at x, which is
// too high where a parabola has its vertex before x (a ridge so strong that the loss hardly bends f).
inline double quadratic_cut(const LinePoint& a, const LinePoint& b, double m) {
    const double x = (b.value - a.value + a.slope * a.at - b.slope * b.at + m * (b.at * b.at - a.at * a.at)) /
                     (a.slope - b.slope - 2.0 * m * (a.at - b.at));
    return std::min(least_towards(a, x, m), least_towards(b, x, m));
}

// |f'''| <= r f'' gives f(a + d) >= f(a) + f'(a) d + c/r^2 (exp(-r|d|) + r|d| - 1) with c = f''(a): no second
// point and no ridge are needed. Where the slope is too steep for it, there is no bound.
inline double concordant_cut(const LinePoint& a, double curv, double r) {
    if (r == 0.0) return a.value - 0.5 * a.slope * a.slope / curv;
    const double u = std::abs(a.slope) * r / curv;
    if (!(u < 1.0)) return -infinity;
    return a.value - curv / (r * r) * (u + (1.0 - u) * std::log1p(-u));
}

}  // namespace sparsegam
