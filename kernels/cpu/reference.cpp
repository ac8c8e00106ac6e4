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

/// The comparison of one operation: each output beside its reference.
class Check {
public:
    Check(const Op& op, const Operands& operands, double most_multiply_adds) : op_(op), d_(op.dense), o_(operands) {
        const int matmuls = op.pass == Pass::train ? 3 : 1;
        share_ = most_multiply_adds / matmuls / static_cast<double>(d_.batch * d_.m) / static_cast<double>(d_.n * d_.k);
    }

    void forward() {
        const bool activated = op_.fusion != Fusion::none;
        Judge judge(result, activated ? "y" : "z", activated ? o_.y : o_.z, d_.k);
        const auto x = [&](i64 b, i64 i, i64 k) { return o_.x.get(b, i, k); };
        const auto w = [&](i64 b, i64 k, i64 j) { return o_.w.get(b, k, j); };
        each_element(d_.m, d_.n, d_.k, x, w, [&](i64 b, i64 i, i64 j, Expected want) {
            if (d_.bias) {
                want.value += o_.bias.get(b, 0, j);
                want.magnitude += std::fabs(o_.bias.get(b, 0, j));
            }
            if (activated) want.value = relu(want.value);
            judge.element(b, i, j, want);
            if (!activated) return;
            const float y = o_.y.get(b, i, j);
            if (std::signbit(y) && !std::isnan(y)) judge.fail(b, i, j, y, 0);
            if (op_.residual == Residual::mask && o_.mask.get(b, i, j) != (y > 0))
                judge.fail(b, i, j, o_.mask.get(b, i, j), y > 0);
        });
    }

    void mask() {
        Judge judge(result, "dz", o_.dz, 0);
        for (i64 b = 0; b < d_.batch; b++)
            for (const i64 i : pick(d_.m, share_ >= 1 ? d_.m : 16))
                for (i64 j = 0; j < d_.n; j++) judge.element(b, i, j, {dz(b, i, j), 0});
    }

    void dgrad() {
        Judge judge(result, "dx", o_.dx, d_.n);
        const bool masked = op_.fusion == Fusion::upstream && op_.drelu;
        const auto dz_of = [&](i64 b, i64 i, i64 k) { return dz(b, i, k); };
        const auto w = [&](i64 b, i64 k, i64 j) { return o_.w.get(b, j, k); };
        each_element(d_.m, d_.k, d_.n, dz_of, w, [&](i64 b, i64 i, i64 j, Expected want) {
            const bool shut =
                masked && !(op_.residual == Residual::mask ? o_.x_mask.get(b, i, j) : o_.x.get(b, i, j) > 0);
            judge.element(b, i, j, shut ? Expected{} : want);
        });
    }

    void wgrad(const Matrix& dw_before) {
        Judge judge(result, "dw", o_.dw, d_.m);
        const auto x = [&](i64 b, i64 i, i64 k) { return o_.x.get(b, k, i); };
        const auto dz_of = [&](i64 b, i64 k, i64 j) { return dz(b, k, j); };
        each_element(d_.k, d_.n, d_.m, x, dz_of, [&](i64 b, i64 i, i64 j, Expected want) {
            if (op_.accumulate && dw_before) {
                want.value += dw_before.get(b, i, j);
                want.magnitude += std::fabs(dw_before.get(b, i, j));
            }
            judge.element(b, i, j, want);
        });
    }

    Comparison result;

private:
    /// dZ: given, or dY where Y > 0 (or its bit is set) and 0 elsewhere, whatever dY is.
    double dz(i64 b, i64 i, i64 j) const {
        if (op_.fusion == Fusion::none || op_.fusion == Fusion::upstream) return o_.dz.get(b, i, j);
        const bool open = op_.residual == Residual::mask ? o_.mask.get(b, i, j) : o_.y.get(b, i, j) > 0;
        return open ? o_.dy.get(b, i, j) : 0.0;
    }

    /// Calls visit(problem, row, column, sum) for the elements of a·b (rows,cols) that are compared, where left(b, i,
    /// k) and right(b, k, j) give the factors' elements.
    template <class Left, class Right, class Visit>
    void each_element(i64 rows, i64 cols, i64 red, Left left, Right right, Visit visit) {
        const std::vector<i64> picked =
            pick(rows, share_ >= 1 ? rows : static_cast<i64>(share_ * static_cast<double>(rows)));
        result.rows += static_cast<i64>(picked.size()) * d_.batch;
        result.of_rows += rows * d_.batch;
        const auto width = static_cast<std::size_t>(cols);
        std::vector<double> line(width);
        for (i64 b = 0; b < d_.batch; b++) {
            std::vector<Expected> sums(picked.size() * width);
            for (i64 k = 0; k < red; k++) {
                for (i64 j = 0; j < cols; j++) line[static_cast<std::size_t>(j)] = right(b, k, j);
                for (std::size_t r = 0; r < picked.size(); r++) {
                    const double factor = left(b, picked[r], k);
                    for (std::size_t j = 0; j < width; j++) {
                        const double product = factor * line[j];
                        sums[r * width + j].value += product;
                        sums[r * width + j].magnitude += std::fabs(product);
                    }
                }
            }
            for (std::size_t r = 0; r < picked.size(); r++)
                for (std::size_t j = 0; j < width; j++) visit(b, picked[r], static_cast<i64>(j), sums[r * width + j]);
        }
    }

    const Op& op_;
    const sim::Dense& d_;
    const Operands& o_;
    double share_;
};

}  // namespace

std::string Comparison::checked() const {
    if (rows == of_rows) return "every element";
    return std::to_string(rows) + " of " + std::to_string(of_rows) + " rows";
}

Comparison compare(const Op& op, const Operands& after, const Matrix& dw_before, double most_multiply_adds) {
    Check check(op, after, most_multiply_adds);
    const bool dgrad = op.runs(Pass::dgrad), wgrad = op.runs(Pass::wgrad);
    if (op.runs(Pass::forward)) check.forward();
    if ((dgrad || wgrad) && op.fusion == Fusion::unfused) check.mask();
    if (dgrad) check.dgrad();
    if (wgrad) check.wgrad(dw_before);
    return check.result;
}

}  // namespace kernels::cpu
