#pragma once
// Random experiments for property tests: every word of the text form, sizes from 1 up, seeded.

#include <algorithm>
#include <bit>
#include <random>

#include "sim/experiment.hpp"

namespace tests {

/// Draws experiments over a set of devices; the same seed draws the same ones.
class Draw {
public:
    Draw(std::uint32_t seed, const sim::Catalogue& devices) : random_(seed), devices_(devices), all_(devices.all()) {}

    sim::i64 integer(sim::i64 low, sim::i64 high) {
        return std::uniform_int_distribution<sim::i64>(low, high)(random_);
    }
    bool one_in(int n) { return integer(1, n) == 1; }
    template <class T>
    T pick(std::initializer_list<T> from) {
        return *(from.begin() + integer(0, static_cast<sim::i64>(from.size()) - 1));
    }

    /// 1 to `high`, each power of two as likely as the next.
    sim::i64 spread(sim::i64 high) {
        const sim::i64 top = sim::i64{1} << integer(0, std::bit_width(static_cast<std::uint64_t>(high)) - 1);
        return std::min(high, integer(top, 2 * top - 1));
    }

    /// An experiment as text, sizes up to `most` (evenly or as `spread` does); `words` in 100 of the optional words are
    /// said.
    std::string text(sim::i64 most, int words, bool spread_out = false) {
        using namespace sim;
        const Device& d = *all_[static_cast<std::size_t>(integer(0, static_cast<i64>(all_.size()) - 1))];
        const bool gpu = d.kind == DeviceKind::gpu, tpu = d.kind == DeviceKind::tpu, cpu = d.kind == DeviceKind::cpu;
        const std::string dtype = pick({"f32", "tf32", "f16", "bf16", "e4m3"});
        const std::string pass = pick({"forward", "dgrad", "wgrad", "train"});
        std::string fusion = pick({"none", "unfused", "fused", "upstream"});
        if (pass == "forward" && fusion == "upstream") fusion = "fused";
        if (pass == "train" && fusion == "none") fusion = "unfused";
        const auto say = [&] { return integer(1, 100) <= words; };
        const auto size = [&](i64 high) { return std::to_string(integer(1, high)); };
        const auto tile = [&] {
            if (tpu)
                return std::to_string(128 * integer(1, 8)) + "x" + std::to_string(128 * integer(1, 8)) + "x" +
                       std::to_string(128 * integer(1, 8));
            return std::to_string(8 * integer(1, 32)) + "x" + std::to_string(8 * integer(1, 32)) + "x" +
                   std::to_string(integer(1, 128));
        };
        const auto extent = [&] { return spread_out ? std::to_string(spread(most)) : size(most); };
        std::string t = d.id;
        if (say()) t += " batch " + size(3);
        t += " " + extent() + "x" + extent() + "x" + extent() + " " + dtype;
        if (say()) t += std::string(" out ") + pick({"f32", "bf16", "f16"});
        t += " " + pass + " " + fusion;
        const bool may_mask =
            fusion != "none" && !(pass == "forward" && fusion != "fused") && !(pass == "wgrad" && fusion == "upstream");
        if (may_mask && say()) t += std::string(" residual ") + pick({"y", "mask"});
        if (pass == "forward" && say()) t += " bias yes";
        if ((pass == "wgrad" || pass == "train") && say()) t += " accumulate yes";
        if (fusion == "upstream" && pass != "wgrad" && say()) t += std::string(" drelu ") + pick({"yes", "no"});
        if (fusion == "unfused" && say()) t += " in_place yes";
        const bool unshared = gpu && one_in(8);  // a rung without a shared tile, a thread an output
        const auto cut = [&] {
            return unshared ? pick<std::string>({"32x32x", "16x16x", "8x32x", "64x16x", "16x64x", "24x8x"}) + size(64)
                            : tile();
        };
        t += " tile " + cut();
        if (pass == "train") t += " tile.dgrad " + cut() + " tile.wgrad " + cut();
        if (unshared) t += std::string(" rung ") + pick({"01_naive", "02_coalesced"});
        if (cpu && say())
            t += std::string(" rung ") + pick({"01_naive", "02_loop_order", "03_cache_tile", "04_packed"});
        if (gpu) {
            if (say()) t += std::string(" raster ") + pick({"along_m", "along_n", "grouped:2", "grouped:8", "hilbert"});
            if (say())
                t += std::string(" schedule ") + pick({"persistent", "split_k:2", "split_k:3", "stream_k", "stream_k"});
            if (say()) t += " sms " + size(d.sm_count.known() ? static_cast<i64>(d.sm_count.value) : 1);
            if (say()) t += " ctas " + size(3);
            if (!unshared && say()) t += " stages " + size(4);
            if (say()) t += std::string(" l2 ") + pick({"cold", "warm"});
            if ((d.compute_capability == "9.0" || d.compute_capability == "10.0") && !unshared && say())
                t += std::string(" cluster ") + pick({"2x1", "1x2", "2x2"});
        } else if (say()) {
            t += std::string(" order ") + pick({"mnk", "nmk", "kmn", "mkn", "knm", "nkm"});
        }
        if (tpu) {
            if (say()) t += std::string(" buffers ") + pick({"1", "2", "3"});
            if (say()) t += std::string(" vmem ") + pick({"8MiB", "32MiB", "64MiB"});
            if (say()) t += std::string(" precision ") + pick({"high", "highest"});
        }
        if ((gpu || cpu) && say()) t += " pitch tight";
        if (cpu && say()) t += " threads " + size(4);
        if (say()) t += " traits source=drawn,seed=" + size(99);
        return t;
    }
    sim::Experiment experiment(sim::i64 most, int words, bool spread_out = false) {
        return sim::parse_experiment(text(most, words, spread_out), devices_);
    }

private:
    std::mt19937 random_;
    const sim::Catalogue& devices_;
    std::vector<const sim::Device*> all_;
};

/// The catalogue the tests use: the builtin devices and a fixed CPU, so that nothing is calibrated.
const sim::Catalogue& catalogue();

}  // namespace tests
