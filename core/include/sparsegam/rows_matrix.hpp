// sparsegam/rows_matrix.hpp: Rows of a matrix of raw columns: a scan is one product of the matrix with [g, h, h x_1 ...
// h x_k].
//
// For the squared loss, h never changes. X' diag(s) x_j is computed once, when column j enters a support, and cached.
// Gradients follow from these products, so that a scan needs no pass over the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel_table.hpp"
#include "linalg.hpp"
#include "matrix.hpp"
#include "parallel.hpp"
#include "rows_local.hpp"

namespace sparsegam {

// A cache of vectors by column. Vectors that are not in use are dropped when they take too much memory.
class ColumnCache {
  public:
    explicit ColumnCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    const std::vector<double>* find(Index column) const {
        const auto at = columns_.find(column);
        return at == columns_.end() ? nullptr : &at->second;
    }

    const std::vector<double>& keep(Index column, std::vector<double> values) {
        return columns_[column] = std::move(values);
    }

    // Frees memory if necessary, except for the columns in use.
    void trim(std::span<const Index> in_use) {
        if (columns_.empty() || columns_.size() * columns_.begin()->second.size() * sizeof(double) <= max_bytes_)
            return;
        std::erase_if(columns_, [&](const auto& entry) {
            return std::find(in_use.begin(), in_use.end(), entry.first) == in_use.end();
        });
    }

  private:
    std::size_t max_bytes_;
    std::unordered_map<Index, std::vector<double>> columns_;
};

// X' diag(h) X of a few columns. The rows are split into parts whose number depends on the number of rows only, so that
// results do not depend on the number of threads.
template <class Real>
Symmetric gram_of(Index n_rows, const std::vector<const double*>& x, const double* h, Pool& pool) {
    // Each part has its own matrix.
    constexpr Index min_rows = 4096, max_parts = 64;
    const Index size = static_cast<Index>(x.size()), rows = std::max(min_rows, (n_rows + max_parts - 1) / max_parts);
    std::vector<std::vector<Real>> sums((n_rows + rows - 1) / rows);
    pool.run(static_cast<Index>(sums.size()), [&](Index part) {
        const Index begin = part * rows;
        std::vector<const double*> here;
        for (const double* column : x) here.push_back(column + begin);
        std::vector<Real> work(gram_room(size));
        sums[part].resize(size * size);
        matrix_kernels().dense<Real>().add_gram(std::min(rows, n_rows - begin), size, here.data(), h + begin,
                                                sums[part].data(), work.data());
    });
    Symmetric gram(size);
    for (const auto& sum : sums)
        for (Index j = 0; j < size; ++j)
            for (Index i = 0; i <= j; ++i) gram(i, j) += sum[j * size + i];
    for (Index j = 0; j < size; ++j)
        for (Index i = 0; i < j; ++i) gram(j, i) = gram(i, j);
    return gram;
}

class MatrixRows : public LocalRows {
  public:
    MatrixRows(const Matrix& matrix, const double* y, const double* weight, Loss loss, Index n_threads,
               std::size_t max_bytes)
        : LocalRows(matrix.n_rows(), y, weight, loss, n_threads, matrix_kernels()),
          matrix_(matrix),
          max_bytes_(std::min(max_bytes, std::max(min_bytes, 2 * matrix.bytes(matrix.n_columns())))),
          all_(matrix.n_columns()),
          cached_columns_(max_bytes_ / 4),
          products_(max_bytes_ / 2),
          shortlist_products_(max_bytes_ / 4) {
        std::iota(all_.begin(), all_.end(), Index{0});
        measure();
        if (matrix.bytes(matrix.n_columns()) <= max_bytes_ / 2) float_matrix_ = matrix.in_floats();
    }

    double largest(Index column, Along along) const override {
        std::vector<double> x(n_rows_);
        matrix_.gather(column, x.data());
        double most = 0.0;
        for (double v : x) most = std::max(most, std::abs(v - origin(column, along)));
        return most;
    }

    NewtonSums newton(const Point& point, std::span<const Index> support, bool low_precision) override {
        evaluate_at(point);
        return {total_.value, gram(support, low_precision)};
    }

