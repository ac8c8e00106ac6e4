// Laws that hold for every experiment, checked over random ones.

#include <doctest/doctest.h>

#include <cmath>

#include "sim/bound.hpp"
#include "sim/count.hpp"
#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "sim/time.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

const Catalogue& devices() { return tests::catalogue(); }

double requests_of(const std::vector<Kernel>& kernels) {
    double n = 0;
    for (const Kernel& k : kernels)
        n += static_cast<double>(k.row_tiles()) * static_cast<double>(k.col_tiles()) *
             static_cast<double>(k.k_steps()) * static_cast<double>(k.batch);
    return n;
}

Traffic total(const Counts& c) {
    Traffic t;
    for (const Traffic& k : c.kernels) t += k;
    return t;
}

/// Calls f(experiment, device, kernels) for `count` random experiments that fit.
template <class F>
void each(std::uint32_t seed, int count, i64 size, double most_requests, F&& f) {
    tests::Draw draw(seed, devices());
    for (int i = 0, tries = 0; i < count && tries < 20 * count; ++tries) {
        const Experiment e = draw.experiment(tries % 4 ? size : 40, tries % 3 * 15);
        const Device& d = devices().at(e.device);
        const auto kernels = plan(e);
        if (requests_of(kernels) > most_requests || !fit(e, d, kernels).ok()) continue;
        CAPTURE(to_string(e, devices()));
        f(e, d, kernels);
        ++i;
    }
}

}  // namespace

TEST_CASE("the same experiment always gives the same report") {
    each(1, 60, 1500, 20000, [](const Experiment& e, const Device&, const std::vector<Kernel>&) {
        const Report a = predict(e, devices()), b = predict(e, devices());
        REQUIRE(a.predicted->time_us == b.predicted->time_us);
        REQUIRE(a.dram_range.staggered_bytes == b.dram_range.staggered_bytes);
    });
}

TEST_CASE("SRAM fills are L2 reads times the multicast; DRAM never reads more than the L2 gives") {
    each(2, 400, 1500, 20000, [](const Experiment& e, const Device& d, const std::vector<Kernel>& kernels) {
        const Counts c = count(e, d, kernels, Count::replay);
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const Traffic& t = c.kernels[i];
            for (int o = 0; o < operand_count; ++o) {
                const Flow &dram = t.at(Level::dram).operands[o], &l2 = t.at(Level::l2).operands[o];
                REQUIRE(dram.causes.compulsory + dram.causes.capacity + dram.causes.order + dram.causes.write +
                            dram.causes.padding ==
                        dram.moved_read_bytes + dram.moved_write_bytes);
                if (t.at(Level::l2).present)
                    REQUIRE(dram.read_bytes <= l2.read_bytes + 1);  // a mask's total is rounded up once
            }
            if (d.kind != DeviceKind::gpu || !kernels[i].matmul || e.cluster != Shape2{1, 1}) continue;
            for (const Access& a : kernels[i].left) {
                const i64 fills = t.at(Level::sram).of(a.tensor.name).write_bytes;
                REQUIRE(fills == t.at(Level::l2).of(a.tensor.name).read_bytes);
            }
        }
    });
}

TEST_CASE("cold DRAM reads are at least compulsory, and exactly that for a lone matmul in an L2 that holds all") {
    each(3, 400, 900, 20000, [](const Experiment& e, const Device& device, const std::vector<Kernel>& kernels) {
        if (e.l2 == L2Start::warm || device.kind == DeviceKind::cpu) return;
        const Compulsory least = compulsory(e);
        const Flow dram = total(count(e, device, kernels, Count::replay)).at(Level::dram).total();
        REQUIRE(dram.read_bytes >= least.read_bytes);
        REQUIRE(dram.write_bytes >= least.write_bytes);
        if (device.kind != DeviceKind::gpu || kernels.size() != 1) return;
        Device large = device;
        large.l2.bytes.value = large.l2.effective_bytes.value = 1e15;
        const Flow all = total(count(e, large, kernels, Count::replay)).at(Level::dram).total();
        REQUIRE(all.read_bytes == least.read_bytes);
    });
}

TEST_CASE("a larger L2 never costs traffic at fixed slots") {
    each(4, 250, 1500, 20000, [](const Experiment& e, const Device& device, const std::vector<Kernel>& kernels) {
        if (device.kind != DeviceKind::gpu || kernels.size() != 1) return;
        const Slots slots = slots_of(e, device, kernels);
        i64 before = INT64_MAX, staggered = INT64_MAX;
        // From the largest tile up: one that exceeds the L2 is not kept, so it drops nothing there.
        const Tile& tile = kernels[0].tile;
        const double largest =
            4.0 * static_cast<double>(std::max({tile.bm * tile.bn, tile.bm * tile.bk, tile.bk * tile.bn}));
        for (double bytes = largest; bytes < 1e8; bytes *= 2.3) {
            Device d = device;
            d.l2.bytes.value = d.l2.effective_bytes.value = std::floor(bytes);
            const Counts c = replay_gpu(e, d, kernels, slots);
            REQUIRE(c.dram_range.lockstep_bytes <= before);
            REQUIRE(c.dram_range.staggered_bytes <= staggered);
            before = c.dram_range.lockstep_bytes;
            staggered = c.dram_range.staggered_bytes;
        }
    });
}

