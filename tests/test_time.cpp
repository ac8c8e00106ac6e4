// Time: oracles by hand for each kind of machine, what published measurements say of the effects it must show, and the
// laws that hold for every experiment.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/bound.hpp"
#include "sim/report.hpp"
#include "sim/time.hpp"
#include "sim/time_work.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

struct Counted {
    Experiment e;
    const Device* d;
    std::vector<Kernel> kernels;
    Counts counts;
    Bound b;
};
Counted counted(const Experiment& e, Count how = Count::automatic) {
    const Device& d = tests::catalogue().at(e.device);
    std::vector<Kernel> kernels = plan(e);
    Counts c = count(e, d, kernels, how);
    return {e, &d, std::move(kernels), std::move(c), bound(e, d)};
}
Counted counted(const std::string& text) { return counted(parse_experiment(text, tests::catalogue())); }

Prediction predicted(const Counted& c, const std::set<std::string>& without = {}) {
    return predict_time(c.e, *c.d, c.kernels, c.counts, c.b, without);
}
Prediction predicted(const std::string& text, const std::set<std::string>& without = {}) {
    return predicted(counted(text), without);
}

double term(const KernelReport& k, std::string_view name) {
    for (const TimeTerm& t : k.terms)
        if (t.name == name) return t.time_us;
    return 0;
}

}  // namespace

TEST_CASE("a soft maximum lies between the largest and the sum") {
    CHECK(soft_max(1, {3, 4}) == doctest::Approx(7));
    CHECK(soft_max(2, {3, 4}) == doctest::Approx(5));
    CHECK(soft_max(4, {1, 1}) == doctest::Approx(std::pow(2, 0.25)));
    CHECK(soft_max(8, {2, 2}) == doctest::Approx(2 * std::pow(2, 0.125)));
    CHECK(soft_max(INFINITY, {3, 4}) == 4);
    CHECK(soft_max(4, {0, 0}) == 0);
}

TEST_CASE("the Keras tile of 128x128 with an untiled K: 21.6 ms of copies, one after the other with 5.6 ms of MXU") {
    // 64 strips of X (4.19 MB each), 4096 of W, Y once: 17.717 GB at 819 GB/s. The guide measured 35.013 and 35.039 ms
    // (keras-io guides/define_custom_kernel, executed 2025-12-19); none of its rows set a constant.
    const Prediction p = predicted("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 order mnk buffers 1");
    REQUIRE(p.kernels.size() == 1);
    const KernelReport& k = p.kernels[0];
    CHECK(term(k, "dram") == doctest::Approx(17716740096 / 819e9 * 1e6).epsilon(1e-6));
    CHECK(term(k, "math") == doctest::Approx(2 * std::pow(8192.0, 3) / 197e12 * 1e6).epsilon(1e-6));
    const double loaded = 4096.0 * 2 * 128 * 8192;  // f32 elements turned into bf16, once a step
    CHECK(term(k, "smem") ==
          doctest::Approx(loaded * tests::catalogue().at("tpu-v5e").overhead.operand_load.value * 1e6));
    CHECK(term(k, "step_overhead") == doctest::Approx(4096 * 0.27));
    CHECK(term(k, "dispatch") == doctest::Approx(110));
    CHECK(p.limiter == Limiter::dram);
    CHECK_FALSE(p.pipelined);
    CHECK(std::abs(p.time_us / 35013 - 1) < 0.10);
    CHECK(p.interval_us[0] < 35013);
    CHECK(p.interval_us[1] > 35013);
}

TEST_CASE("with room for two copies the same tile hides its math behind its copies") {
    const Prediction serial = predicted("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192");
    const Prediction two = predicted("tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 vmem 32MiB");
    CHECK_FALSE(serial.pipelined);
    CHECK(two.pipelined);
    CHECK(two.time_us > 17716740096 / 819e9 * 1e6);
    CHECK(two.time_us < 0.75 * serial.time_us);
}

