#include "kernels/special_values.hpp"

#include <iterator>
#include <limits>

namespace kernels {
namespace {

void add_special_values(const Matrix& m, i64 batch, std::uint64_t seed) {
    if (!m) return;
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const float special[] = {nan, inf, -inf, -0.0f, 1e-40f, -1e-40f, 0.0f};
    for (i64 b = 0; b < batch; b++)
        for (std::size_t s = 0; s < std::size(special); s++) {
            const auto place = static_cast<i64>(seed * 31 + s * 1009);
            m.set(b, (place * 7 + b) % m.rows, place % m.cols, special[s]);
        }
}

}  // namespace

void fill_special(OperandSet& set, std::uint64_t seed) {
    const Op& op = set.op();
    set.fill_normal(seed);
    const Operands& o = set.operands();
    std::uint64_t salt = seed;
    for (const Matrix* m : {&o.x, &o.w, &o.bias, &o.dy, &o.dz}) add_special_values(*m, op.dense.batch, ++salt);
    if (!op.runs(sim::Pass::forward)) add_special_values(o.y, op.dense.batch, ++salt);
}

}  // namespace kernels
