// Check-then-time, its progress and cancellation, and the threads below it.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stop_token>
#include <vector>

#include "kernels/cpu/pool.hpp"
#include "kernels/cpu/run.hpp"

using namespace kernels;
using sim::Fusion;
using sim::Pass;
using sim::Residual;

namespace {

constexpr cpu::RunOptions quick = {.seconds = 0, .cache_bytes = 1 << 20};

}  // namespace

TEST_CASE("a run takes at least seven samples and their median lies among them") {
    const Op op{{.m = 65, .n = 70, .k = 50}, Pass::forward, Fusion::unfused, Residual::y};
    const cpu::RunResult r = cpu::run(op, {}, quick);
    REQUIRE(r.fit.ok());
    CHECK(r.samples_us.size() == 7);
    CHECK(r.min_us > 0);
    CHECK(r.min_us <= r.median_us);
    CHECK(r.median_us <= r.max_us);
    CHECK(std::count(r.samples_us.begin(), r.samples_us.end(), r.median_us) >= 1);
    REQUIRE(r.kernels.size() == 2);
    CHECK(r.kernels[0].name == "matmul");
    CHECK(r.kernels[1].name == "relu");
    CHECK(r.max_error > 0);
    CHECK(r.max_error < 1e-5);
    CHECK(r.checked == "a 65x70x50 instance with NaN, infinities, -0 and subnormals and every element at full size");
    CHECK(r.data == "normal");
    CHECK(!r.cancelled);
}

TEST_CASE("a training step runs its kernels in the design's order") {
    const auto names = [](Fusion fusion) {
        std::string all;
        for (const cpu::KernelMedian& k : cpu::run({{.m = 9, .n = 9, .k = 9}, Pass::train, fusion}, {}, quick).kernels)
            all += (all.empty() ? "" : " ") + k.name;
        return all;
    };
    CHECK(names(Fusion::none) == "matmul dgrad wgrad");
    CHECK(names(Fusion::unfused) == "matmul relu mask dgrad wgrad");
    CHECK(names(Fusion::fused) == "matmul dgrad wgrad");
    CHECK(names(Fusion::upstream) == "matmul dgrad wgrad");
}

TEST_CASE("operand sets rotate through more than twice the cache, and a warm run keeps one") {
    const Op op{{.m = 128, .n = 128, .k = 128}, Pass::forward, Fusion::fused, Residual::y};
    const i64 set = OperandSet::bytes(op);
    cpu::RunOptions options = quick;
    options.cache_bytes = 4 * set;
    const cpu::RunResult cold = cpu::run(op, {}, options);
    CHECK(cold.cold);
    CHECK(cold.sets == 9);  // 8 sets are twice the cache, not more
    options.warm = true;
    const cpu::RunResult warm = cpu::run(op, {}, options);
    CHECK(!warm.cold);
    CHECK(warm.sets == 1);
    options = quick;
    options.cache_bytes = set / 2 - 1;
    CHECK(cpu::run(op, {}, options).sets == 1);  // one is enough
    CHECK(cpu::run(op, {}, options).cold);
    options.cache_bytes = 100 * set;
    options.most_bytes = 5 * set;
    CHECK(cpu::run(op, {}, options).sets == 5);
    CHECK(!cpu::run(op, {}, options).cold);
}

TEST_CASE("progress only rises, ends at the whole, and is told on the caller's thread") {
    for (const cpu::Rung& rung : cpu::rungs()) {
        const Op op{{.m = 90, .n = 60, .k = 60}, Pass::train, Fusion::fused, Residual::mask};
        const auto caller = std::this_thread::get_id();
        std::vector<double> shares;
        bool elsewhere = false;
        cpu::run(op, {.rung = &rung, .tile = {18, 16, 16}}, quick, [&](double share) {
            shares.push_back(share);
            elsewhere = elsewhere || std::this_thread::get_id() != caller;
        });
        CAPTURE(rung.id);
        CHECK(std::is_sorted(shares.begin(), shares.end()));
        CHECK(shares.size() >= 8);  // at least once a run
        CHECK(shares.back() == doctest::Approx(1));
        CHECK(!elsewhere);
    }
}

