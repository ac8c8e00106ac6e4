#include "kernels/cpu/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kernels::cpu {

using sim::Fusion;
using sim::Pass;
using sim::Residual;

namespace {

/// relu as the design has it: NaN stays, both zeros become +0.
double relu(double v) { return v <= 0 ? 0.0 : v; }

/// Element (i, j) of dZ: given, or dY where Y > 0 (or its bit is set) and 0 elsewhere, whatever dY is.
double dz_element(const Op& op, const Operands& o, i64 b, i64 i, i64 j) {
    if (op.fusion == Fusion::none || op.fusion == Fusion::upstream) return o.dz.get(b, i, j);
    const bool open = op.residual == Residual::mask ? o.mask.get(b, i, j) : o.y.get(b, i, j) > 0;
    return open ? o.dy.get(b, i, j) : 0.0;
}

struct Expected {
    double value = 0, magnitude = 0;  // the sum, and the sum of absolute products
};

/// The least step of a type, the unit roundoff and the size from which values round to infinity.
struct Precision {
    double tiny, unit, overflow;
};

Precision precision(Dtype t) {
    if (t == Dtype::f16) return {0x1p-24, 0x1p-11, 65520};
    if (t == Dtype::bf16) return {0x1p-133, 0x1p-8, 0x1.ffp127};
    return {0x1p-149, 0x1p-24, 0x1.ffffffp127};
}

/// Some of `rows`, at most `count`: first, last and evenly between.
std::vector<i64> pick(i64 rows, i64 count) {
    count = std::clamp<i64>(count, std::min<i64>(rows, 2), rows);
    std::vector<i64> picked;
    for (i64 i = 0; i < count; i++) picked.push_back(count == 1 ? 0 : i * (rows - 1) / (count - 1));
    return picked;
}

/// One output matrix under comparison.
class Judge {
  public:
    Judge(Comparison& result, std::string name, const Matrix& matrix, i64 red)
        : result_(result), name_(std::move(name)), matrix_(matrix), p_(precision(matrix.dtype)) {
        slack_ = (8 + 2 * std::sqrt(static_cast<double>(red))) * 0x1p-24;
    }
    ~Judge() {
        if (largest_ > 0) result_.max_error = std::max(result_.max_error, worst_ / largest_);
    }

    void element(i64 b, i64 i, i64 j, Expected want) {
        const double got = matrix_.get(b, i, j);
        if (std::isnan(want.value) && std::isnan(got)) return;
        if (got == want.value) {
            if (std::isfinite(got)) largest_ = std::max(largest_, std::fabs(got));
            return;
        }
        const double allowed = slack_ * want.magnitude + 2 * p_.unit * std::fabs(want.value) + p_.tiny;
        const double off = std::fabs(got - want.value);
        const bool overflowed = std::isinf(got) && std::signbit(got) == std::signbit(want.value) &&
                                std::fabs(want.value) + allowed >= p_.overflow;
        if (!overflowed && !(off <= allowed)) fail(b, i, j, got, want.value);
        if (std::isfinite(got) && std::isfinite(want.value)) {
            worst_ = std::max(worst_, off);
            largest_ = std::max(largest_, std::fabs(want.value));
        }
    }
    void fail(i64 b, i64 i, i64 j, double got, double want) {
        if (result_.first_wrong.empty())
            result_.first_wrong = name_ + "(" + std::to_string(i) + ", " + std::to_string(j) + ") of problem " +
                                  std::to_string(b) + " is " + std::to_string(got) + ", expected " +
                                  std::to_string(want);
    }

  private:
    Comparison& result_;
    const std::string name_;
    const Matrix& matrix_;
    const Precision p_;
    double slack_ = 0, worst_ = 0, largest_ = 0;
};

/// Rows `rows` of a·b, where a(i, k) and b(k, j) are functions; the rows one after another.
template <class A, class B>
std::vector<Expected> product_rows(const std::vector<i64>& rows, i64 cols, i64 red, A a, B b) {
    std::vector<Expected> sums(rows.size() * static_cast<std::size_t>(cols));
    std::vector<double> line(static_cast<std::size_t>(cols));
    for (i64 k = 0; k < red; k++) {
        for (i64 j = 0; j < cols; j++) line[static_cast<std::size_t>(j)] = b(k, j);
        for (std::size_t r = 0; r < rows.size(); r++) {
            const double factor = a(rows[r], k);
            Expected* sum = sums.data() + r * static_cast<std::size_t>(cols);
            for (i64 j = 0; j < cols; j++) {
                const double product = factor * line[static_cast<std::size_t>(j)];
                sum[j].value += product;
                sum[j].magnitude += std::fabs(product);
            }
        }
    }
    return sums;
}

}  // namespace

std::string Comparison::checked() const {
    if (rows == of_rows) return "every element";
    return std::to_string(rows) + " of " + std::to_string(of_rows) + " rows";
}

