// Laws that hold for every experiment, checked over random ones. One that breaks is shrunk and printed as a line.

#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "sim/bound.hpp"
#include "sim/count.hpp"
#include "sim/direct.hpp"
#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "sim/time.hpp"
#include "tests/random_experiment.hpp"
#include "tests/shrink.hpp"

using namespace sim;

namespace {

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
constexpr int experiments = 600;  // each costs twenty times as much
#else
constexpr int experiments = 20000;
#endif
/// Draws with more requests are counted by closed form only.
constexpr double most_requests = 2e6;

const Catalogue& devices() { return tests::catalogue(); }

Traffic total(const Counts& c) {
    Traffic t;
    for (const Traffic& k : c.kernels) t += k;
    return t;
}

/// An experiment that fits, with what several laws look at.
struct Case {
    Experiment e;
    const Device* d = nullptr;
    std::vector<Kernel> kernels;
    Slots slots;
    Counts closed;
    std::shared_ptr<Counts> replayed;  ///< null where there are too many requests
    bool gpu() const { return d->kind == DeviceKind::gpu; }
    bool lone_matmul() const { return kernels.size() == 1 && kernels[0].matmul; }
    const Counts& counts() const { return replayed ? *replayed : closed; }
};

/// The case of a line, or nothing where it does not fit its device.
std::unique_ptr<Case> case_of(const Experiment& e) {
    if (e.tile.is_best() || (e.pass == Pass::train && !(e.tile_dgrad && e.tile_wgrad))) return nullptr;  // to be swept
    auto c = std::make_unique<Case>();
    c->e = e;
    c->d = &devices().at(e.device);
    c->kernels = plan(e);
    if (!fit(e, *c->d, c->kernels).ok()) return nullptr;
    c->slots = slots_of(e, *c->d, c->kernels);
    double requests = 0;
    for (const Kernel& k : c->kernels)
        requests += static_cast<double>(k.row_tiles()) * static_cast<double>(k.col_tiles()) *
                    static_cast<double>(k.k_steps()) * static_cast<double>(k.batch) *
                    static_cast<double>(std::max<std::size_t>(1, k.left.size() + k.right.size()));
    c->closed = count(e, *c->d, c->kernels, Count::closed_form);
    if (requests <= most_requests) c->replayed = std::make_shared<Counts>(count(e, *c->d, c->kernels, Count::replay));
    return c;
}

// ---- the laws: each says what is wrong, or nothing ------------------------------------------------------------------

using Verdict = std::string;

#define HOLD(condition) \
    if (!(condition)) return #condition

Verdict is_deterministic(const Case& c) {
    const Counts again = count(c.e, *c.d, c.kernels, Count::closed_form);
    HOLD(again.dram_range.lockstep_bytes == c.closed.dram_range.lockstep_bytes);
    HOLD(again.dram_range.staggered_bytes == c.closed.dram_range.staggered_bytes);
    HOLD(time_us(c.e, *c.d, c.kernels, again) == time_us(c.e, *c.d, c.kernels, c.closed));
    return {};
}

Verdict bytes_are_conserved(const Case& c) {
    for (std::size_t i = 0; i < c.kernels.size(); ++i) {
        const Kernel& k = c.kernels[i];
        const Traffic& t = c.counts().kernels[i];
        for (const LevelTraffic& level : t.levels)
            for (const Flow& f : level.operands) {
                HOLD(f.causes.compulsory + f.causes.capacity + f.causes.order + f.causes.write + f.causes.padding ==
                     f.moved_read_bytes + f.moved_write_bytes);
                HOLD(f.read_bytes >= 0 && f.write_bytes >= 0);
                HOLD(f.moved_read_bytes >= f.read_bytes && f.moved_write_bytes >= f.write_bytes);
            }
        for (int o = 0; o < operand_count; ++o)
            if (t.at(Level::l2).present)  // a mask's total is rounded up once
                HOLD(t.at(Level::dram).operands[o].read_bytes <= t.at(Level::l2).operands[o].read_bytes + 1);
        if (!c.gpu() || !k.matmul) continue;
        HOLD(t.at(Level::sram).present != t.at(Level::l1).present);
        const auto fills = [&](const std::vector<Access>& side, i64 multicast, i64 tiles, bool halved) -> Verdict {
            for (const Access& a : side) {
                const bool rewritten = &side == &k.right && side.size() > 1 && &a == &side[0] &&
                                       (c.e.engine == Engine::wgmma || c.e.engine == Engine::tcgen05);
                const __int128 shares = tiles % multicast == 0 ? multicast : 0;  // else a ragged cluster
                const i64 filled = t.at(Level::sram).of(a.tensor.name).write_bytes;
                const i64 from_l2 = t.at(Level::l2).of(a.tensor.name).read_bytes;
                if (shares > 0)
                    HOLD(std::abs(static_cast<double>(filled) * (halved ? 2 : 1) / (rewritten ? 2 : 1) -
                                  static_cast<double>(from_l2 * shares)) <= 8.0 * static_cast<double>(multicast));
            }
            return {};
        };
        if (!t.at(Level::sram).present) continue;
        const bool halved = multiplies_in_pairs(c.e);
        if (Verdict v = fills(k.left, c.e.cluster.cols, k.col_tiles(), false); !v.empty()) return v;
        if (Verdict v = fills(k.right, c.e.cluster.rows, k.row_tiles(), halved); !v.empty()) return v;
    }
    return {};
}

Verdict cold_reads_are_at_least_compulsory(const Case& c) {
    if (c.e.l2 == L2Start::warm || c.d->kind == DeviceKind::cpu) return {};
    const Compulsory least = compulsory(c.e);
    for (const Counts* counts : {&c.closed, static_cast<const Counts*>(c.replayed.get())}) {
        if (!counts) continue;
        const Flow dram = total(*counts).at(Level::dram).total();
        HOLD(dram.read_bytes >= least.read_bytes);
        HOLD(dram.write_bytes >= least.write_bytes);
    }
    return {};
}

Verdict an_l2_that_holds_all_gives_compulsory(const Case& c) {
    if (!c.gpu() || !c.lone_matmul() || c.e.l2 == L2Start::warm) return {};
    Device large = *c.d;
    large.l2.bytes.value = large.l2.effective_bytes.value = 1e17;
    const Compulsory least = compulsory(c.e);
    HOLD(total(closed_gpu(c.e, large, c.kernels, c.slots)).at(Level::dram).total().read_bytes == least.read_bytes);
    if (c.replayed && c.replayed->requests < 100000)
        HOLD(total(replay_gpu(c.e, large, c.kernels, c.slots)).at(Level::dram).total().read_bytes == least.read_bytes);
    return {};
}

Verdict a_larger_l2_never_costs_traffic(const Case& c) {
    if (!c.gpu() || c.kernels.size() != 1 || !c.replayed || c.replayed->requests > 20000) return {};
    // From the largest tile up: one that exceeds the L2 is not kept, so it drops nothing there.
    const Tile& tile = c.kernels[0].tile;
    const double largest =
        4.0 * static_cast<double>(std::max({tile.bm * tile.bn, tile.bm * tile.bk, tile.bk * tile.bn}));
    i64 lockstep = INT64_MAX, staggered = INT64_MAX;
    for (double bytes = largest; bytes < 1e8; bytes *= 7.7) {
        Device d = *c.d;
        d.l2.bytes.value = d.l2.effective_bytes.value = std::floor(bytes);
        const Counts now = replay_gpu(c.e, d, c.kernels, c.slots);
        HOLD(now.dram_range.lockstep_bytes <= lockstep);
        HOLD(now.dram_range.staggered_bytes <= staggered);
        lockstep = now.dram_range.lockstep_bytes;
        staggered = now.dram_range.staggered_bytes;
    }
    return {};
}

Verdict nothing_faster_costs_time(const Case& c) {
    const double before = time_us(c.e, *c.d, c.kernels, c.closed) * (1 + 1e-9);
    Device d = *c.d;
    const auto now = [&] { return time_us(c.e, d, c.kernels, c.closed); };
    for (Quantity* q : {&d.dram.bandwidth, &d.l2.bandwidth, &d.sram.bytes_per_clock, &d.l1.bytes_per_clock})
        q->value *= 1.7;
    HOLD(now() <= before);
    d = *c.d;
    for (Quantity* q : {&d.dram.latency, &d.l2.latency, &d.sram.latency, &d.overhead.launch, &d.overhead.step,
                        &d.overhead.dispatch, &d.overhead.operand_load})
        q->value *= 0.6;
    HOLD(now() <= before);
    d = *c.d;
    for (auto* rates : {&d.peak, &d.sustained})
        for (auto& [t, q] : *rates) q.value *= 1.4;
    HOLD(now() <= before);
    return {};
}

Verdict predictions_are_sound_and_never_beat_their_bound(const Case& c) {
    const Report r = predict(c.e, devices(), {Count::closed_form, {}});
    HOLD(r.fit.ok());
    HOLD(r.predicted.has_value());
    const Prediction& p = *r.predicted;
    HOLD(std::isfinite(p.time_us));
    HOLD(p.time_us > 0);
    HOLD(std::isfinite(r.bound.time_us) && r.bound.time_us >= 0);
    HOLD(p.time_us >= r.bound.time_us);
    HOLD(p.interval_us[0] <= p.time_us && p.interval_us[1] >= p.time_us);
    HOLD(std::isfinite(p.interval_us[1]));
    HOLD(!p.if_twice.empty());
    for (const auto& [resource, time] : p.if_twice) HOLD(time > 0 && time <= p.time_us * (1 + 1e-9));
    double kernels = 0;
    for (const KernelReport& k : p.kernels) {
        double terms = 0;
        for (const TimeTerm& t : k.terms) terms += t.time_us;
        HOLD(std::abs(terms - k.time_us) <= 1e-6 * k.time_us);
        kernels += k.time_us;
    }
    HOLD(std::abs(kernels - p.time_us) <= 1e-6 * p.time_us);
    for (const LevelTraffic& level : r.traffic.levels)
        for (const Flow& f : level.operands)
            HOLD(f.read_bytes >= 0 && f.write_bytes >= 0 && f.moved_read_bytes >= 0 && f.moved_write_bytes >= 0);
    return {};
}

Verdict cold_bytes_never_beat_their_bound(const Case& c) {
    if (c.e.l2 == L2Start::warm || c.d->kind == DeviceKind::cpu) return {};
    HOLD(c.counts().dram_range.lockstep_bytes + 1 >= bound(c.e, *c.d).dram_bytes);
    return {};
}

Verdict the_closed_form_is_the_replay_wherever_exact(const Case& c) {
    if (!c.replayed) return {};
    HOLD(c.replayed->exact);
    if (!c.gpu()) HOLD(c.closed.exact);
    if (!c.closed.exact) return {};
    for (std::size_t i = 0; i < c.kernels.size(); ++i)
        for (int l = 0; l < level_count; ++l)
            for (int o = 0; o < operand_count; ++o) {
                const Flow &x = c.closed.kernels[i].levels[l].operands[o],
                           &y = c.replayed->kernels[i].levels[l].operands[o];
                HOLD(x.read_bytes == y.read_bytes);
                HOLD(x.write_bytes == y.write_bytes);
                HOLD(x.causes.compulsory == y.causes.compulsory);
            }
    return {};
}

Verdict expected_bytes_lie_between_lockstep_and_staggered(const Case& c) {
    const DramRange& r = c.counts().dram_range;
    HOLD(r.expected_bytes >= std::min(r.lockstep_bytes, r.staggered_bytes));
    HOLD(r.expected_bytes <= std::max(r.lockstep_bytes, r.staggered_bytes));
    return {};
}

/// Rows and columns swapped: X for W, the tile turned, the order or raster mirrored.
Verdict rows_and_columns_mirror(const Case& c) {
    const Experiment& e = c.e;
    if (e.pass != Pass::forward || e.dense.bias || e.residual == Residual::mask || c.d->kind == DeviceKind::cpu)
        return {};
    if (c.gpu() && e.raster.kind != Raster::along_n && e.raster.kind != Raster::along_m) return {};
    Experiment m = e;
    std::swap(m.dense.m, m.dense.n);
    std::swap(m.tile.bm, m.tile.bn);
    std::swap(m.cluster.rows, m.cluster.cols);
    constexpr Order mirrored[] = {Order::nmk, Order::mnk, Order::knm, Order::nkm, Order::kmn, Order::mkn};
    m.order = mirrored[static_cast<int>(e.order)];
    m.raster.kind = e.raster.kind == Raster::along_n ? Raster::along_m : Raster::along_n;
    const auto kernels = plan(m);
    const Traffic a = total(c.closed),
                  b = total(c.gpu() ? closed_gpu(m, *c.d, kernels, c.slots) : closed_sequential(m, *c.d, kernels));
    const Operand out = e.fusion == Fusion::none ? Operand::z : Operand::y;
    for (Level level : {Level::dram, Level::l2}) {
        if (level == Level::l2 && direct_access(e) != Direct::no) continue;  // sectors know rows from columns
        HOLD(a.at(level).of(Operand::x).read_bytes == b.at(level).of(Operand::w).read_bytes);
        HOLD(a.at(level).of(Operand::w).read_bytes == b.at(level).of(Operand::x).read_bytes);
        HOLD(a.at(level).of(out).write_bytes == b.at(level).of(out).write_bytes);
        HOLD(a.at(level).of(out).read_bytes == b.at(level).of(out).read_bytes);
    }
    return {};
}

constexpr struct {
    const char* name;
    Verdict (*check)(const Case&);
} laws[] = {
    {"the same experiment always gives the same counts and time", is_deterministic},
    {"bytes are conserved between levels, and causes add up", bytes_are_conserved},
    {"cold DRAM reads are at least compulsory", cold_reads_are_at_least_compulsory},
    {"an L2 that holds everything gives exactly compulsory for a lone matmul", an_l2_that_holds_all_gives_compulsory},
    {"a larger L2 never costs traffic at fixed slots", a_larger_l2_never_costs_traffic},
    {"a faster clock, bandwidth, latency or launch never costs time", nothing_faster_costs_time},
    {"predictions are finite, positive, add up and never beat their bound",
     predictions_are_sound_and_never_beat_their_bound},
    {"cold bytes never beat their bound", cold_bytes_never_beat_their_bound},
    {"the closed form is the replay wherever it says exact", the_closed_form_is_the_replay_wherever_exact},
    {"expected bytes lie between lockstep and staggered", expected_bytes_lie_between_lockstep_and_staggered},
    {"rows and columns swapped mirror the counts", rows_and_columns_mirror},
};

/// The smallest experiment that breaks a law, from one that does.
template <class Law>
std::string smallest_that_breaks(const Law& law, const Experiment& e) {
    return tests::shrink(to_string(e, devices()), [&](const std::string& line) {
        try {
            const auto c = case_of(parse_experiment(line, devices()));
            return c && !law.check(*c).empty();
        } catch (const BadInput&) {
            return false;
        }
    });
}

}  // namespace