TEST_CASE("Pallas tiles of 128x128x128 are bound by starting a step, not by bandwidth") {
    // JAX Pallas TPU matmul guide, bf16 8192 cubed: 91.8 ms for 262144 steps, 0.350 us each, 0.081 of it copies.
    const Prediction p = predicted("tpu-v5e 8192x8192x8192 bf16 forward none tile 128x128x128");
    CHECK(p.limiter == Limiter::step_overhead);
    CHECK(p.time_us / 262144 == doctest::Approx(0.350).epsilon(0.03));
    CHECK(p.if_twice.at("step_overhead") == doctest::Approx(p.time_us - 262144 * 0.27 / 2));
    CHECK(p.if_twice.at("dram") > 0.85 * p.time_us);
    // 512x1024x1024: 5.956 us a step, 5.450 of MXU.
    const Prediction large = predicted("tpu-v5e 8192x8192x8192 bf16 forward none tile 512x1024x1024");
    CHECK(large.limiter == Limiter::math);
    CHECK(large.time_us / 1024 == doctest::Approx(5.956).epsilon(0.03));
}

TEST_CASE("a scratchpad step takes the longer of its copies and its math, and nothing else") {
    // 64x64x64: 0.524 us of math at 1 TFLOP/s, at most 0.491 us of copies at 100 GB/s.
    CHECK(predicted("scratchpad 512x512x512 f32 forward none tile 64x64x64").time_us ==
          doctest::Approx(512 * 2 * 64.0 * 64 * 64 / 1e6));
    // 16x16x16: copies take longer than math in every step, in every order.
    for (const char* order : {"mnk", "nmk", "kmn", "mkn", "knm", "nkm"}) {
        const Counted c = counted(std::string("scratchpad 256x256x256 f32 forward none tile 16x16x16 order ") + order);
        const double bytes = static_cast<double>(c.counts.kernels[0].at(Level::dram).total().bytes());
        CAPTURE(order);
        CHECK(predicted(c).time_us == doctest::Approx(bytes / 100e9 * 1e6));
    }
    // An untiled reduction: W moves with every step, X with every row of tiles, as long as both loops turn.
    const Counted c = counted("scratchpad 256x256x64 f32 forward none tile 64x64x64 order mnk");
    const double step = (64 * 64 * 4 + 64 * 64 * 4) / 100e9, row = step + 64 * 64 * 4 / 100e9,
                 math = 2 * 64.0 * 64 * 64 / 1e12;
    const double expected = 12 * std::max(step, math) + 3 * std::max(row, math) + std::max(row, math);
    CHECK(predicted(c).time_us == doctest::Approx(1e6 * expected));
}

TEST_CASE("an unfused ReLU costs two passes over Z and one more launch") {
    const Prediction none = predicted("tpu-v5e 8192x8192x8192 f32 forward none tile 512x512x512");
    const Prediction unfused = predicted("tpu-v5e 8192x8192x8192 f32 forward unfused tile 512x512x512");
    REQUIRE(unfused.kernels.size() == 2);
    CHECK(unfused.kernels[1].name == "relu");
    CHECK(term(unfused.kernels[1], "dram") + term(unfused.kernels[1], "fill") ==
          doctest::Approx(2.0 * 8192 * 8192 * 4 / 819e9 * 1e6));
    CHECK(unfused.time_us == doctest::Approx(none.time_us + unfused.kernels[1].time_us));
}

