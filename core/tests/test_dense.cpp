// core/tests/test_dense.cpp: matrix products, Gram matrices, the inverse and sums over raw columns, with every table of
// kernels, against their definitions.
#define SPARSEGAM_ARCH baseline
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "tables.hpp"

using namespace sparsegam;

namespace {

std::mt19937_64 random_engine(5);

double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_engine); }

template <class Real>
std::vector<Real> numbers(std::int64_t n) {
    std::vector<Real> out(n);
    for (Real& x : out) x = static_cast<Real>(uniform(-1.0, 1.0));
    return out;
}

// Both matrices stored by rows or by columns, with sizes around those of a panel. C is not zero at the start.
template <class Real>
void check_product(const NamedTable& named, std::int64_t m, std::int64_t n, std::int64_t k, bool a_rows, bool b_rows) {
    const auto a = numbers<Real>(m * k), b = numbers<Real>(k * n);
    auto c = numbers<Real>(m * n);
    const auto before = c;
    const std::int64_t a_down = a_rows ? k : 1, a_across = a_rows ? 1 : m;
    const std::int64_t b_down = b_rows ? n : 1, b_across = b_rows ? 1 : k;
    named.table->dense<Real>().add_product({m, n, k, a.data(), a_down, a_across, b.data(), b_down, b_across, c.data()});
    const double tolerance = (sizeof(Real) == 4 ? 1e-6 : 1e-15) * static_cast<double>(k + 2);
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
            double sum = static_cast<double>(before[j * m + i]);
            for (std::int64_t l = 0; l < k; ++l)
                sum += double(a[i * a_down + l * a_across]) * double(b[l * b_down + j * b_across]);
            CHECK_NEAR(
                c[j * m + i], sum, tolerance,
                named.name + " product " + std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n));
        }
}

void test_products(const NamedTable& named) {
    for (std::int64_t m : {0, 1, 2, 3, 5, 6, 7, 11, 12, 13, 24, 25, 49, 50})
        for (std::int64_t n : {0, 1, 3, 4, 5, 9})
            for (std::int64_t k : {0, 1, 2, 17, 512, 513})
                for (int order = 0; order < 4; ++order) {
                    check_product<float>(named, m, n, k, order & 1, order & 2);
                    check_product<double>(named, m, n, k, order & 1, order & 2);
                }
}

// Entries below the diagonal are unspecified.
template <class Real>
void check_gram(const NamedTable& named, std::int64_t n, std::int64_t size) {
    std::vector<std::vector<double>> columns;
    std::vector<const double*> x;
    for (std::int64_t j = 0; j < size; ++j) columns.push_back(numbers<double>(n));
    for (const auto& column : columns) x.push_back(column.data());
    const auto weight = numbers<double>(n);
    auto gram = numbers<Real>(size * size);
    const auto before = gram;
    std::vector<Real> work(gram_room(size) + 1, Real(7));
    named.table->dense<Real>().add_gram(n, size, x.data(), weight.data(), gram.data(), work.data());
    CHECK(work.back() == Real(7), named.name + " add_gram writes beyond its workspace");
    const double tolerance = (sizeof(Real) == 4 ? 1e-6 : 1e-15) * static_cast<double>(n + 2);
    for (std::int64_t j = 0; j < size; ++j)
        for (std::int64_t i = 0; i <= j; ++i) {
            double sum = static_cast<double>(before[j * size + i]);
            for (std::int64_t l = 0; l < n; ++l) sum += weight[l] * x[i][l] * x[j][l];
            CHECK_NEAR(gram[j * size + i], sum, tolerance, named.name + " gram of " + std::to_string(size));
        }
}

void test_gram(const NamedTable& named) {
    for (std::int64_t n : {0, 1, 7, 64, 511, 512, 513, 1100})
        for (std::int64_t size : {0, 1, 2, 3, 4, 5, 8, 23}) {
            check_gram<float>(named, n, size);
            check_gram<double>(named, n, size);
        }
}

void test_dot(const NamedTable& named) {
    for (std::int64_t n : {0, 1, 5, 8, 63, 1000}) {
        const auto a = numbers<double>(n), b = numbers<double>(n);
        double sum = 0.0;
        for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
        CHECK_NEAR(named.table->dot(n, a.data(), b.data()), sum, 1e-13, named.name + " dot");
    }
}