TEST_SUITE("slow") {
    TEST_CASE("laws over random experiments of every kind, from 1x1x1 to 65536^3") {
        tests::Draw draw(2026, devices());
        int legal = 0, replayed = 0, exact = 0, kinds[4] = {};
        for (int tries = 0; legal < experiments; ++tries) {
            REQUIRE(tries < 20 * experiments);
            const i64 most[] = {65536, 65536, 3000, 300};
            const Experiment e = draw.experiment(most[tries % 4], 10 * (tries % 5), true);
            const auto c = case_of(e);
            if (!c) continue;
            ++legal;
            ++kinds[static_cast<int>(c->d->kind)];
            if (c->replayed) ++replayed;
            if (c->replayed && c->gpu() && c->closed.exact) ++exact;
            for (const auto& law : laws)
                if (const Verdict broken = law.check(*c); !broken.empty())
                    FAIL(std::string(law.name) << ": " << broken << "\n  " << to_string(e, devices())
                                               << "\n  the smallest such: " << smallest_that_breaks(law, e));
        }
        MESSAGE(legal << " experiments, " << replayed << " of them replayed; " << exact
                      << " GPU closed forms said exact");
        for (int kind : kinds) CHECK(kind > experiments / 100);
        CHECK(replayed > experiments / 2);
        CHECK(exact > experiments / 10);
    }
}