TEST_CASE("128 tiles on 108 SMs run in two waves: 59 % at best") {
    // Bullet (ASPLOS 2026), A100, 128x256 tiles: M = 1024 leaves 40.7 % idle, M = 2048 21.0 %.
    for (const auto& [m, bound_share] : {std::pair(1024, 0.593), {2048, 0.790}}) {
        const std::string text =
            "a100-sxm4-80gb " + std::to_string(m) + "x4096x4096 f16 forward none tile 128x256x32 stages 3 warps 8";
        const Prediction p = predicted(text, {"power"}), spread = predicted(text, {"power", "waves"});
        CHECK(p.waves == doctest::Approx(m / 1024.0 * 128 / 108));
        const double launch = tests::catalogue().at("a100-sxm4-80gb").overhead.launch.value * 1e6;
        CAPTURE(m);
        CHECK((spread.time_us - launch) / (p.time_us - launch) == doctest::Approx(bound_share).epsilon(0.05));
        CHECK(term(p.kernels[0], "waves") > 0.15 * p.time_us);
    }
}

TEST_CASE("the raster matters at 8192 cubed on an A100, and not at 4096") {
    // gau-nernst learn-cuda: 128x128x64, two stages: along_n 4891, grouped 4580 us at 8192; 622.5 and 622.9 at 4096.
    const auto gain = [](const char* size) {
        const std::string text = std::string("a100-sxm4-40gb ") + size +
                                 " bf16 forward none tile 128x128x64 pipeline double warps 4 raster ";
        return predicted(text + "along_n").time_us / predicted(text + "grouped:8").time_us;
    };
    CHECK(gain("8192x8192x8192") > 1.02);
    CHECK(gain("8192x8192x8192") < 1.12);
    CHECK(gain("4096x4096x4096") < 1.03);
    CHECK(gain("4096x4096x4096") >= 1.0);
}

TEST_CASE("one element is a launch") {
    const Prediction p = predicted("h100-sxm5 1x1x1 bf16 forward none tile 128x256x64");
    const double launch = tests::catalogue().at("h100-sxm5").overhead.launch.value * 1e6;
    CHECK(p.limiter == Limiter::launch);
    CHECK(p.time_us > launch);
    CHECK(p.time_us < 3 * launch);
    CHECK(p.if_twice.at("launch") == doctest::Approx(p.time_us - launch / 2));
}

TEST_CASE("a ReLU pass runs at L2 speed while Z is still there") {
    // SGLang PR 22271, B200: the extra pass over 59 MB ran at 5.0 TB/s, over 117 MB at 2.1 TB/s. Here: Z that fits is
    // not read from DRAM, Z that does not is.
    const Prediction fits = predicted("b200-sxm 1024x8192x512 bf16 forward unfused tile 128x256x64");
    const Prediction large = predicted("b200-sxm 32768x8192x512 bf16 forward unfused tile 128x256x64");
    const auto bytes_a_second = [](const Prediction& p, double m) {
        return 2 * m * 8192 * 2 / (term(p.kernels[1], "dram") + term(p.kernels[1], "l2"));
    };
    CHECK(bytes_a_second(fits, 1024) == doctest::Approx(2 * bytes_a_second(large, 32768)).epsilon(0.1));
}

TEST_CASE("pairs that alternate hide their epilogue, pairs that share a tile do not") {
    const std::string text = "h100-sxm5 8192x8192x1024 bf16 forward none tile 128x128x64 schedule persistent";
    CHECK(predicted(text + " consumers pingpong").time_us < predicted(text).time_us);
    CHECK(predicted(text + " consumers pingpong", {"epilogue"}).time_us ==
          doctest::Approx(predicted(text, {"epilogue"}).time_us));
}

TEST_CASE("stages hide latency until nothing is left to hide") {
    double before = INFINITY;
    for (int stages : {2, 3, 4, 5}) {
        const Prediction p = predicted("h100-sxm5 4096x4096x4096 bf16 forward none tile 128x128x64 stages " +
                                       std::to_string(stages) + " ctas 1");
        CHECK(p.time_us <= before);
        before = p.time_us;
    }
    CHECK(
        predicted("h100-sxm5 4096x4096x4096 bf16 forward none tile 128x128x64 stages 5 ctas 1").if_twice.at("latency") >
        0.97 * before);
}

