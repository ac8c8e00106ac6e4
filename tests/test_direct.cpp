// Rungs without a shared tile: what their threads ask L1 for and what L1 asks the L2 for, by hand and against an exact
// sectored cache fed with the addresses that the kernel's definition gives.

#include <doctest/doctest.h>

#include <set>

#include "sim/cache.hpp"
#include "sim/direct.hpp"
#include "sim/fit.hpp"
#include "sim/report.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

Experiment parse(const std::string& text) { return parse_experiment(text, tests::catalogue()); }

struct L1Counts {
    i64 requested = 0, sectors = 0, from_l2 = 0;
};

/// One thread an output; thread t of a CTA has row t % bm and column t / bm (naive), or row t / bn and column t % bn
/// (coalesced). Every warp takes reduction step k before any takes k + 1; each CTA finds its L1 empty, write-through.
std::map<Operand, L1Counts> walk(const Experiment& e, const Kernel& k, i64 l1_bytes) {
    const bool naive = direct_access(e) == Direct::uncoalesced;
    const i64 bm = k.tile.bm, bn = k.tile.bn, threads = bm * bn;
    std::map<Operand, L1Counts> out;
    for (i64 row0 = 0; row0 < k.extent.rows; row0 += bm)
        for (i64 col0 = 0; col0 < k.extent.cols; col0 += bn) {
            Cache l1({l1_bytes, l1_bytes / 128, 128, 32, true});
            const auto warp_access = [&](const Access& a, i64 first, i64 step, bool write) {
                L1Counts& c = out[a.tensor.name];
                const i64 size = a.tensor.bits / 8, pitch = pitch_bytes(a.tensor, e.dense.pitch);
                std::set<std::uint64_t> elements, sectors;
                for (i64 t = first; t < std::min(threads, first + 32); ++t) {
                    const i64 row = row0 + (naive ? t % bm : t / bn), col = col0 + (naive ? t / bm : t % bn);
                    if (row >= k.extent.rows || col >= k.extent.cols) continue;
                    const auto at = [&](Axis x) {
                        return x == Axis::rows ? row : x == Axis::cols ? col : x == Axis::red ? step : 0;
                    };
                    const auto address = ((static_cast<std::uint64_t>(a.tensor.name) + 1) << 32) +
                                         static_cast<std::uint64_t>(at(a.row_axis) * pitch + at(a.col_axis) * size);
                    elements.insert(address);
                    sectors.insert(address / 32);
                }
                c.requested += static_cast<i64>(elements.size()) * size;
                c.sectors += static_cast<i64>(sectors.size());
                for (std::uint64_t s : sectors) c.from_l2 += l1.access(32 * s, 32, write);
                if (write) c.from_l2 += static_cast<i64>(sectors.size());
            };
            const auto every_warp = [&](const std::vector<Access>& accesses, i64 step, bool write) {
                for (i64 first = 0; first < threads; first += 32)
                    for (const Access& a : accesses) warp_access(a, first, step, write);
            };
            for (i64 step = 0; step < k.extent.red; ++step)
                for (i64 first = 0; first < threads; first += 32)
                    for (const auto* side : {&k.left, &k.right})
                        for (const Access& a : *side) warp_access(a, first, step, false);
            every_warp(k.epilogue, 0, false);
            every_warp(k.outputs, 0, true);
        }
    return out;
}

}  // namespace

TEST_CASE("L1 requests and L2 sectors of unshared rungs equal an exact cache's") {
    int compared = 0;
    for (const char* rung : {"01_naive", "02_coalesced"})
        for (const char* pass : {"forward fused", "dgrad fused", "wgrad fused", "forward fused bias yes", "dgrad none"})
            for (const char* shape : {"96x64x40", "70x50x33", "33x100x64"})
                for (const char* dtype : {"f32", "bf16"})
                    for (const char* tile : {"32x32x8", "16x16x8", "8x64x8", "64x8x8", "32x4x8"}) {
                        const std::string text = std::string("rtx-a6000 ") + shape + " " + dtype + " " + pass +
                                                 " tile " + tile + " rung " + rung;
                        CAPTURE(text);
                        const Experiment e = parse(text);
                        const Device& d = tests::catalogue().at("rtx-a6000");
                        const auto kernels = plan(e);
                        REQUIRE(fit(e, d, kernels).ok());
                        const Kernel& k = kernels[0];
                        constexpr i64 l1_bytes = 64 * 1024;
                        for (const auto& [operand, exact] : walk(e, k, l1_bytes)) {
                            CAPTURE(to_string(operand));
                            L1Flow f;
                            const auto add = [&](const Access& a, bool read) {
                                if (a.tensor.name != operand) return;
                                const Lanes lanes = lanes_of(direct_access(e), k.tile);
                                f = read ? l1_read(k, a, lanes, moved_unit(d, e), l1_bytes)
                                         : l1_write(k, a, lanes, moved_unit(d, e));
                            };
                            each_input(k, [&](const Access& a) { add(a, true); });
                            for (const Access& a : k.outputs) add(a, false);
                            REQUIRE(static_cast<i64>(f.requested_bytes) == exact.requested);
                            REQUIRE(static_cast<i64>(f.sector_bytes) == 32 * exact.sectors);
                            REQUIRE(static_cast<i64>(f.l2_bytes) == 32 * exact.from_l2);
                            ++compared;
                        }
                    }
    CHECK(compared > 900);
}