TEST_CASE("a law that does not hold is shrunk to a minimal experiment") {
    // Planted: "no mask is read by a kernel of two problems in a Hilbert raster".
    struct {
        Verdict (*check)(const Case&) = [](const Case& c) -> Verdict {
            HOLD(!(c.e.dense.batch > 1 && c.e.raster.kind == Raster::hilbert &&
                   total(c.closed).at(Level::l2).of(Operand::mask).read_bytes > 0));
            return {};
        };
    } planted;
    const Experiment e = parse_experiment(
        "h100-sxm5 batch 3 700x900x333 bf16 dgrad fused residual mask tile 128x64x32 raster hilbert stages 2 ctas 2 "
        "schedule split_k:3 sms 77 pitch tight l2 warm traits seed=7",
        devices());
    REQUIRE(!planted.check(*case_of(e)).empty());
    CHECK(smallest_that_breaks(planted, e) == "h100-sxm5 batch 2 1x1x1 bf16 dgrad fused residual mask raster hilbert");
    // Planted: "W is read from DRAM no more than three times".
    struct {
        Verdict (*check)(const Case&) = [](const Case& c) -> Verdict {
            const Kernel& k = c.kernels[0];
            HOLD(total(c.closed).at(Level::dram).of(Operand::w).read_bytes <= 3 * k.right[0].tensor.bytes(k.batch));
            return {};
        };
    } thrice;
    const Experiment f = parse_experiment(
        "scratchpad batch 2 513x300x200 f32 forward fused bias yes tile 64x32x16 order mnk", devices());
    REQUIRE(!thrice.check(*case_of(f)).empty());
    CHECK(smallest_that_breaks(thrice, f) == "scratchpad 193x1x65 f32 forward fused");
}