TEST_CASE("a GEMM is never faster than its machine sustains, unless its inputs are easy") {
    const std::string text = "a100-sxm4-40gb 8192x8192x8192 bf16 forward none tile 256x128x32 raster grouped:8 warps 8";
    const double sustained =
        2 * std::pow(8192.0, 3) / tests::catalogue().at("a100-sxm4-40gb").sustained.at(Dtype::bf16).value * 1e6;
    CHECK(predicted(text).time_us > sustained);
    CHECK(predicted(text + " traits inputs=easy").time_us <= predicted(text).time_us);
}

TEST_CASE("twice a resource is what a device with twice of it gives") {
    const Counted c = counted("h100-sxm5 8192x8192x256 bf16 forward none tile 128x128x64");
    const Prediction p = predicted(c);
    Device faster = *c.d;
    faster.dram.bandwidth.value *= 2;
    TimeModel model;
    CHECK(p.if_twice.at("dram") == doctest::Approx(time_us(c.e, faster, c.kernels, c.counts, model)));
    faster = *c.d;
    faster.overhead.launch.value /= 2;
    CHECK(p.if_twice.at("launch") == doctest::Approx(time_us(c.e, faster, c.kernels, c.counts, model)));
}

TEST_CASE("every constant of the engines says what it is and where it comes from, and they are few") {
    CHECK(engine_constant_table().size() <= 8);
    for (const EngineConstant& c : engine_constant_table()) {
        CAPTURE(c.name);
        CHECK_FALSE(c.unit.empty());
        CHECK(c.source.size() > 10);
        CHECK(engine_constants().*c.member == c.candidates[2]);
        CHECK(std::is_sorted(c.candidates.begin(), c.candidates.end()));
    }
}

TEST_SUITE_BEGIN("slow");

TEST_CASE("laws of time, over random experiments") {
    tests::Draw draw(20261130, tests::catalogue());
    constexpr Limiter resources[] = {Limiter::math,          Limiter::sram,    Limiter::l2,
                                     Limiter::dram,          Limiter::latency, Limiter::launch,
                                     Limiter::step_overhead, Limiter::power};
    int seen = 0;
    for (int i = 0; i < 6000; ++i) {
        const i64 most = i % 3 == 0 ? 65536 : i % 3 == 1 ? 3000 : 200;
        const std::string text = draw.text(most, i % 2 ? 25 : 0);
        const Experiment e = parse_experiment(text, tests::catalogue());
        const Device& d = tests::catalogue().at(e.device);
        if (!fit(e, d, plan(e)).ok()) continue;
        ++seen;
        const Counted c = counted(e, Count::closed_form);
        const Prediction p = predicted(c);
        CAPTURE(text);
        REQUIRE(std::isfinite(p.time_us));
        REQUIRE(p.time_us > 0);
        REQUIRE(p.time_us >= c.b.time_us * (1 - 1e-12));
        REQUIRE(p.interval_us[0] <= p.time_us);
        REQUIRE(p.interval_us[1] >= p.time_us);
        double sum = 0;
        for (const KernelReport& k : p.kernels) {
            double of_kernel = 0;
            for (const TimeTerm& t : k.terms) of_kernel += t.time_us;
            REQUIRE(of_kernel == doctest::Approx(k.time_us));
            sum += k.time_us;
        }
        REQUIRE(sum == doctest::Approx(p.time_us));
        const double plain = time_us(e, d, c.kernels, c.counts);
        REQUIRE(std::max(plain, c.b.time_us) == doctest::Approx(p.time_us));
        for (Limiter l : resources) {
            TimeModel faster;
            faster.speed[static_cast<std::size_t>(l)] = 1.5;
            REQUIRE(time_us(e, d, c.kernels, c.counts, faster) <= plain * (1 + 1e-12));
        }
        Device quicker = d;  // the whole chip a fifth faster
        for (auto& [dtype, rate] : quicker.peak) rate.value *= 1.2;
        for (Quantity* q : {&quicker.clock.boost, &quicker.clock.max, &quicker.l2.bandwidth, &quicker.dram.bandwidth})
            q->value *= 1.2;
        for (Quantity* q : {&quicker.l2.latency, &quicker.dram.latency, &quicker.overhead.launch}) q->value /= 1.2;
        REQUIRE(time_us(e, quicker, c.kernels, c.counts) <= plain * (1 + 1e-12));
    }
    CHECK(seen > 1500);
}

