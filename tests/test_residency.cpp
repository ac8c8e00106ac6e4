// What a step drives out of the chip follows from what was there, what came and what is left.

#include <doctest/doctest.h>

#include "sim/residency.hpp"

namespace {

struct Walk {
    sim::Experiment e;
    const sim::Device& d;
    std::vector<sim::Kernel> kernels;
    explicit Walk(const char* line)
        : e(sim::parse_experiment(line, sim::Catalogue::builtin())),
          d(sim::Catalogue::builtin().at(e.device)),
          kernels(sim::plan(e)) {}
    sim::Residency at(sim::i64 n) const { return sim::residency_at(e, d, kernels, n); }
    sim::StepState step(sim::i64 n) const { return sim::step_at(e, d, kernels, n); }
    sim::i64 steps() const { return sim::step_count(kernels); }
};

sim::i64 sum(const std::vector<sim::Touch>& touches) {
    sim::i64 bytes = 0;
    for (const sim::Touch& t : touches) bytes += t.bytes;
    return bytes;
}

}  // namespace

TEST_CASE("an L2 never holds more than it can, and what came less what left is what is there") {
    const Walk w("t4 4096x4096x4096 f16 forward fused tile 128x128x64");
    sim::i64 used = w.at(1499).used_bytes();
    bool some_left = false;
    for (sim::i64 n = 1500; n < 1540; ++n) {
        const sim::Residency r = w.at(n);
        CHECK(r.used_bytes() <= r.capacity_bytes);
        sim::i64 came = 0;
        for (const sim::Touch& t : w.step(n).touches)
            if (t.outcome != sim::Touch::kept) came += t.bytes;
        CHECK(r.used_bytes() == used + came - sum(r.evicted));
        some_left |= !r.evicted.empty();
        used = r.used_bytes();
    }
    CHECK(w.at(0).used_bytes() == 0);
    CHECK(w.at(0).capacity_bytes > 0);
    CHECK(some_left);
}

TEST_CASE("an L2 larger than all operands drives nothing out") {
    const Walk w("h100-sxm5 1024x1024x1024 bf16 forward fused tile 128x128x64");
    for (sim::i64 n : {sim::i64{1}, w.steps() / 2, w.steps()}) CHECK(w.at(n).evicted.empty());
    const sim::Residency end = w.at(w.steps());
    CHECK(end.bytes[static_cast<int>(sim::Operand::x)] == 2 * 1024 * 1024);
    CHECK(end.bytes[static_cast<int>(sim::Operand::y)] == 2 * 1024 * 1024);
}

TEST_CASE("a sequential machine gives up the tile whose place a fetched one takes") {
    const Walk w("scratchpad 512x512x512 f32 forward fused tile 128x128x128 order mnk");
    CHECK(w.at(1).evicted.empty());
    const sim::Residency r = w.at(2);  // both operands move on
    REQUIRE(r.evicted.size() == 2);
    CHECK(r.evicted[0].operand == sim::Operand::x);
    CHECK(r.evicted[0].col == 0);
    CHECK(r.evicted[1].operand == sim::Operand::w);
    CHECK(r.bytes[static_cast<int>(sim::Operand::x)] == 128 * 128 * 4);
}
