#include "kernels/recorded.hpp"

#include <fmt/format.h>

#include <ctime>

#include "sim/build_info.hpp"

namespace kernels {

std::string utc(const char* format) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char text[32];
    std::strftime(text, sizeof text, format, gmtime_r(&now, &parts));
    return text;
}

std::map<std::string, std::string> recorded_row(const sim::Experiment& e, const RunResult& r,
                                                const sim::Catalogue& devices, std::string_view source) {
    const auto plain = [](auto number) { return fmt::format("{}", number); };
    const sim::Dense& l = e.dense;
    const bool forward = e.pass == sim::Pass::forward;
    std::map<std::string, std::string> row = {
        {"split", "recorded"},
        {"source", std::string(source)},
        {"device", e.device},
        {"pass", std::string(to_string(e.pass))},
        {"dtype", std::string(to_string(l.dtype))},
        {"acc", "f32"},
        {"batch", plain(l.batch)},
        {"m", plain(l.m)},
        {"n", plain(l.n)},
        {"k", plain(l.k)},
        {"engine", std::string(to_string(e.engine))},
        {"pipeline", std::string(to_string(e.pipeline))},
        {"bm", plain(e.tile.bm)},
        {"bn", plain(e.tile.bn)},
        {"bk", plain(e.tile.bk)},
        {"threads", plain(r.threads)},
        {"epilogue", forward && e.fusion == sim::Fusion::fused ? "relu" : "none"},
        {"confidence", "high"},
        {"note", fmt::format("{}; {}", r.instructions, r.checked)},
        {"experiment", sim::to_string(e, devices)},
        {"max_error", plain(r.max_error)},
        {"cache", r.cold ? "cold" : "warm"},
        {"data", r.data},
        {"machine", r.machine},
        {"driver", r.driver},
        {"date", utc("%Y-%m-%d")},
        {"git", std::string(sim::build_info().git)},
    };
    if (devices.at(e.device).kind == sim::DeviceKind::gpu) row["stages"] = plain(e.stages);
    if (!r.samples_us.empty()) {
        row["time_us"] = plain(r.median_us);
        row["min_us"] = plain(r.min_us);
        row["max_us"] = plain(r.max_us);
        row["samples"] = plain(r.samples_us.size());
    }
    if (r.clocks.clock_mhz > 0) row["clock_mhz"] = plain(r.clocks.clock_mhz);
    if (r.clocks.power_w > 0) row["power_w"] = plain(r.clocks.power_w);
    if (!r.clocks.throttled.empty()) row["note"] += "; held back by " + r.clocks.throttled;
    if (r.counters) {
        row["dram_bytes"] = plain(r.counters->dram_read_bytes + r.counters->dram_write_bytes);
        row["l2_hit_pct"] = plain(100 * r.counters->l2_hit_share);
    }
    if (e.fusion == sim::Fusion::unfused) row["traits"] = forward ? "extra_pass=relu" : "extra_pass=mask";
    return row;
}

}  // namespace kernels