TEST_CASE("from 1x1x1 to 65536^3 everything is finite") {
    for (const Device* d : devices().all())
        for (const char* size : {"1x1x1", "1x65536x1", "65536x1x65536", "7x7x65536", "65536x65536x65536",
                                 "2147483647x1x1", "1x2147483647x3"})
            for (const char* what : {"f32 forward fused", "f32 train unfused tile.dgrad 64x64x8 tile.wgrad 64x64x8",
                                     "bf16 dgrad fused residual mask"}) {
                const std::string text = d->id + " " + size + " " + what;
                CAPTURE(text);
                const Report r = predict(parse_experiment(text, devices()), devices(), {Count::closed_form, {}});
                if (!r.fit.ok()) continue;
                REQUIRE(std::isfinite(r.predicted->time_us));
                REQUIRE(r.predicted->time_us > 0);
                REQUIRE(r.predicted->time_us >= r.bound.time_us);
            }
}

TEST_CASE("a sweep proposes only tiles that can launch, best first") {
    for (const char* text :
         {"h200-sxm 4096x4096x4096 bf16 forward fused tile best", "t4 1000x1000x1000 f32 wgrad fused tile best",
          "tpu-v5e 8192x8192x8192 f32 forward fused tile best", "cpu 512x512x512 f32 forward unfused tile best"}) {
        CAPTURE(text);
        const Experiment e = parse_experiment(text, devices());
        const auto rows = sweep(e, devices(), {8, {}, {}, {}});
        REQUIRE(!rows.empty());
        CHECK(rows.front().rank == 1);
        double before = 0;
        for (const SweepRow& row : rows) {
            const auto kernels = plan(row.experiment);
            CHECK(row.fit == fit(row.experiment, devices().at(e.device), kernels));
            if (!row.fit.ok()) {
                CHECK(row.rank == 0);
                continue;
            }
            CHECK(row.time_us >= before);
            before = row.time_us;
        }
        const Report best = predict(e, devices());
        CHECK(best.fit.ok());
        CHECK(!best.experiment.tile.is_best());
    }
}