    Token scan(const Point& point, std::span<const Index> selected, ScanVisitor& visitor) override {
        select_columns(selected);
        evaluate_at(point);
        auto frozen = new_token();
        visitor.visit_gram(gram(point.columns, true));
        if (curvature_is_constant()) {
            scan_cached(point, visitor);
        } else {
            frozen->curv = curv_;
            scan_direct(point.columns, visitor);
        }
        return frozen;
    }

    double rescan(const ScanToken& token, const Point& point, std::span<const Index> entered,
                  std::span<const Index> selected, const BlockCallback& take) override {
        const std::vector<double>& frozen = frozen_curvature(token);
        select_columns(selected);
        evaluate_at(point);
        if (curvature_is_constant())
            rescan_cached(point, entered, take);
        else
            rescan_direct(frozen, entered, take);
        return total_.grad;
    }

    GroupSums groups(const Point&, std::span<const Index>) override {
        throw std::logic_error("this operation requires 0/1 columns");
    }

    // Along x - m: slope x'g - m 1'g, curvature x'(h x) - 2m x'h + m^2 1'h.
    Slopes slopes(const Point& point, Along along) override {
        evaluate_at(point);
        const Index p = matrix_.n_columns();
        std::vector<double> channels(2 * n_rows_), sums(2 * p);
        for (Index i = 0; i < n_rows_; ++i) {
            channels[2 * i] = grad_[i];
            channels[2 * i + 1] = curv_[i];
        }
        multiply(matrix_, 0, p, channels.data(), 2, sums.data());
        Slopes out{total_.value, total_.grad, std::vector<double>(p), std::vector<double>(p)};
        square(matrix_, 0, p, curv_.data(), out.curv.data());
        for (Index c = 0; c < p; ++c) {
            const double m = origin(c, along);
            out.slope[c] = sums[2 * c] - m * total_.grad;
            out.curv[c] += m * (m * total_.curv - 2.0 * sums[2 * c + 1]);
        }
        return out;
    }

  protected:
    void prepare_column(Index c) override { column(c); }

    void values(Index c, Index begin, Index end, double* out) const override {
        const double* cached = cached_columns_.find(c)->data();
        std::copy(cached + begin, cached + end, out);
    }

    void trim_cache(std::span<const Point> points) override {
        std::vector<Index> in_use;
        for (const Point& point : points) in_use.insert(in_use.end(), point.columns.begin(), point.columns.end());
        cached_columns_.trim(in_use);
    }

    std::unique_ptr<Scorer> scorer(std::span<const Point> points) override {
        const Point& point = points[0];
        std::vector<const double*> chosen;
        for (Index c : point.columns) chosen.push_back(column(c).data());
        return std::make_unique<ColumnScorer>(point, std::move(chosen));
    }

  private:
    // Minimum memory for caches, even for small matrices.
    static constexpr std::size_t min_bytes = std::size_t{1} << 25;
    // Number of columns in one product. It is fixed, so that results do not depend on the number of threads.
    static constexpr Index chunk = 256;
    // Number of columns passed to a visitor at a time, which limits the memory of a scan.
    static constexpr Index batch = 8 * chunk;
    static constexpr double cancellation_limit =
        // If centred_sq_norm is below this share of the sum of squares, it suffers from cancellation and is computed
        // again from centred values.
        1e-6;
    // With more columns than this, a shortlist saves work.
    static constexpr Index many_columns = 400;

    class ColumnScorer final : public Scorer {
      public:
        ColumnScorer(const Point& point, std::vector<const double*> chosen)
            : intercept_(point.intercept), coef_(point.coef), chosen_(std::move(chosen)) {}
        void score(Index begin, Index end, Index, double* score) const override {
            std::fill(score, score + (end - begin), intercept_);
            std::vector<const double*> here;
            for (const double* column : chosen_) here.push_back(column + begin);
            matrix_kernels().add_columns(end - begin, static_cast<Index>(here.size()), coef_.data(), here.data(),
                                         score);
        }

      private:
        double intercept_;
        std::vector<double> coef_;
        std::vector<const double*> chosen_;
    };

    bool curvature_is_constant() const { return traits(loss_).constant_curvature; }

