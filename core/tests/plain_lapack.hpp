// core/tests/plain_lapack.hpp: the routines that the package borrows from SciPy, by hand: small and slow.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sparsegam/linalg.hpp"

inline void plain_dpotrf(char*, int* n, double* a, int*, int* info) {
    *info = 0;
    for (int j = 0; j < *n; ++j)
        for (int i = j; i < *n; ++i) {
            double sum = a[i + j * *n];
            for (int k = 0; k < j; ++k) sum -= a[i + k * *n] * a[j + k * *n];
            if (i == j && sum <= 0.0) *info = j + 1;
            a[i + j * *n] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / a[j + j * *n];
        }
}

inline void plain_dpotri(char*, int* n, double* a, int*, int* info) {
    const int size = *n;
    std::vector<double> inverse(size * size, 0.0);
    for (int c = 0; c < size; ++c) {
        std::vector<double> x(size, 0.0);
        x[c] = 1.0;
        for (int i = 0; i < size; ++i) {
            for (int k = 0; k < i; ++k) x[i] -= a[i + k * size] * x[k];
            x[i] /= a[i + i * size];
        }
        for (int i = size - 1; i >= 0; --i) {
            for (int k = i + 1; k < size; ++k) x[i] -= a[k + i * size] * x[k];
            x[i] /= a[i + i * size];
        }
        for (int i = 0; i < size; ++i) inverse[i + c * size] = x[i];
    }
    std::copy(inverse.begin(), inverse.end(), a);
    *info = 0;
}

template <class Real>
void plain_gemm(char* transposed, char*, int* m, int* n, int* k, Real*, Real* a, int* lda, Real* b, int* ldb, Real*,
                Real* c, int* ldc) {
    for (int j = 0; j < *n; ++j)
        for (int i = 0; i < *m; ++i) {
            Real sum = 0;
            for (int l = 0; l < *k; ++l)
                sum += (*transposed == 'T' ? a[l + i * *lda] : a[i + l * *lda]) * b[l + j * *ldb];
            c[i + j * *ldc] = sum;
        }
}

inline void use_plain_lapack() {
    sparsegam::lapack() = {plain_dpotrf, plain_dpotri, plain_gemm<double>, plain_gemm<float>};
}