TEST_CASE("the seed's case: W 64 times, 17.2 GB, one copy of the tiles, and a tile that should win") {
    const Experiment e =
        parse_experiment("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 order mnk", devices());
    const Report r = predict(e, devices());
    REQUIRE(r.fit.ok());
    const LevelTraffic& dram = r.traffic.at(Level::dram);
    CHECK(dram.of(Operand::x).read_bytes == i64{4} * 8192 * 8192);
    CHECK(dram.of(Operand::w).read_bytes == i64{64} * 4 * 8192 * 8192);
    CHECK(dram.of(Operand::y).write_bytes == i64{4} * 8192 * 8192);
    const VmemNeed need = vmem_need(e, devices().at("tpu-v5e"), plan(e)[0]);
    CHECK(need.buffers == 1);
    CHECK(2 * need.tiles_bytes == 16908288);
    CHECK(!r.predicted->pipelined);
    CHECK(r.predicted->time_us == doctest::Approx(35000).epsilon(0.1));
    const auto rows = sweep(e, devices());
    CHECK(rows.front().time_us < 7800);
    // A stated pair of buffers does not fit, and a larger VMEM lets them.
    CHECK(!predict(parse_experiment("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 buffers 2", devices()),
                   devices())
               .fit.ok());
    const Report two =
        predict(parse_experiment("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 vmem 32MiB", devices()),
                devices());
    CHECK(two.predicted->pipelined);
    CHECK(two.predicted->time_us < r.predicted->time_us);
}

