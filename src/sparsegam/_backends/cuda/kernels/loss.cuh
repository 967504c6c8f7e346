// kernels/loss.cuh: loss, gradient and curvature of a row with respect to its score, in double precision.
//
// The formulas are those of core/loss.hpp.

struct Derivatives {
    double value, grad, curv;
};

// The values are `cuda_index` in losses.py.
enum : i64 { logistic = 0, exponential = 1, squared = 2, squared_hinge = 3 };

__device__ Derivatives derivatives(i64 loss, double f, double y) {
    if (loss == logistic) {
        const double margin = y * f, e = exp(-fabs(margin));
        const double share = 1.0 / (1.0 + e);                   // probability of the more likely class
        const double wrong = (margin > 0.0 ? e : 1.0) * share;  // probability of the other class
        return {log1p(e) + fmax(-margin, 0.0), -y * wrong, e * share * share};
    }
    if (loss == exponential) {
        const double e = exp(-y * f);
        return {e, -y * e, e};
    }
    if (loss == squared) return {0.5 * (f - y) * (f - y), f - y, 1.0};
    const double shortfall = fmax(1.0 - y * f, 0.0);
    return {shortfall * shortfall, -2.0 * y * shortfall, shortfall > 0.0 ? 2.0 : 0.0};
}

// Adds up the losses of rows. The logistic loss is max(-m, 0) + log(1 + e) with e = exp(-|m|) for the margin m. If all
// weights are 1, the sum of the logarithms is the logarithm of the product, so one logarithm is enough for many rows.
// Each factor is between 1 and 2 and is rounded with a relative error of 1e-16, as the terms of a sum are.
struct LossSum {
    double sum = 0.0, product = 1.0;

    __device__ void add(i64 loss, double f, double y, double w, bool uniform_weights) {
        if (loss == logistic && uniform_weights) {
            const double margin = y * f;
            sum += fmax(-margin, 0.0);
            product *= 1.0 + exp(-fabs(margin));
        } else {
            sum += w * derivatives(loss, f, y).value;
        }
    }
    // Adds the logarithm of the product to the sum. The product of more than 1023 factors may overflow.
    __device__ void flush() {
        sum += log(product);
        product = 1.0;
    }
};

constexpr int flush_after = 512;  // rows