TEST_CASE("rows and columns swapped mirror the report on sequential machines and in the closed form") {
    tests::Draw draw(5, devices());
    const std::map<std::string, std::string> mirrored = {{"mnk", "nmk"}, {"nmk", "mnk"}, {"kmn", "knm"},
                                                         {"knm", "kmn"}, {"mkn", "nkm"}, {"nkm", "mkn"}};
    for (int i = 0; i < 300; ++i) {
        const std::string m = std::to_string(draw.integer(1, 900)), n = std::to_string(draw.integer(1, 900)),
                          k = std::to_string(draw.integer(1, 900));
        const std::string bm = std::to_string(8 * draw.integer(1, 16)), bn = std::to_string(8 * draw.integer(1, 16)),
                          bk = std::to_string(draw.integer(1, 99));
        const bool gpu = draw.one_in(2);
        std::string here = gpu ? " raster along_n" : " order ", there = gpu ? " raster along_m" : " order ";
        if (!gpu) {
            const std::string order = draw.pick<const char*>({"mnk", "nmk", "kmn", "mkn", "knm", "nkm"});
            here += order;
            there += mirrored.at(order);
        }
        const std::string device = gpu ? "rtx-a6000" : "scratchpad", what = " f32 forward fused tile ";
        const Experiment a =
            parse_experiment(device + " " + m + "x" + n + "x" + k + what + bm + "x" + bn + "x" + bk + here, devices());
        const Experiment b =
            parse_experiment(device + " " + n + "x" + m + "x" + k + what + bn + "x" + bm + "x" + bk + there, devices());
        const Device& d = devices().at(device);
        if (!fit(a, d, plan(a)).ok() || !fit(b, d, plan(b)).ok()) continue;
        const Traffic s = total(count(a, d, plan(a), Count::closed_form)),
                      t = total(count(b, d, plan(b), Count::closed_form));
        CAPTURE(to_string(a, devices()));
        for (Level level : {Level::dram, Level::l2}) {
            REQUIRE(s.at(level).of(Operand::x).read_bytes == t.at(level).of(Operand::w).read_bytes);
            REQUIRE(s.at(level).of(Operand::w).read_bytes == t.at(level).of(Operand::x).read_bytes);
            REQUIRE(s.at(level).of(Operand::y).write_bytes == t.at(level).of(Operand::y).write_bytes);
        }
    }
}

TEST_CASE("predictions are finite, name a limiter and never beat their bound") {
    each(6, 1500, 5000, 1e12, [](const Experiment& e, const Device&, const std::vector<Kernel>&) {
        const Report r = predict(e, devices(), {Count::closed_form, {}});
        REQUIRE(r.predicted);
        const Prediction& p = *r.predicted;
        REQUIRE(std::isfinite(p.time_us));
        REQUIRE(p.time_us >= r.bound.time_us);
        REQUIRE(p.interval_us[0] <= p.time_us);
        REQUIRE(p.interval_us[1] >= p.time_us);
        REQUIRE(!p.if_twice.empty());
        double kernels = 0;
        for (const KernelReport& k : p.kernels) {
            double terms = 0;
            for (const TimeTerm& t : k.terms) terms += t.time_us;
            REQUIRE(terms == doctest::Approx(k.time_us).epsilon(1e-6));
            kernels += k.time_us;
        }
        REQUIRE(kernels == doctest::Approx(p.time_us).epsilon(1e-6));
        for (const auto& [resource, time] : p.if_twice) {
            CAPTURE(resource);
            REQUIRE(time <= p.time_us * (1 + 1e-9));
        }
    });
}

TEST_CASE("a faster clock, bandwidth, latency or launch never costs time") {
    each(7, 500, 3000, 1e9, [](const Experiment& e, const Device& device, const std::vector<Kernel>& kernels) {
        const Counts c = count(e, device, kernels, Count::closed_form);
        const double before = time_us(e, device, kernels, c);
        Device d = device;
        const auto check = [&](const char* what) {
            CAPTURE(what);
            REQUIRE(time_us(e, d, kernels, c) <= before * (1 + 1e-9));
            d = device;
        };
        for (Quantity* q : {&d.dram.bandwidth, &d.l2.bandwidth, &d.sram.bytes_per_clock}) q->value *= 1.7;
        check("bandwidths");
        for (Quantity* q : {&d.dram.latency, &d.l2.latency, &d.sram.latency, &d.overhead.launch, &d.overhead.step,
                            &d.overhead.dispatch})
            q->value *= 0.6;
        check("latencies and overheads");
        for (auto* rates : {&d.peak, &d.sustained})
            for (auto& [t, q] : *rates) q.value *= 1.4;
        check("peak");
    });
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
        const auto rows = sweep(e, devices(), {8, {}, {}});
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