TEST_CASE("what a line leaves out launches on the device it names") {
    for (const Device* d : devices().all())
        for (const char* pass : {"forward", "dgrad", "wgrad", "train"})
            for (const char* fusion : {"unfused", "fused", "upstream"})
                for (const char* dtype : {"f32", "bf16", "f16", "e4m3"})
                    for (const char* size : {"1x1x1", "4096x4096x4096"}) {
                        if (std::string(pass) == "forward" && std::string(fusion) == "upstream") continue;
                        const std::string text = d->id + " " + size + " " + dtype + " " + pass + " " + fusion;
                        const Experiment e = parse_experiment(text, devices());
                        if (std::isnan(d->peak_flops(e.dense.dtype))) continue;
                        const Report r = predict(e, devices(), {Count::closed_form, {}});
                        CAPTURE(text);
                        CHECK_MESSAGE(r.fit.ok(), r.fit.why);
                    }
}

TEST_CASE("the closed form's staggered count is near the replay's") {
    tests::Draw draw(77, devices());
    int seen = 0, near = 0;
    while (seen < 60) {
        const auto size = [&] { return std::to_string(128 * draw.integer(4, 24)); };
        const std::string text = std::string(draw.pick<const char*>({"h200-sxm", "a100-sxm4-40gb", "rtx-a6000"})) +
                                 " " + size() + "x" + size() + "x" + size() + " bf16 forward fused tile " +
                                 draw.pick<const char*>({"128x128x64", "128x256x64", "64x128x64"}) + " raster " +
                                 draw.pick<const char*>({"along_n", "along_m", "grouped:4", "grouped:8"});
        const Experiment e = parse_experiment(text, devices());
        const Device& d = devices().at(e.device);
        if (!fit(e, d, plan(e)).ok()) continue;
        ++seen;
        const double closed = static_cast<double>(count(e, d, plan(e), Count::closed_form).dram_range.staggered_bytes);
        const double walked = static_cast<double>(count(e, d, plan(e), Count::replay).dram_range.staggered_bytes);
        if (closed > 0.6 * walked && closed < 1.6 * walked) ++near;
    }
    MESSAGE(near << " of " << seen << " within a factor 1.6");
    CHECK(near >= seen * 8 / 10);
}
