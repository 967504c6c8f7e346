// sparsegam/loss.hpp: the losses: value, gradient and curvature with respect to the score f, and their analytical
// properties.
//
// The vectorised kernels are tested against these scalar definitions. A new loss needs a name in `Loss`, a row in
// `loss_table` and a kernel; no other header refers to an individual loss.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sparsegam {

struct Derivatives {
    double value, grad, curv;
};

enum class Loss { logistic, exponential, squared, squared_hinge };
inline constexpr std::size_t n_losses = 4;

// y in {-1, 1}: log(1 + exp(-y f))
inline Derivatives logistic_loss(double f, double y) {
    const double margin = y * f;
    const double e = std::exp(-std::abs(margin));
    // `wrong` is the probability of the other class.
    const double wrong = (margin > 0 ? e : 1.0) / (1.0 + e);
    return {std::log1p(e) + std::max(-margin, 0.0), -y * wrong, e / ((1.0 + e) * (1.0 + e))};
}

// y in {-1, 1}: exp(-y f)
inline Derivatives exponential_loss(double f, double y) {
    const double e = std::exp(-y * f);
    return {e, -y * e, e};
}

// (y - f)^2 / 2
inline Derivatives squared_loss(double f, double y) { return {0.5 * (f - y) * (f - y), f - y, 1.0}; }

// y in {-1, 1}: max(1 - y f, 0)^2, whose curvature is 2 or 0.
inline Derivatives squared_hinge_loss(double f, double y) {
    const double violation = std::max(1.0 - y * f, 0.0);
    return {violation * violation, -2.0 * y * violation, violation > 0.0 ? 2.0 : 0.0};
}

// An upper bound on the decrease of the loss of a group of rows when the same shift is added to all their scores, from
// the group's sums of gradient, curvature and loss. For the logistic loss, |f'''| <= f'' implies f(d) >= f + G d + D
// (exp(-|d|) + |d| - 1). The minimum of this bound is D psi(|G| / D) below f, with psi(u) = u + (1 - u) log(1 - u) for
// u < 1. For larger u, the decrease is bounded by the loss itself.
inline double logistic_max_shift_gain(double grad, double curv, double value) {
    if (curv <= 0.0) return std::max(value, 0.0);
    const double u = std::abs(grad) / curv;
    return u < 1.0 ? std::min(curv * (u + (1.0 - u) * std::log1p(-u)), value) : value;
}

// The bounds for the exponential and the squared loss are exact. The best shift reduces the exponential loss to twice
// the geometric mean of the losses on the two labels.
inline double exponential_max_shift_gain(double grad, double curv, double) {
    return curv - std::sqrt(std::max(curv * curv - grad * grad, 0.0));
}

inline double squared_max_shift_gain(double grad, double curv, double value) {
    return curv <= 0.0 ? std::max(value, 0.0) : 0.5 * grad * grad / curv;
}

// Since the curvature can become zero at once, the only bound is the loss of the group.
inline double squared_hinge_max_shift_gain(double, double, double value) { return std::max(value, 0.0); }

// Decrease of the loss by the best shift of a group of rows, relative to the prediction of the quadratic model, as a
// function of u = |gradient| / curvature. For the exponential loss this is 1 - sqrt(1 - u^2) relative to u^2 / 2; for a
// pure group (u = 1) it is 2.
inline double exponential_gain_factor(double u) {
    return u < 1e-3 ? 1.0 : 2.0 * (1.0 - std::sqrt(std::max(1.0 - u * u, 0.0))) / (u * u);
}

// Best shift of a group of rows relative to its Newton step: atanh(u) / u for the exponential loss. It is capped, since
// the best shift of a pure group is infinite.
inline double exponential_step_factor(double u) {
    if (u < 1e-3) return 1.0;
    u = std::min(u, 0.99);
    return std::atanh(u) / u;
}

// Upper bound on the decrease relative to the quadratic model: psi(u), see above, relative to u^2 / 2.
inline double logistic_max_gain_factor(double u) {
    if (u < 1e-3) return 1.0;
    return u < 1.0 ? 2.0 * logistic_max_shift_gain(u, 1.0, 1.0) / (u * u) : 2.0;
}

inline double no_correction(double) { return 1.0; }

struct LossTraits {
    Loss loss;
    std::string_view name;
    Derivatives (*derivatives)(double f, double y);
    // The smallest r with |l'''| <= r l'' for all f; infinite if l'' is discontinuous.
    double self_concordance;
    // Upper bound on l''.
    double largest_curvature;
    double (*max_shift_gain)(double grad, double curv, double value);
    // Corrections of the quadratic model for groups of rows: decrease and step relative to its predictions, and an
    // upper bound on the decrease where the quadratic model may predict too little.
    double (*gain_factor)(double u) = no_correction;
    double (*step_factor)(double u) = no_correction;
    double (*max_gain_factor)(double u) = no_correction;
    // Whether l'' is the same everywhere, so that the quadratic model is exact.
    bool constant_curvature = false;
    // Whether a shift of the score multiplies the loss of a row, which is then also its curvature.
    bool multiplicative = false;

    // Rate at which the curvature decreases along a diverging score. It is zero for losses whose curvature vanishes at
    // a finite score, since scores do not diverge then.
    double curvature_decay() const {
        return self_concordance < std::numeric_limits<double>::infinity() ? self_concordance : 0.0;
    }
};

inline constexpr std::array<LossTraits, n_losses> loss_table{{
    {.loss = Loss::logistic,
     .name = "logistic",
     .derivatives = logistic_loss,
     .self_concordance = 1.0,
     .largest_curvature = 0.25,
     .max_shift_gain = logistic_max_shift_gain,
     .max_gain_factor = logistic_max_gain_factor},
    {.loss = Loss::exponential,
     .name = "exponential",
     .derivatives = exponential_loss,
     .self_concordance = 1.0,
     .largest_curvature = std::numeric_limits<double>::infinity(),
     .max_shift_gain = exponential_max_shift_gain,
     .gain_factor = exponential_gain_factor,
     .step_factor = exponential_step_factor,
     .multiplicative = true},
    {.loss = Loss::squared,
     .name = "squared",
     .derivatives = squared_loss,
     .self_concordance = 0.0,
     .largest_curvature = 1.0,
     .max_shift_gain = squared_max_shift_gain,
     .constant_curvature = true},
    {.loss = Loss::squared_hinge,
     .name = "squared_hinge",
     .derivatives = squared_hinge_loss,
     .self_concordance = std::numeric_limits<double>::infinity(),
     .largest_curvature = 2.0,
     .max_shift_gain = squared_hinge_max_shift_gain},
}};

constexpr const LossTraits& traits(Loss loss) { return loss_table[static_cast<std::size_t>(loss)]; }

constexpr bool in_order_of_enum() {
    for (std::size_t i = 0; i < n_losses; ++i)
        if (static_cast<std::size_t>(loss_table[i].loss) != i) return false;
    return true;
}
static_assert(in_order_of_enum(), "loss_table has one row per Loss, in the order of the enum");

inline Loss loss_named(const std::string& name) {
    std::string names;
    for (const LossTraits& row : loss_table) {
        if (row.name == name) return row.loss;
        names += (names.empty() ? "'" : ", '") + std::string(row.name) + "'";
    }
    throw std::invalid_argument("loss must be one of " + names + ", got '" + name + "'");
}

}  // namespace sparsegam