TEST_CASE("a stop ends a run between tiles and keeps the samples that were whole") {
    for (const cpu::Rung& rung : cpu::rungs()) {
        const Op op{{.m = 160, .n = 160, .k = 160}, Pass::forward, Fusion::fused, Residual::y};
        const cpu::Config config{.rung = &rung, .tile = {18, 160, 160}};
        CAPTURE(rung.id);
        std::stop_source at_once;
        at_once.request_stop();
        const cpu::RunResult none = cpu::run(op, config, quick, {}, at_once.get_token());
        CHECK(none.cancelled);
        CHECK(none.samples_us.empty());

        std::stop_source later;
        double last = 0;
        const cpu::RunResult some = cpu::run(
            op, config, quick,
            [&](double share) {
                last = share;
                if (share > 0.45) later.request_stop();  // within the third of seven samples
            },
            later.get_token());
        CHECK(!some.cancelled);
        CHECK(some.samples_us.size() == 2);
        CHECK(last < 0.6);
    }
}

TEST_CASE("long runs settle for fewer samples") {
    const Op op{{.m = 200, .n = 200, .k = 200}, Pass::forward, Fusion::fused};
    cpu::RunOptions options = quick;
    options.most_seconds = 0;
    CHECK(cpu::run(op, {}, options).samples_us.size() == 1);
    options.most_seconds = 30;
    options.least_samples = 3;
    CHECK(cpu::run(op, {}, options).samples_us.size() == 3);
}

TEST_CASE("what does not fit the memory here is said, not tried") {
    const Op op{{.m = i64{1} << 30, .n = i64{1} << 30, .k = 1}, Pass::forward, Fusion::fused};
    const cpu::RunResult r = cpu::run(op, {}, quick);
    CHECK(r.fit.why.starts_with("needs "));
    CHECK(r.samples_us.empty());
    // A tile too: b (bk,bn) is packed twice.
    const Op small{{.m = 8, .n = i64{1} << 20, .k = i64{1} << 10}, Pass::forward, Fusion::fused};
    const double usual = cpu::scratch_bytes(small, {});
    CHECK(usual == 4.0 * (2 * 256 * 1536 + cpu::usable_cores() * 8 * 256 + 8 * 1536));
    CHECK(cpu::scratch_bytes(small, {.tile = {384, i64{1} << 20, i64{1} << 10}}) >= 8.0 * (1 << 20) * (1 << 10));
}

TEST_CASE("a pool runs every thread once a call, and its barrier separates phases") {
    cpu::Pool pool;
    for (const int threads : {1, 2, 3, 2, 5}) {
        for (int call = 0; call < 50; call++) {
            std::vector<int> runs(static_cast<std::size_t>(threads));
            std::atomic<int> before{0};
            bool apart = true;
            std::vector<char> ok(static_cast<std::size_t>(threads));
            cpu::Barrier barrier(threads);
            pool.run(threads, [&](int thread) {
                runs[static_cast<std::size_t>(thread)]++;
                for (int phase = 1; phase <= 3; phase++) {
                    before.fetch_add(1, std::memory_order_relaxed);
                    barrier.arrive_and_wait();
                    ok[static_cast<std::size_t>(thread)] = before.load(std::memory_order_relaxed) == phase * threads;
                    barrier.arrive_and_wait();
                }
            });
            for (const char one : ok) apart = apart && one;
            REQUIRE(apart);
            REQUIRE(std::accumulate(runs.begin(), runs.end(), 0) == threads);
            REQUIRE(*std::min_element(runs.begin(), runs.end()) == 1);
        }
    }
}

TEST_CASE("two callers of a pool take turns") {
    cpu::Pool pool;
    std::atomic<int> inside{0}, most{0};
    const auto call = [&] {
        for (int i = 0; i < 100; i++)
            pool.run(2, [&](int thread) {
                if (thread == 0) {
                    most = std::max(most.load(), ++inside);
                    --inside;
                }
            });
    };
    std::thread other(call);
    call();
    other.join();
    CHECK(most == 1);
}
