// sparsegam/paper/cuts.hpp: lower bounds (cuts) on the minimum of a convex function of one coefficient, from a few of
// its values.
//
// They exclude a column before its line search. `f` is the loss along one column, with the other coefficients fixed,
// plus its ridge.
#pragma once

#include <algorithm>
#include <cmath>

#include "sparsegam/types.hpp"

namespace sparsegam {

// A point of f: coefficient, value and slope.
struct LinePoint {
    double at, value, slope;
};

// The intersection of two tangents at points on both sides of the minimum (classical cutting planes).
inline double linear_cut(const LinePoint& a, const LinePoint& b) {
    return (a.slope * b.value - b.slope * a.value + a.slope * b.slope * (a.at - b.at)) / (a.slope - b.slope);
}

// The minimum of one parabola: f(x) >= f(a) + f'(a)(x - a) + m (x - a)^2, where m (x - a)^2 follows from strong
// convexity.
inline double quadratic_cut(const LinePoint& a, double m) { return a.value - a.slope * a.slope / (4.0 * m); }

// The minimum of the parabola of a point between the point and x: at its vertex, if that is between them.
inline double least_towards(const LinePoint& a, double x, double m) {
    const double vertex = -a.slope / (2.0 * m), way = x - a.at;
    const double d = std::abs(vertex) < std::abs(way) ? vertex : way;
    return a.value + a.slope * d + m * d * d;
}

// Two parabolas with the same leading coefficient intersect at one point x. Between points on both sides of the
// minimum, f is above the first parabola up to x and above the second from there on. The paper uses their value at x,
// which is too high if a parabola has its vertex before x (if the ridge dominates the curvature of the loss).
inline double quadratic_cut(const LinePoint& a, const LinePoint& b, double m) {
    const double x = (b.value - a.value + a.slope * a.at - b.slope * b.at + m * (b.at * b.at - a.at * a.at)) /
                     (a.slope - b.slope - 2.0 * m * (a.at - b.at));
    return std::min(least_towards(a, x, m), least_towards(b, x, m));
}

// |f'''| <= r f'' implies f(a + d) >= f(a) + f'(a) d + c/r^2 (exp(-r|d|) + r|d| - 1) with c = f''(a). This needs
// neither a second point nor a ridge. There is no bound if the slope is too steep.
inline double concordant_cut(const LinePoint& a, double curv, double r) {
    if (r == 0.0) return a.value - 0.5 * a.slope * a.slope / curv;
    const double u = std::abs(a.slope) * r / curv;
    if (!(u < 1.0)) return -infinity;
    return a.value - curv / (r * r) * (u + (1.0 - u) * std::log1p(-u));
}

}  // namespace sparsegam
