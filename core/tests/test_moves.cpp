// core/tests/test_moves.cpp: the record of moves that failed.
#include "check.hpp"
#include "sparsegam/move_list.hpp"

using namespace sparsegam;

namespace {

void test_failed_moves() {
    Point point;
    point.columns = {4, 7};
    FailedMoves failed;
    const Move pair{.add = 2, .also = 9, .gain = 1.0};
    failed.record(pair, point);
    CHECK(failed.excludes(pair, point), "a pair that failed is not tried again");
    CHECK(!failed.excludes({.add = 2, .gain = 1.0}, point), "the first column of a failed pair may be added alone");
    CHECK(!failed.excludes({.add = 2, .also = 9, .gain = 2.0}, point),
          "a move that looks twice as good is tried again");
    failed.record({.drop = 1, .add = 2, .gain = 1.0}, point);
    Point turned;
    turned.columns = {7, 4};
    CHECK(failed.excludes({.drop = 0, .add = 2, .gain = 1.0}, turned), "a term is known by its column, not its place");
    CHECK(!failed.excludes({.drop = 1, .add = 2, .gain = 1.0}, turned), "another term may be swapped for the column");
    failed.clear();
    CHECK(!failed.excludes(pair, point), "a new size is a new start");
}

}  // namespace

int main() {
    test_failed_moves();
    return finish("moves");
}
