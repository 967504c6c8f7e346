// kernels/loss.cuh: value, gradient and curvature of a row in its score, in doubles; core/loss.hpp has the same formulas.

struct Derivatives {
    double value, grad, curv;
};

// The values are `cuda_index` in losses.py.
enum : i64 { logistic = 0, exponential = 1, squared = 2, squared_hinge = 3 };

__device__ Derivatives derivatives(i64 loss, double f, double y) {
    if (loss == logistic) {
        const double margin = y * f, e = exp(-fabs(margin));
        const double share = 1.0 / (1.0 + e), wrong = (margin > 0.0 ? e : 1.0) * share;  // of the other class
        return {log1p(e) + fmax(-margin, 0.0), -y * wrong, e * share * share};
    }
    if (loss == exponential) {
        const double e = exp(-y * f);
        return {e, -y * e, e};
    }
    if (loss == squared) return {0.5 * (f - y) * (f - y), f - y, 1.0};
    const double short_of = fmax(1.0 - y * f, 0.0);
    return {short_of * short_of, -2.0 * y * short_of, short_of > 0.0 ? 2.0 : 0.0};
}

// Adds up the losses of rows. Where all weigh one, sum log(1 + e) is the log of a product, and one log serves many rows:
// each factor is between 1 and 2, and what it loses to rounding is 1e-16, as in a sum.
struct LossSum {
    double sum = 0.0, product = 1.0;

    __device__ void add(i64 loss, double f, double y, double w, bool even) {
        if (loss == logistic && even) {
            const double margin = y * f;
            sum += fmax(-margin, 0.0);
            product *= 1.0 + exp(-fabs(margin));
        } else {
            sum += w * derivatives(loss, f, y).value;
        }
    }
    // To be called at least once in a thousand rows.
    __device__ void settle() {
        sum += log(product);
        product = 1.0;
    }
};

constexpr int settled_after = 512;  // rows
