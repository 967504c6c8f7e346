// kernels/loss.cuh: value, gradient and curvature of a row in its score, in doubles; core/loss.hpp has the same formulas.

struct Derivatives {
    double value, grad, curv;
};

enum : i64 { logistic, exponential, squared, squared_hinge };  // in the order of the core

__device__ Derivatives derivatives(i64 loss, double f, double y) {
    if (loss == logistic) {
        const double margin = y * f, e = exp(-fabs(margin));
        const double wrong = (margin > 0.0 ? e : 1.0) / (1.0 + e);  // probability of the other class
        return {log1p(e) + fmax(-margin, 0.0), -y * wrong, e / ((1.0 + e) * (1.0 + e))};
    }
    if (loss == exponential) {
        const double e = exp(-y * f);
        return {e, -y * e, e};
    }
    if (loss == squared) return {0.5 * (f - y) * (f - y), f - y, 1.0};
    const double short_of = fmax(1.0 - y * f, 0.0);
    return {short_of * short_of, -2.0 * y * short_of, short_of > 0.0 ? 2.0 : 0.0};
}

__device__ double loss_value(i64 loss, double f, double y) {
    if (loss == logistic) {
        const double margin = y * f;
        return log1p(exp(-fabs(margin))) + fmax(-margin, 0.0);
    }
    return derivatives(loss, f, y).value;
}
