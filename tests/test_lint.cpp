#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "sim/lint.hpp"

using namespace sim;

TEST_CASE("every compiled-in device is free of doubts") {
    for (const Device* d : Catalogue::builtin().all()) {
        CAPTURE(d->id);
        for (const std::string& doubt : lint_device(*d)) {
            FAIL_CHECK(doubt);
        }
    }
}

TEST_CASE("each rule finds the fault planted for it, and nothing else") {
    struct Fault {
        const char* id;
        std::function<void(Device&)> plant;
        const char* says;
    };
    const Fault faults[] = {
        {"h200-sxm", [](Device& d) { d.l2.effective_bytes.value = 60 * 0x1p20; },
         "l2.effective_bytes (6.29146e+07) is above"},
        {"h200-sxm", [](Device& d) { d.dram.bandwidth.value = 1.03 * d.dram.bandwidth_spec.value; },
         "dram.bandwidth ("},
        {"rtx-4090", [](Device& d) { d.l2.bandwidth.value = 0.9 * d.dram.bandwidth.value; }, "is above l2.bandwidth"},
        {"h200-sxm", [](Device& d) { d.l2.latency.value = 2 * d.dram.latency.value; }, "l2.latency ("},
        {"h200-sxm", [](Device& d) { d.sram.latency.value = 2 * d.l2.latency.value; }, "sram.latency ("},
        {"tpu-v5e", [](Device& d) { d.sram.bytes_per_cta.value = 129 * 0x1p20; }, "sram.bytes_per_cta ("},
        {"h200-sxm", [](Device& d) { d.sram.reserved_per_cta.value += 1; }, "and its reserved_per_cta"},
        {"h200-sxm", [](Device& d) { d.l1.bytes_per_sm.value = 200 * 1024; }, "is above the array it is carved from"},
        {"h200-sxm", [](Device& d) { d.clock.sustained.value = 2e9; }, "clock.sustained ("},
        {"tpu-v5e", [](Device& d) { d.clock.max.value = 1e9; }, "clock.boost (1.5e+09) is above clock.max"},
        {"h200-sxm", [](Device& d) { d.peak.at(Dtype::f32).value *= 1.04; },
         "peak.f32 (69.6 TFLOP/s) is not SMs x rate"},
        {"h200-sxm", [](Device& d) { d.peak.at(Dtype::bf16).value *= 0.95; }, "peak.bf16 (940 TFLOP/s) is not SMs"},
        {"rtx-4090", [](Device& d) { d.sm_count.value = 120; }, "is not SMs x rate x clock (120 SM"},
        {"mi300x", [](Device& d) { d.peak.at(Dtype::e4m3).value *= 1.1; }, "peak.e4m3 (2.88 PFLOP/s) is not SMs"},
        {"tpu-v5e", [](Device& d) { d.mxu.count.value = 2; }, "peak.bf16 (197 TFLOP/s) is not MXUs"},
        {"h200-sxm", [](Device& d) { d.sustained.at(Dtype::bf16).value = 1.2e15; },
         "sustained.bf16 (1.2 PFLOP/s) is above"},
        {"h200-sxm", [](Device& d) { d.per_sm.warps.value = 48; },
         "per_sm.threads (2048) is not 32 x per_sm.warps (48)"},
        {"h200-sxm", [](Device& d) { d.energy.sram_per_bit.value = 2e-12; }, "energy.sram_per_bit ("},
        {"h200-sxm", [](Device& d) { d.l2.drift.source.clear(); }, "l2.drift is assumed without a source"},
        {"h200-sxm", [](Device& d) { d.l2.drift.value = 1.5; }, "l2.drift is 1.5; expected 0 to 1 share"},
        {"scratchpad", [](Device& d) { d.overhead.step.value = -1; }, "overhead.step is -1; expected 0 to 0.01 s"},
    };
    for (const Fault& fault : faults) {
        CAPTURE(fault.says);
        Device d = Catalogue::builtin().at(fault.id);
        fault.plant(d);
        const auto doubts = lint_device(d);
        REQUIRE_FALSE(doubts.empty());
        for (const std::string& doubt : doubts) {
            CAPTURE(doubt);
            CHECK(doubt.find("nan") == doubt.npos);
        }
        CHECK(std::any_of(doubts.begin(), doubts.end(),
                          [&](const std::string& doubt) { return doubt.find(fault.says) != doubt.npos; }));
    }
}

TEST_CASE("a number that stays within a rule's slack is left alone") {
    Device d = Catalogue::builtin().at("h200-sxm");
    d.dram.bandwidth.value = 1.01 * d.dram.bandwidth_spec.value;
    d.peak.at(Dtype::bf16).value *= 1.02;
    CHECK(lint_device(d).empty());
}

TEST_CASE("a part that boosts past its quoted clock may sustain more than its peak, up to its highest clock") {
    Device d = Catalogue::builtin().at("rtx-4090");
    d.sustained[Dtype::f16].value = 175.1e12;
    CHECK(lint_device(d).empty());
    d.sustained[Dtype::f16].value = 1.15e15;
    CHECK_FALSE(lint_device(d).empty());
}

TEST_CASE("a device of which little is known has nothing to contradict") {
    Device d;
    d.id = "bare";
    CHECK(lint_device(d).empty());
    d.kind = DeviceKind::tpu;
    CHECK(lint_device(d).empty());
}