    Gram gram(std::span<const Index> support, bool low_precision) {
        if (curvature_is_constant()) return cached_gram(support);
        return low_precision ? direct_gram<float>(support) : direct_gram<double>(support);
    }

    // x'g in float64.
    double slope(const std::vector<double>& x) const { return matrix_kernels().dot(n_rows_, grad_.data(), x.data()); }

    const std::vector<double>& column(Index c) {
        if (const auto* cached = cached_columns_.find(c)) return *cached;
        std::vector<double> values(n_rows_);
        matrix_.gather(c, values.data());
        return cached_columns_.keep(c, std::move(values));
    }

    // Restricts scans to some columns, which are copied to contiguous memory; all columns if empty.
    void select_columns(std::span<const Index> selected) {
        if (std::equal(selected.begin(), selected.end(), shortlist_.begin(), shortlist_.end())) return;
        shortlist_products_ = ColumnCache(max_bytes_ / 4);
        shortlist_matrix_.reset();
        shortlist_.assign(selected.begin(), selected.end());
        if (!selected.empty()) shortlist_matrix_ = full_matrix().pick(selected);
    }

    const Matrix& full_matrix() const { return float_matrix_ ? *float_matrix_ : matrix_; }
    const Matrix& active_matrix() const { return shortlist_matrix_ ? *shortlist_matrix_ : full_matrix(); }
    std::span<const Index> active_columns() const { return shortlist_matrix_ ? shortlist_ : all_; }

    // Computes products of the channels with columns [first, first + count), in chunks, using all threads.
    void multiply(const Matrix& matrix, Index first, Index count, const double* channels, Index m, double* out) {
        pool_.run((count + chunk - 1) / chunk, [&](Index t) {
            const Index from = t * chunk, size = std::min(chunk, count - from);
            matrix.products(first + from, size, channels, m, out + from * m);
        });
    }

    void square(const Matrix& matrix, Index first, Index count, const double* weight, double* out) {
        pool_.run((count + chunk - 1) / chunk, [&](Index t) {
            const Index from = t * chunk, size = std::min(chunk, count - from);
            matrix.squares(first + from, size, weight, out + from);
        });
    }

    void measure() {
        const Index p = matrix_.n_columns();
        std::vector<double> weighted_y(n_rows_);
        for (Index i = 0; i < n_rows_; ++i) {
            weighted_y[i] = weight_[i] * y_[i];
            columns_.total_weight += weight_[i];
        }
        const double total = columns_.total_weight;
        for (auto* sums : {&sums_, &with_y_, &squares_}) sums->resize(p);
        pool_.run((p + chunk - 1) / chunk, [&](Index t) {
            const Index first = t * chunk, count = std::min(chunk, p - first);
            matrix_.sums(first, count, weight_, sums_.data() + first);
            matrix_.sums(first, count, weighted_y.data(), with_y_.data() + first);
            matrix_.squares(first, count, weight_, squares_.data() + first);
        });
        columns_.kind.assign(p, ColumnKind::raw);
        for (Index c = 0; c < p; ++c) {
            columns_.mean.push_back(sums_[c] / total);
            columns_.centred_sq_norm.push_back(std::max(squares_[c] - sums_[c] * sums_[c] / total, 0.0));
            if (columns_.centred_sq_norm[c] < cancellation_limit * squares_[c])
                columns_.centred_sq_norm[c] = centred_squares(c);
        }
        if (p > many_columns)
            columns_.shortlist = static_cast<Index>(max_bytes_ / 4 / std::max(matrix_.bytes(1), std::size_t{1}));
    }

    double centred_squares(Index c) const {
        std::vector<double> x(n_rows_);
        matrix_.gather(c, x.data());
        double sum = 0.0;
        for (Index i = 0; i < n_rows_; ++i) sum += weight_[i] * (x[i] - columns_.mean[c]) * (x[i] - columns_.mean[c]);
        return sum;
    }

    // --- Losses of varying curvature: every sum is computed anew

    // Gradient in float64, curvature in float32 or float64.
    template <class Real>
    Gram direct_gram(std::span<const Index> support) {
        const Index size = static_cast<Index>(support.size()) + 1;
        Gram gram{Symmetric(size), {total_.grad}};
        ones_of_all_.resize(n_rows_, 1.0);
        std::vector<const double*> x{ones_of_all_.data()};
        for (Index c : support) {
            x.push_back(column(c).data());
            gram.grad.push_back(slope(column(c)));
        }
        gram.curv = gram_of<Real>(n_rows_, x, curv_.data(), pool_);
        return gram;
    }