Comparison compare(const Op& op, const Operands& o, const Matrix& dw_before, double most_multiply_adds) {
    Comparison result;
    const sim::Dense& d = op.dense;
    const int matmuls = op.pass == Pass::train ? 3 : 1;
    const double share = most_multiply_adds / matmuls / static_cast<double>(d.batch) / d.m / d.n / d.k;
    const auto picked = [&](i64 rows) {
        result.of_rows += rows * d.batch;
        auto some = pick(rows, share >= 1 ? rows : static_cast<i64>(share * static_cast<double>(rows)));
        result.rows += static_cast<i64>(some.size()) * d.batch;
        return some;
    };
    const auto dz = [&](i64 b) { return [&op, &o, b](i64 i, i64 j) { return dz_element(op, o, b, i, j); }; };
    const auto of = [](const Matrix& m, i64 b) { return [&m, b](i64 i, i64 j) { return double{m.get(b, i, j)}; }; };

    if (op.runs(Pass::forward)) {
        const bool activated = op.fusion != Fusion::none;
        const std::vector<i64> rows = picked(d.m);
        Judge judge(result, activated ? "y" : "z", activated ? o.y : o.z, d.k);
        for (i64 b = 0; b < d.batch; b++) {
            std::vector<Expected> sums = product_rows(rows, d.n, d.k, of(o.x, b), of(o.w, b));
            for (std::size_t r = 0; r < rows.size(); r++)
                for (i64 j = 0; j < d.n; j++) {
                    Expected want = sums[r * static_cast<std::size_t>(d.n) + static_cast<std::size_t>(j)];
                    if (d.bias) {
                        want.value += o.bias.get(b, 0, j);
                        want.magnitude += std::fabs(o.bias.get(b, 0, j));
                    }
                    if (activated) want.value = relu(want.value);
                    judge.element(b, rows[r], j, want);
                    if (activated && std::signbit(o.y.get(b, rows[r], j)) && !std::isnan(o.y.get(b, rows[r], j)))
                        judge.fail(b, rows[r], j, o.y.get(b, rows[r], j), 0);
                    if (activated && op.residual == Residual::mask &&
                        o.mask.get(b, rows[r], j) != (o.y.get(b, rows[r], j) > 0))
                        judge.fail(b, rows[r], j, o.mask.get(b, rows[r], j), o.y.get(b, rows[r], j));
                }
        }
    }
    const bool dgrad = op.runs(Pass::dgrad), wgrad = op.runs(Pass::wgrad);
    if ((dgrad || wgrad) && op.fusion == Fusion::unfused) {
        Judge judge(result, "dz", o.dz, 0);
        for (i64 b = 0; b < d.batch; b++)
            for (const i64 i : pick(d.m, share >= 1 ? d.m : 16))
                for (i64 j = 0; j < d.n; j++) judge.element(b, i, j, {dz_element(op, o, b, i, j), 0});
    }
    if (dgrad) {
        const std::vector<i64> rows = picked(d.m);
        Judge judge(result, "dx", o.dx, d.n);
        const bool masked = op.fusion == Fusion::upstream && op.drelu;
        for (i64 b = 0; b < d.batch; b++) {
            const auto w = [&](i64 i, i64 j) { return double{o.w.get(b, j, i)}; };
            const std::vector<Expected> sums = product_rows(rows, d.k, d.n, dz(b), w);
            for (std::size_t r = 0; r < rows.size(); r++)
                for (i64 j = 0; j < d.k; j++) {
                    const bool open = !masked || (op.residual == Residual::mask ? o.x_mask.get(b, rows[r], j)
                                                                                : o.x.get(b, rows[r], j) > 0);
                    const Expected want = sums[r * static_cast<std::size_t>(d.k) + static_cast<std::size_t>(j)];
                    judge.element(b, rows[r], j, open ? want : Expected{});
                }
        }
    }
    if (wgrad) {
        const std::vector<i64> rows = picked(d.k);
        Judge judge(result, "dw", o.dw, d.m);
        for (i64 b = 0; b < d.batch; b++) {
            const auto x = [&](i64 i, i64 j) { return double{o.x.get(b, j, i)}; };
            std::vector<Expected> sums = product_rows(rows, d.n, d.m, x, dz(b));
            for (std::size_t r = 0; r < rows.size(); r++)
                for (i64 j = 0; j < d.n; j++) {
                    Expected want = sums[r * static_cast<std::size_t>(d.n) + static_cast<std::size_t>(j)];
                    if (op.accumulate && dw_before) {
                        want.value += dw_before.get(b, rows[r], j);
                        want.magnitude += std::fabs(dw_before.get(b, rows[r], j));
                    }
                    judge.element(b, rows[r], j, want);
                }
        }
    }
    return result;
}

}  // namespace kernels::cpu
