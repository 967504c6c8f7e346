// sparsegam/line_rows.hpp: what the paper's own search asks of the rows beyond Rows: the loss along one column.
#pragma once

#include "rows.hpp"

namespace sparsegam {

// The loss along one column: its value and two derivatives. A model with an intercept moves along the centred column,
// which leaves the intercept's optimum nearly alone; one without it along the column as it is.
enum class Along { centred, bare };

struct LineSums {
    double value, slope, curv;
};

// The same at the start of the line, for every column.
struct Slopes {
    double value, total_grad;
    std::vector<double> slope, curv;

    LineSums at(Index column) const { return {value, slope[column], curv[column]}; }
};

class LineRows : public Rows {
  public:
    // The loss at `to`, which is `from` but for the intercept and the coefficient of one 0/1 column. Where the loss is
    // multiplicative, products with four constants, whose rounding errors stay until the next `evaluate`.
    virtual double shift(const Point& from, const Point& to, Index column) = 0;
    virtual Slopes slopes(const Point& point, Along along) = 0;
    virtual LineSums line(const Point& point, Index column, double step, Along along) = 0;
    virtual double largest(Index column, Along along) const = 0;  // of |x|, or of |x - mean|
};

}  // namespace sparsegam