TEST_SUITE_END();

TEST_CASE("the largest legal problem has a finite time on every device") {
    for (const Device* d : tests::catalogue().all()) {
        for (const char* dtype : {"f32", "bf16"}) {
            const std::string text = d->id + " 65536x65536x65536 " + dtype + " forward fused";
            const Experiment e = parse_experiment(text, tests::catalogue());
            if (!fit(e, *d, plan(e)).ok()) continue;
            CAPTURE(text);
            const Prediction p = predicted(counted(e, Count::closed_form));
            CHECK(std::isfinite(p.time_us));
            CHECK(p.time_us >= 2 * std::pow(65536.0, 3) / (1.5 * d->peak_flops(e.dense.dtype)) * 1e6);
        }
    }
}

TEST_CASE("a term left out never costs time") {
    for (const char* text :
         {"h100-sxm5 4096x4096x4096 bf16 train unfused tile 128x256x64 tile.dgrad 128x256x64 tile.wgrad 128x256x64",
          "rtx-a6000 1000x1000x1000 f32 forward unfused tile 128x128x8 thread 8x8",
          "tpu-v5e 1000x1024x1024 f32 forward fused tile 128x128x128",
          "a100-sxm4-40gb 2048x2048x2048 bf16 forward none tile 128x128x64 pipeline none"}) {
        const Counted c = counted(text);
        const double whole = time_us(c.e, *c.d, c.kernels, c.counts);
        for (const TimeTermInfo& t : time_terms()) {
            CAPTURE(text);
            CAPTURE(t.name);
            CHECK_FALSE(t.what.empty());
            CHECK(predicted(c, {std::string(t.name)}).time_us <= whole * (1 + 1e-12));
        }
    }
}

TEST_CASE("a CPU rung runs at the rate of what its inner loop waits for, on the cores it uses") {
    const auto us = [](const std::string& words) {
        return predict(parse_experiment("cpu 512x512x512 f32 forward none " + words, tests::catalogue()),
                       tests::catalogue())
            .predicted->time_us;
    };
    const double flops = 2 * std::pow(512.0, 3);
    // tests/data/cpu.toml: 1.6 GFLOP/s of dependent sums, 25 of row updates, 400 of two cores' multiply-adds.
    CHECK(us("rung 01_naive") == doctest::Approx(flops / 1.6e9 * 1e6).epsilon(0.05));
    CHECK(us("rung 02_loop_order") == doctest::Approx(flops / 25e9 * 1e6).epsilon(0.1));
    CHECK(us("rung 03_cache_tile") == doctest::Approx(flops / 25e9 * 1e6).epsilon(0.1));
    CHECK(us("rung 04_packed threads 1") > 1.8 * flops / 400e9 * 1e6);
    CHECK(us("rung 04_packed threads 1") > 1.7 * us("rung 04_packed threads 2"));
    CHECK(us("rung 01_naive threads 2") == us("rung 01_naive threads 1"));  // it uses one
    // A stream of elementwise kernels on one core draws what one core can.
    const auto relu = [](const char* threads) {
        const Report r =
            predict(parse_experiment(std::string("cpu 8192x8192x16 f32 forward unfused threads ") + threads,
                                     tests::catalogue()),
                    tests::catalogue());
        return r.predicted->kernels.at(1).time_us;
    };
    CHECK(relu("1") / relu("2") == doctest::Approx(60.0 / 36).epsilon(0.02));
}
