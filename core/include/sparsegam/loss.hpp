// sparsegam/loss.hpp: the losses, one struct each: value, gradient and curvature in the score f.
//
// These scalar definitions are what the vectorised kernels are tested against; a new loss starts here.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace sparsegam {

struct Derivatives {
    double value, grad, curv;
};

enum class Loss { logistic, exponential, squared };

// y in {-1, 1}: log(1 + exp(-y f))
inline Derivatives logistic_loss(double f, double y) {
    const double margin = y * f;
    const double e = std::exp(-std::abs(margin));
    const double wrong = (margin > 0 ? e : 1.0) / (1.0 + e);  // probability of the other class
    return {std::log1p(e) + std::max(-margin, 0.0), -y * wrong, e / ((1.0 + e) * (1.0 + e))};
}

// y in {-1, 1}: exp(-y f)
inline Derivatives exponential_loss(double f, double y) {
    const double e = std::exp(-y * f);
    return {e, -y * e, e};
}

// (y - f)^2 / 2
inline Derivatives squared_loss(double f, double y) { return {0.5 * (f - y) * (f - y), f - y, 1.0}; }

inline Derivatives derivatives(Loss loss, double f, double y) {
    switch (loss) {
        case Loss::logistic:
            return logistic_loss(f, y);
        case Loss::exponential:
            return exponential_loss(f, y);
        default:
            return squared_loss(f, y);
    }
}

// |l'''| <= self_concordance(l) * l'' in f; 0 where the curvature never changes.
inline double self_concordance(Loss loss) { return loss == Loss::squared ? 0.0 : 1.0; }

// l'' never exceeds this; infinite for the exponential loss.
inline double steepest_curvature(Loss loss) {
    switch (loss) {
        case Loss::logistic:
            return 0.25;
        case Loss::exponential:
            return std::numeric_limits<double>::infinity();
        default:
            return 1.0;
    }
}

// The most that the loss of a group of rows can fall when their scores are all shifted by the same amount,
// from the group's sums of gradient, curvature and loss. Exact for the exponential and squared losses. For
// the logistic loss, |f'''| <= f'' gives f(d) >= f + G d + D (exp(-|d|) + |d| - 1), whose minimum is D
// psi(|G| / D) below f, psi(u) = u + (1 - u) log(1 - u) for u < 1; beyond, only the loss itself limits the fall.
inline double shift_gain(Loss loss, double grad, double curv, double value) {
    if (loss == Loss::exponential) return curv - std::sqrt(std::max(curv * curv - grad * grad, 0.0));
    if (curv <= 0.0) return std::max(value, 0.0);
    if (loss == Loss::squared) return 0.5 * grad * grad / curv;
    const double u = std::abs(grad) / curv;
    return u < 1.0 ? std::min(curv * (u + (1.0 - u) * std::log1p(-u)), value) : value;
}

// How many times its quadratic model's promise a shift of a group of rows gains, from u = |gradient| /
// curvature. Exponential: 1 - sqrt(1 - u^2) against u^2 / 2; a pure group (u = 1) gains twice the promise.
inline double beyond_quadratic(Loss loss, double u) {
    if (loss != Loss::exponential || u < 1e-3) return 1.0;
    return 2.0 * (1.0 - std::sqrt(std::max(1.0 - u * u, 0.0))) / (u * u);
}

// How many times its Newton step the best shift of a group of rows is: atanh(u) / u for the exponential loss,
// capped where a pure group would run off.
inline double stretch(Loss loss, double u) {
    if (loss != Loss::exponential || u < 1e-3) return 1.0;
    u = std::min(u, 0.99);
    return std::atanh(u) / u;
}

inline Loss loss_named(const std::string& name) {
    if (name == "logistic") return Loss::logistic;
    if (name == "exponential") return Loss::exponential;
    if (name == "squared") return Loss::squared;
    throw std::invalid_argument("loss must be 'logistic', 'exponential' or 'squared', got '" + name + "'");
}

}  // namespace sparsegam