TEST_CASE("an L1 that cannot keep a step's lines reads a sector for each element, as the exact cache does") {
    struct Row {
        const char* text;
        bool left;
        i64 l1_bytes;
        i64 times;  // the whole operand
    };
    for (const Row& row : {Row{"rtx-a6000 512x2x64 f32 forward none tile 512x2x8", true, 128 * 1024, 1},
                           // 512 lines of X come round for the second column, and then for the next step.
                           Row{"rtx-a6000 512x2x64 f32 forward none tile 512x2x8", true, 32 * 1024, 16},
                           // 96 lines of dZ and 8 of W: dZ's come round for every column, W's at the next step.
                           Row{"rtx-a6000 96x64x8 f32 dgrad none tile 96x8x8", true, 100 * 128, 1},
                           Row{"rtx-a6000 96x64x8 f32 dgrad none tile 96x8x8", false, 100 * 128, 8},
                           Row{"rtx-a6000 96x64x8 f32 dgrad none tile 96x8x8", false, 110 * 128, 1}}) {
        CAPTURE(row.text);
        CAPTURE(row.l1_bytes);
        const Experiment e = parse(std::string(row.text) + " rung 01_naive");
        const Kernel k = plan(e)[0];
        const Access& a = (row.left ? k.left : k.right)[0];
        const i64 from_l2 = walk(e, k, row.l1_bytes)[a.tensor.name].from_l2 * 32;
        CHECK(from_l2 == a.tensor.bytes() * row.times);
        CHECK(static_cast<i64>(l1_read(k, a, lanes_of(Direct::uncoalesced, k.tile),
                                       moved_unit(tests::catalogue().at("rtx-a6000"), e), row.l1_bytes)
                                   .l2_bytes) == from_l2);
    }
}

TEST_CASE("naive and coalesced by hand: 4096^3 f32 in 32x32 tiles") {
    const i64 n = 4096, matrix = 4 * n * n;
    for (const char* rung : {"01_naive", "02_coalesced"}) {
        const bool naive = std::string(rung) == "01_naive";
        const Report r =
            predict(parse("rtx-a6000 4096x4096x4096 f32 forward none tile 32x32x32 rung " + std::string(rung)),
                    tests::catalogue());
        REQUIRE(r.fit.ok());
        const LevelTraffic &l1 = r.traffic.at(Level::l1), &l2 = r.traffic.at(Level::l2);
        CHECK(l1.present);
        CHECK(!r.traffic.at(Level::sram).present);
        // A warp asks for 32 elements of the operand along its lanes and for one of the other, each step: so often is
        // each matrix read by warps of 32 outputs.
        const Flow &along = l1.of(naive ? Operand::x : Operand::w), &across = l1.of(naive ? Operand::w : Operand::x);
        CHECK(along.read_bytes == matrix * n);
        CHECK(across.read_bytes == matrix * n / 32);
        // A pitch apart, each of the 32 is a sector of its own; side by side they are four. One element is one sector.
        CHECK(along.moved_read_bytes == matrix * n * (naive ? 8 : 1));
        CHECK(across.moved_read_bytes == matrix * n / 32 * 8);
        CHECK(l1.of(Operand::z).moved_write_bytes == matrix * (naive ? 8 : 1));
        // Either way L1 keeps a CTA's sectors, and the L2 serves each strip once a tile.
        CHECK(l2.of(Operand::x).read_bytes == matrix * (n / 32));
        CHECK(l2.of(Operand::w).read_bytes == matrix * (n / 32));
    }
}

TEST_CASE("unshared rungs take no shared memory and no more threads than a CTA may have") {
    const auto why = [](const std::string& text) { return predict(parse(text), tests::catalogue()).fit.why; };
    const std::string naive = "h100-sxm5 512x512x512 f32 forward fused rung 01_naive tile ";
    CHECK(why(naive + "32x32x8") == "");
    CHECK(why(naive + "64x32x8") == "needs 2048 threads; a CTA may have 1024");
    CHECK(why(naive + "32x32x8 thread 2x2") == "rung 01_naive computes one output a thread, not 2x2");
    CHECK(why(naive + "32x32x8 cluster 2x1") ==
          "rung 01_naive has no shared memory that a cluster could fill together");
    const Experiment e = parse(naive + "32x32x8");
    CHECK(cta_shape(e, tests::catalogue().at("h100-sxm5"), plan(e)[0]).smem_bytes == 0);
}