void test_inverse(const NamedTable& named) {
    for (std::int64_t n : {0, 1, 2, 3, 8, 31, 64}) {
        const auto x = numbers<double>(n * (n + 4));
        std::vector<double> matrix(n * n), work(n * n);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t l = 0; l < n + 4; ++l) matrix[i * n + j] += x[i * (n + 4) + l] * x[j * (n + 4) + l];
        const auto original = matrix;
        CHECK(named.table->invert(n, matrix.data(), work.data()), named.name + " a positive definite matrix");
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0.0;
                for (std::int64_t l = 0; l < n; ++l) sum += matrix[i * n + l] * original[l * n + j];
                CHECK_NEAR(sum, i == j ? 1.0 : 0.0, 1e-8, named.name + " inverse of size " + std::to_string(n));
                CHECK(matrix[i * n + j] == matrix[j * n + i], named.name + " the inverse is symmetric");
            }
    }
    std::vector<double> singular{1.0, 1.0, 1.0, 1.0}, work(4);
    CHECK(!named.table->invert(2, singular.data(), work.data()), named.name + " a singular matrix is refused");
    std::vector<double> nothing{std::nan("")};
    CHECK(!named.table->invert(1, nothing.data(), work.data()), named.name + " a matrix with NaN is refused");
}

template <class Real>
void test_squares(const NamedTable& named) {
    for (std::int64_t n : {0, 1, 3, 4, 9, 250}) {
        std::vector<double> weight(n), sums(n + 1, 0.5), expected(n + 1, 0.5);
        std::vector<Real> x(n);
        double total = 0.0;
        for (std::int64_t i = 0; i < n; ++i) {
            weight[i] = uniform(0.0, 2.0), x[i] = static_cast<Real>(uniform(-3.0, 3.0));
            total += weight[i] * double(x[i]) * double(x[i]);
            expected[i] += 0.7 * double(x[i]) * double(x[i]);
        }
        const auto& dense = named.table->dense<Real>();
        CHECK_NEAR(dense.sum_squares(n, weight.data(), x.data()), total, 1e-14 * total, named.name + " sum_squares");
        dense.add_squares(n, 0.7, x.data(), sums.data());
        for (std::int64_t i = 0; i <= n; ++i)
            CHECK_NEAR(sums[i], expected[i], 1e-14 * expected[i], named.name + " add_squares");
    }
}

void test_add_columns(const NamedTable& named) {
    for (std::int64_t n : {0, 1, 3, 4, 9, 250})
        for (std::int64_t k = 0; k < 10; ++k) {
            std::vector<double> values(n * k), coef(k), score(n + 1, 0.5), expected(n + 1, 0.5);
            for (auto& x : values) x = uniform(-1.0, 1.0);
            std::vector<const double*> columns;
            for (std::int64_t j = 0; j < k; ++j) {
                coef[j] = uniform(-2.0, 2.0);
                columns.push_back(values.data() + j * n);
                for (std::int64_t i = 0; i < n; ++i) expected[i] += coef[j] * columns[j][i];
            }
            named.table->add_columns(n, k, coef.data(), columns.data(), score.data());
            for (std::int64_t i = 0; i <= n; ++i) CHECK_NEAR(score[i], expected[i], 1e-13, named.name + " add_columns");
        }
}

void test_sparse_products(const NamedTable& named) {
    for (std::int64_t n : {0, 1, 50})
        for (std::int64_t m = 1; m < 20; ++m) {
            std::vector<std::int32_t> rows(n);
            std::vector<double> values(n), channels(100 * m), out(m + 1, 0.5), expected(m + 1, 0.5);
            for (auto& c : channels) c = uniform(-1.0, 1.0);
            for (std::int64_t i = 0; i < n; ++i) {
                rows[i] = static_cast<std::int32_t>(random_engine() % 100), values[i] = uniform(-1.0, 1.0);
                for (std::int64_t j = 0; j < m; ++j) expected[j] += values[i] * channels[rows[i] * m + j];
            }
            named.table->sparse_products(n, rows.data(), values.data(), m, channels.data(), out.data());
            for (std::int64_t j = 0; j <= m; ++j)
                CHECK_NEAR(out[j], expected[j], 1e-13, named.name + " sparse_products");
        }
}

}  // namespace

int main() {
    for (const NamedTable& named : tables()) {
        test_products(named);
        test_gram(named);
        test_dot(named);
        test_inverse(named);
        test_squares<float>(named);
        test_squares<double>(named);
        test_add_columns(named);
        test_sparse_products(named);
    }
    return finish("dense");
}