    void rescan_direct(const std::vector<double>& frozen, std::span<const Index> entered, const BlockCallback& take) {
        const Index m = static_cast<Index>(entered.size()) + 1, p = active_matrix().n_columns();
        std::vector<double> channels(n_rows_ * m);
        for (Index i = 0; i < n_rows_; ++i) channels[i * m] = grad_[i];
        for (Index j = 1; j < m; ++j) {
            const double* x = column(entered[j - 1]).data();
            for (Index i = 0; i < n_rows_; ++i) channels[i * m + j] = frozen[i] * x[i];
        }
        std::vector<double> sums(std::min(p, batch) * m);
        for (Index first = 0; first < p; first += batch) {
            const Index count = std::min(batch, p - first);
            multiply(active_matrix(), first, count, channels.data(), m, sums.data());
            take({active_columns().subspan(first, count), {sums.data(), m}, {}, sums.data() + 1, m});
        }
    }

    void scan_direct(std::span<const Index> support, ScanVisitor& visitor) {
        const Index m = static_cast<Index>(support.size()) + 2, p = active_matrix().n_columns();
        std::vector<double> channels(n_rows_ * m);
        for (Index i = 0; i < n_rows_; ++i) {
            channels[i * m] = grad_[i];
            channels[i * m + 1] = curv_[i];
        }
        for (Index j = 2; j < m; ++j) {
            const double* x = column(support[j - 2]).data();
            for (Index i = 0; i < n_rows_; ++i) channels[i * m + j] = curv_[i] * x[i];
        }
        std::vector<double> sums(std::min(p, batch) * m), curv(std::min(p, batch));
        for (Index first = 0; first < p; first += batch) {
            const Index count = std::min(batch, p - first);
            multiply(active_matrix(), first, count, channels.data(), m, sums.data());
            square(active_matrix(), first, count, curv_.data(), curv.data());
            visitor.visit_block(
                {active_columns().subspan(first, count), {sums.data(), m}, {curv.data(), 1}, sums.data() + 1, m});
        }
    }

    // --- Squared loss: columns of X'X are cached

    // Returns the products of the support with the selected columns.
    ColumnCache& cache_products(std::span<const Index> support) {
        ColumnCache& cached = shortlist_matrix_ ? shortlist_products_ : products_;
        cached.trim(support);
        std::vector<Index> missing;
        for (Index c : support)
            if (!cached.find(c) && !(shortlist_matrix_ && copy_to_shortlist(c))) missing.push_back(c);
        if (missing.empty()) return cached;
        const Index m = static_cast<Index>(missing.size()), p = active_matrix().n_columns();
        std::vector<double> channels(n_rows_ * m), sums(p * m);
        for (Index j = 0; j < m; ++j) {
            const double* x = column(missing[j]).data();
            for (Index i = 0; i < n_rows_; ++i) channels[i * m + j] = weight_[i] * x[i];
        }
        multiply(active_matrix(), 0, p, channels.data(), m, sums.data());
        for (Index j = 0; j < m; ++j) {
            std::vector<double> product(p);
            for (Index c = 0; c < p; ++c) product[c] = sums[c * m + j];
            cached.keep(missing[j], std::move(product));
        }
        return cached;
    }

    bool copy_to_shortlist(Index c) {
        const auto* full_matrix = products_.find(c);
        if (!full_matrix) return false;
        std::vector<double> part;
        for (Index id : shortlist_) part.push_back((*full_matrix)[id]);
        shortlist_products_.keep(c, std::move(part));
        return true;
    }

    double product(Index a, Index b) {
        if (a == b) return squares_[a];
        if (const auto* cached = products_.find(a)) return (*cached)[b];
        if (const auto* cached = products_.find(b)) return (*cached)[a];
        const double *x = column(a).data(), *z = column(b).data();
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index i = 0; i < n_rows_; ++i) sum += weight_[i] * x[i] * z[i];
        return sum;
    }

