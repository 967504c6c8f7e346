// core/tests/test_tokens.cpp: rescans accept only tokens from scans of the same rows.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "sparsegam/rows_matrix.hpp"
#include "sparsegam/rows_threshold.hpp"

using namespace sparsegam;

namespace {

struct IgnoredScan final : ScanVisitor {
    void visit_gram(Gram) override {}
    void visit_block(const Block&) override {}
};

struct OtherToken final : ScanToken {};

Token scan(Rows& rows) {
    IgnoredScan visitor;
    return rows.scan(Point{}, {}, visitor);
}

bool is_refused(Rows& rows, const ScanToken& token) {
    const std::vector<Index> entered{0};
    try {
        rows.rescan(token, Point{}, entered, {}, [](const Block&) {});
        return false;
    } catch (const std::invalid_argument&) {
        return true;
    }
}

// `few` and `many` are rows of the same kind. With the token of the fewer rows, the others would read out of bounds.
void check_tokens(Rows& few, Rows& many, const std::string& kind) {
    const Token of_few = scan(few), of_many = scan(many);
    CHECK(!is_refused(few, *of_few) && !is_refused(many, *of_many), kind + ": a token of the same rows is accepted");
    CHECK(is_refused(many, *of_few), kind + ": a token of fewer rows is refused");
    CHECK(is_refused(few, *of_many), kind + ": a token of more rows is refused");
    CHECK(is_refused(few, OtherToken()), kind + ": a token of another type is refused");
}

void test_threshold_rows(Loss loss) {
    const std::vector<std::uint8_t> codes(5000, 1);
    const std::vector<double> y(5000, 1.0);
    const auto features = [&] {
        return std::vector<Feature>{{.codes = {.narrow = codes.data()}, .n_bins = 2, .n_ordered = 2}};
    };
    const ThresholdDesign small(features(), 10), large(features(), 5000);
    ThresholdRows few(small, y.data(), nullptr, loss, 1), many(large, y.data(), nullptr, loss, 1);
    check_tokens(few, many, "threshold rows");
    ThresholdRows again(small, y.data(), nullptr, loss, 1);
    CHECK(is_refused(again, *scan(few)), "a token of other rows over the same design is refused");
}

void test_matrix_rows(Loss loss) {
    std::vector<double> x(5000), ones(5000, 1.0);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1.0 : -1.0;
    const DenseMatrix<double> small(x.data(), 10, 1, false), large(x.data(), 5000, 1, false);
    MatrixRows few(small, ones.data(), ones.data(), loss, 1, 1 << 20),
        many(large, ones.data(), ones.data(), loss, 1, 1 << 20);
    check_tokens(few, many, "matrix rows");
}

}  // namespace

int main() {
    for (Loss loss : {Loss::logistic, Loss::squared}) {
        test_threshold_rows(loss);
        test_matrix_rows(loss);
    }
    return finish("tokens");
}
