// core/tests/test_projection.cpp: projections updated when columns enter and leave the support, against projections
// computed anew.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/projection.hpp"

using namespace sparsegam;

namespace {

// Random columns, curvatures of the rows and a ridge, with the products that a scan returns.
struct Problem {
    Index n = 60, p = 14;
    double ridge = 0.3;
    std::vector<double> x, h;

    explicit Problem(unsigned seed) : x(n * p), h(n) {
        std::mt19937_64 engine(seed);
        std::normal_distribution<double> normal;
        for (double& v : x) v = normal(engine);
        for (double& v : h) v = 0.05 + std::abs(normal(engine));
    }

    // x_a' (h x_b), where column -1 is the column of ones of the intercept.
    double product(Index a, Index b) const {
        double sum = 0.0;
        for (Index i = 0; i < n; ++i) sum += h[i] * (a < 0 ? 1.0 : x[a * n + i]) * (b < 0 ? 1.0 : x[b * n + i]);
        return sum;
    }

    std::vector<double> products(Index a) const {
        std::vector<double> out;
        for (Index c = 0; c < p; ++c) out.push_back(product(a, c));
        return out;
    }

    Projection project_on(std::vector<Index> support, Index capacity) const {
        support.insert(support.begin(), -1);
        const Index size = static_cast<Index>(support.size());
        Symmetric curvature(size);
        for (Index i = 0; i < size; ++i)
            for (Index j = 0; j < size; ++j)
                curvature(i, j) = product(support[i], support[j]) + (i == j && i > 0 ? ridge : 0.0);
        std::vector<Index> columns;
        std::vector<double> cross, diagonal;
        for (Index c = 0; c < p; ++c) {
            columns.push_back(c);
            diagonal.push_back(product(c, c) + ridge);
            for (Index s : support) cross.push_back(product(s, c));
        }
        Projection out(std::move(curvature), p, capacity, p);
        out.add({columns, {}, {}, cross.data(), size}, diagonal, std::vector<double>(size, 1.0));
        return out;
    }
};

void check_same(const Projection& found, const Projection& expected, const std::string& what) {
    CHECK(found.size() == expected.size(), what + ": size");
    for (Index c : found.columns()) {
        const Index i = found.slot(c), j = expected.slot(c);
        CHECK_NEAR(found.curv(i), expected.curv(j), 1e-4, what + ": V");
        CHECK_NEAR(found.intercept_curv(i), expected.intercept_curv(j), 1e-8, what + ": V for the intercept alone");
        // Compared in the units of the coefficients, which are those that moves use.
        for (Index s = 0; s < found.size(); ++s)
            CHECK_NEAR(found.q(i)[s] * found.scale(s), expected.q(j)[s] * expected.scale(s), 1e-5, what + ": Q");
    }
    for (Index s = 0; s < found.size(); ++s)
        for (Index t = 0; t < found.size(); ++t)
            CHECK_NEAR(found.inverse()(s, t) * found.scale(s) * found.scale(t),
                       expected.inverse()(s, t) * expected.scale(s) * expected.scale(t), 1e-5, what + ": M");
}

void test_join_and_leave() {
    for (unsigned seed = 0; seed < 5; ++seed) {
        const Problem problem(seed);
        Projection found = problem.project_on({2, 7, 5}, 4);
        found.join(11, problem.products(11));
        check_same(found, problem.project_on({2, 7, 5, 11}, 0), "joined");
        found.leave(2);
        check_same(found, problem.project_on({2, 5, 11}, 0), "left");
        found.join(7, problem.products(7));
        found.leave(1);
        check_same(found, problem.project_on({5, 11, 7}, 0), "joined again");
    }
}

void test_restricted_to() {
    const Problem problem(9);
    Projection found = problem.project_on({2, 7}, 0).restricted_to(std::vector<Index>{2, 3, 7, 12}, 2);
    CHECK(found.slot(4) == none && found.columns().size() == 4, "restricted_to: columns");
    CHECK(found.has_capacity(), "restricted_to: capacity");
    std::vector<double> products;
    for (Index c : found.columns()) products.push_back(problem.product(12, c));
    found.join(found.slot(12), products);
    check_same(found, problem.project_on({2, 7, 12}, 0), "restricted_to and joined");
}

}  // namespace

int main() {
    test_join_and_leave();
    test_restricted_to();
    return finish("projection");
}