    Gram cached_gram(std::span<const Index> support) {
        const Index k = static_cast<Index>(support.size());
        Gram gram{Symmetric(k + 1), std::vector<double>(k + 1)};
        gram.curv(0, 0) = columns_.total_weight;
        gram.grad[0] = total_.grad;
        for (Index i = 0; i < k; ++i) {
            const Index c = support[i];
            gram.curv(0, i + 1) = gram.curv(i + 1, 0) = sums_[c];
            for (Index j = 0; j <= i; ++j) gram.curv(i + 1, j + 1) = gram.curv(j + 1, i + 1) = product(c, support[j]);
            gram.grad[i + 1] = slope(column(c));
        }
        return gram;
    }

    void scan_cached(const Point& point, ScanVisitor& visitor) {
        ColumnCache& cache = cache_products(point.columns);
        const Index size = point.size() + 1, p = active_matrix().n_columns();
        std::vector<const double*> cached;
        for (Index c : point.columns) cached.push_back(cache.find(c)->data());
        std::vector<double> grad(std::min(p, batch)), curv(std::min(p, batch)), cross(std::min(p, batch) * size);
        for (Index first = 0; first < p; first += batch) {
            const auto columns = active_columns().subspan(first, std::min(batch, p - first));
            gradient(point, columns, first, cached, grad);
            for (std::size_t i = 0; i < columns.size(); ++i) {
                curv[i] = squares_[columns[i]];
                cross[i * size] = sums_[columns[i]];
                for (Index j = 1; j < size; ++j) cross[i * size + j] = cached[j - 1][first + i];
            }
            visitor.visit_block({columns, {grad.data(), 1}, {curv.data(), 1}, cross.data(), size});
        }
    }

    void rescan_cached(const Point& point, std::span<const Index> entered, const BlockCallback& take) {
        std::vector<Index> needed = point.columns;
        needed.insert(needed.end(), entered.begin(), entered.end());
        ColumnCache& cache = cache_products(needed);
        const Index m = static_cast<Index>(entered.size()), p = active_matrix().n_columns();
        std::vector<const double*> cached, entered_products;
        for (Index c : point.columns) cached.push_back(cache.find(c)->data());
        for (Index c : entered) entered_products.push_back(cache.find(c)->data());
        std::vector<double> grad(std::min(p, batch)), cross(std::min(p, batch) * m);
        for (Index first = 0; first < p; first += batch) {
            const auto columns = active_columns().subspan(first, std::min(batch, p - first));
            gradient(point, columns, first, cached, grad);
            for (std::size_t i = 0; i < columns.size(); ++i)
                for (Index j = 0; j < m; ++j) cross[i * m + j] = entered_products[j][first + i];
            take({columns, {grad.data(), 1}, {}, cross.data(), m});
        }
    }

    // Since g = s (f - y), x_c' g = b x_c's + sum_j w_j x_c'(s x_j) - x_c'(s y).
    void gradient(const Point& point, std::span<const Index> columns, Index first,
                  const std::vector<const double*>& cached, std::vector<double>& grad) const {
        for (std::size_t i = 0; i < columns.size(); ++i)
            grad[i] = sums_[columns[i]] * point.intercept - with_y_[columns[i]];
        for (std::size_t j = 0; j < cached.size(); ++j) {
            const double w = point.coef[j], *product = cached[j] + first;
            for (std::size_t i = 0; i < columns.size(); ++i) grad[i] += w * product[i];
        }
    }

    const Matrix& matrix_;
    // Memory for caches: the given limit, but at most twice the size of the matrix.
    std::size_t max_bytes_;
    // The matrix in float32, for scans.
    std::unique_ptr<Matrix> float_matrix_;
    // The columns of the shortlist, if scans are restricted to it.
    std::unique_ptr<Matrix> shortlist_matrix_;
    std::vector<Index> all_, shortlist_;
    // x_j, X' diag(s) x_j, and its entries for the shortlist.
    ColumnCache cached_columns_, products_, shortlist_products_;
    // The column of the intercept.
    std::vector<double> ones_of_all_;
    // x's, x'(s y) and x'(s x) of each column.
    std::vector<double> sums_, with_y_, squares_;
};

}  // namespace sparsegam
