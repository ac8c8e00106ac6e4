// Step `mask`: cuBLASLt writes the bits of Y > 0 (RELU_AUX) and reads them (DRELU); so do we. Each reads the other's.

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "kernels/cpu/reference.hpp"
#include "kernels/cuda/executable.hpp"
#include "kernels/ladder.hpp"
#include "tests/gpu/campaign.hpp"
#include "tests/gpu/draw.hpp"
#include "tests/gpu/library.hpp"

namespace campaign {
namespace {

using namespace kernels;
using namespace kernels::cuda;

constexpr double check_work = 1 << 26;
constexpr sim::i64 above = 256;  // outputs of the layer above

/// Operands that one of the two runs on, and what came back.
struct Side {
    OperandSet set;
    explicit Side(const Op& op) : set(op) { set.fill_normal(7); }
};

/// Runs `launch` on the set and takes the outputs back; the reference judges them.
double judge(const Runtime& r, OperandSet& set, std::string_view who,
             const std::function<void(const Operands&)>& launch) {
    const DeviceOperands on_device(r, set);
    on_device.poison();
    launch(on_device.operands());
    check(r, r.synchronize(), "cudaDeviceSynchronize");
    on_device.download(set);
    const cpu::Comparison c = cpu::compare(set.op(), set.operands(), {}, check_work);
    if (!c.ok()) throw std::runtime_error(fmt::format("{}: {}", who, c.first_wrong));
    return c.max_error;
}

}  // namespace

Record swap_masks(Context& context, const Case& c) {
    const Runtime& r = context.machine.runtime;
    const Library library(r, context.machine.lt);
    const std::string tail = "residual mask tile 64x64x32 stages 3 rung 07_tensor_core";
    const auto forward = runnable(c.id + " bf16 forward fused " + tail);
    const sim::Dense below = forward.value().dense;
    const auto backward =
        runnable(fmt::format("{}x{}x{} bf16 dgrad upstream drelu yes {}", below.m, above, below.n, tail));

    const auto ours = [&](const sim::Experiment& asked) {
        const sim::Experiment e = resolved(asked);
        return [&, e](const Operands& o) {
            const Executable executable(r, context.gpu, e);
            executable.bind(e, o, nullptr).launch_all();
            check(r, r.synchronize(), "cudaDeviceSynchronize");
        };
    };
    const auto theirs = [&](const Op& op, LtEpilogue epilogue) {
        return [&, op, epilogue](const Operands& o) {
            const LtMatmul matmul = library.matmul(op, epilogue, o);
            const auto choices = matmul.choices(1);
            if (choices.empty()) throw CudaError("cuBLASLt proposes no algorithm for this matmul");
            matmul.run(choices.front(), library.workspace());
        };
    };
    const Op up = op_of(*forward), down = op_of(backward.value());
    Side a(up), b(up);
    Record more;
    more["errors"] = {judge(r, a.set, "our bits", ours(*forward)),
                      judge(r, b.set, "RELU_AUX", theirs(up, LtEpilogue::relu_aux))};
    const BitMatrix &ours_bits = a.set.operands().mask, &their_bits = b.set.operands().mask;
    sim::i64 differ = 0, unexplained = 0;
    for (sim::i64 i = 0; i < below.m; i++)
        for (sim::i64 j = 0; j < below.n; j++) {
            if (ours_bits.get(0, i, j) == their_bits.get(0, i, j)) continue;
            differ++;  // sums that round to different sides of zero
            unexplained += (a.set.operands().y.get(0, i, j) > 0) == (b.set.operands().y.get(0, i, j) > 0);
        }
    more["bits"] = below.m * below.n;
    more["differing_bits"] = differ;
    if (unexplained > 0) throw std::runtime_error(fmt::format("{} bits differ though the outputs agree", unexplained));

    Side d(down), e(down);
    const auto take = [&](const OperandSet& to, const BitMatrix& from) {
        const BitMatrix& into = to.operands().x_mask;
        if (into.pitch != from.pitch) throw std::runtime_error("the bit rows have different pitches");
        std::memcpy(into.data, from.data, static_cast<std::size_t>(from.rows * from.pitch));
    };
    take(d.set, their_bits);
    take(e.set, ours_bits);
    more["errors"].push_back(judge(r, d.set, "our dgrad by RELU_AUX's bits", ours(*backward)));
    more["errors"].push_back(judge(r, e.set, "DRELU by our bits", theirs(down, LtEpilogue::drelu)));
    return {{"status", "ok"}, {"more", more}};
}

}  // namespace campaign
