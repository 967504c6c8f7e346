// core/tests/test_moves.cpp: the record of moves that failed.
#include "check.hpp"
#include "sparsegam/move_list.hpp"

using namespace sparsegam;

namespace {

void test_failed_moves_exclude_repetitions() {
    Point point;
    point.columns = {4, 7};
    FailedMoves failed;
    const Move pair{.add = 2, .also = 9, .gain = 1.0};
    failed.record(pair, point);
    CHECK(failed.excludes(pair, point), "a failed pair is excluded");
    CHECK(!failed.excludes({.add = 2, .gain = 1.0}, point), "the first column of a failed pair is not excluded alone");
    CHECK(!failed.excludes({.add = 2, .also = 9, .gain = 2.0}, point),
          "a move with twice the predicted gain is not excluded");
    failed.record({.drop = 1, .add = 2, .gain = 1.0}, point);
    Point turned;
    turned.columns = {7, 4};
    CHECK(failed.excludes({.drop = 0, .add = 2, .gain = 1.0}, turned),
          "terms are identified by their columns, not their positions");
    CHECK(!failed.excludes({.drop = 1, .add = 2, .gain = 1.0}, turned), "swaps of another term are not excluded");
    failed.clear();
    CHECK(!failed.excludes(pair, point), "clear removes all failed moves");
}

}  // namespace

int main() {
    test_failed_moves_exclude_repetitions();
    return finish("moves");
}
