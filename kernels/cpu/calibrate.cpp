#include "kernels/cpu/calibrate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/machine.hpp"
#include "kernels/cpu/pool.hpp"
#include "kernels/cpu/probe.hpp"
#include "kernels/user_cache.hpp"

namespace kernels::cpu {

namespace fs = std::filesystem;

namespace {

using sim::Evidence;
using sim::Quantity;

constexpr double margin = 1.05;  // of the bound over the best probe

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
}

/// The processor's name as a device file may hold it: printable ASCII, at most 60 characters.
std::string device_name() {
    std::string name = processor_name().substr(0, 60);
    for (char& c : name)
        if (c < ' ' || c > '~') c = ' ';
    return name;
}

/// A probe is not better than this.
double four_digits(double value) { return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr); }

/// What the system says of a cache, if that is between `least` and `most`; else 0.
i64 reported(int level, i64 least, i64 most) {
    const i64 bytes = cache_bytes(level);
    return bytes >= least && bytes <= most ? bytes : 0;
}

/// A cache size: the system's figure where it gives one, else where the sweep falls.
Quantity cache_size(i64 system, i64 found, i64 otherwise, const std::string& source) {
    if (system > 0) {
        const bool agree = found * 2 >= system && found <= system * 2;
        return {static_cast<double>(system), agree ? Evidence::measured : Evidence::assumed,
                agree ? source + ": the system's figure; a read sweep falls there"
                      : "the system's figure; a read sweep does not show it"};
    }
    if (found > 0) return {static_cast<double>(found), Evidence::measured, source + ": where a read sweep falls"};
    return {static_cast<double>(otherwise), Evidence::assumed,
            "a usual size; neither the system nor a read sweep shows one"};
}

std::string describe(const StreamRates& r) {
    return fmt::format("read {}, write {}, triad {}", sim::format_bandwidth(r.read), sim::format_bandwidth(r.write),
                       sim::format_bandwidth(r.triad));
}

}  // namespace

sim::Device calibrate(const std::function<void(double)>& progress) {
    const auto at = [&](double share) {
        if (progress) progress(share);
    };
    const std::string source = "calibrated on " + today();
    const auto counted = [&](auto value) { return Quantity{static_cast<double>(value), Evidence::measured, source}; };
    const auto measured = [&](double value, std::string_view how = "") {
        return Quantity{four_digits(value), Evidence::measured, source + std::string(how)};
    };
    const int cores = usable_cores();

    at(0);
    Probe probe;
    at(0.1);
    const double clock = probe.clock();
    const double f32 = probe.multiply_add_rate(cores);
    const double dependent = probe.dependent_rate(), row = probe.row_rate();
    at(0.2);
    const std::vector<SweepPoint> sweep = probe.read_sweep();
    const CacheEdges edges = find_edges(sweep);
    at(0.6);
    const StreamRates one = probe.stream_rates(1);
    at(0.75);
    const StreamRates all = cores > 1 ? probe.stream_rates(cores) : one;
    at(0.9);

    sim::Device d;
    d.id = "cpu";
    d.name = device_name();
    d.arch = isa().name;
    d.kind = sim::DeviceKind::cpu;
    d.sm_count = counted(cores);
    d.core.vector_bytes = counted(isa().vector_bytes);
    const i64 l1d = reported(1, 4 << 10, 1 << 20);
    d.core.l1d_bytes = l1d > 0 ? counted(l1d) : Quantity{32 << 10, Evidence::assumed, "a usual size"};
    d.core.dependent_rate = measured(dependent);
    d.core.row_rate = measured(row);
    d.core.dram_bandwidth = measured(one.triad, ": triad");

    const i64 l2 = reported(2, 64 << 10, 8 << 20);
    d.sram.display = "L2";
    d.sram.bytes_per_sm = cache_size(l2, edges.private_bytes, 512 << 10, source);
    const auto own = static_cast<i64>(d.sram.bytes_per_sm.value);
    d.l2.display = "L3";
    // A virtual machine may be shown a cache larger than its share of it, or than any; never a smaller one.
    const i64 l3 = reported(3, own, i64{2} << 30);
    const i64 found = l3 > 0 ? std::min(edges.last_level_bytes, l3) : edges.last_level_bytes;
    d.l2.bytes = cache_size(0, found, own * i64{cores}, source);
    if (d.l2.bytes.value < d.sram.bytes_per_sm.value) d.l2.bytes = d.sram.bytes_per_sm;
    d.l2.effective_bytes = d.l2.bytes;
    const auto shared = static_cast<i64>(d.l2.bytes.value);
    d.l2.bandwidth = measured(probe.read_rate(cores, std::max(shared / (2 * cores), own + own / 2)));
    if (!std::isnan(clock)) {
        d.clock.boost = measured(clock);
        d.clock.max = measured(clock * margin, ": best probe x 1.05");
        d.sram.bytes_per_clock = measured(probe.read_rate(1, own / 2) / clock);
    }

    d.dram.bytes = counted(memory_bytes());
    d.dram.bandwidth = measured(std::max(all.triad, one.triad), ": triad");
    d.dram.bandwidth_spec = measured(std::max(all.best(), one.best()) * margin, ": best probe x 1.05");
    // The vector units add up in f32 whatever is stored.
    for (const sim::Dtype t : {sim::Dtype::f32, sim::Dtype::f16, sim::Dtype::bf16}) d.peak[t] = measured(f32);
    d.overhead.launch = measured(probe.start_seconds(cores));
    d.overhead.step = measured(2 * probe.meet_seconds(cores));  // b is packed; it has been used
    d.note = fmt::format("1 core: {}", describe(one));
    if (cores > 1) d.note += fmt::format("; {} cores: {}", cores, describe(all));
    at(1);
    return d;
}

std::string calibration_path() { return user_cache("cpu.toml").string(); }

std::optional<sim::Device> load_calibration(const std::string& path, std::string& why) {
    why.clear();
    std::ifstream file(path);
    if (!file) return std::nullopt;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
        sim::Device device = sim::parse_device(text, path);
        if (device.id != "cpu" || device.kind != sim::DeviceKind::cpu)
            why = path + " is not of the device cpu";
        else if (device.name != device_name())
            why = fmt::format("{} is of another processor ({})", path, device.name);
        else if (device.sm_count.value != usable_cores() || device.arch != isa().name)
            why = fmt::format("{} is of {} cores with {}", path, device.sm_count.value, device.arch);
        else if (!device.core.row_rate.known())
            why = path + " was made before all that is known now was measured";
        else
            return device;
    } catch (const sim::BadInput& error) {
        why = error.what();
    }
    return std::nullopt;
}

std::string store_calibration(const sim::Device& device, const std::string& path) {
    std::error_code error;
    const fs::path target(path);
    fs::create_directories(target.parent_path(), error);
    const std::string part = fmt::format("{}.{}", path, getpid());
    std::ofstream file(part, std::ios::trunc);
    file << "# This machine, as `memwall devices --calibrate` found it.\n" << sim::to_toml(device);
    file.close();
    if (!file) {
        fs::remove(part, error);
        return "cannot write " + part;
    }
    fs::rename(part, target, error);
    if (!error) return {};
    std::string why = fmt::format("cannot write {}: {}", path, error.message());
    fs::remove(part, error);
    return why;
}

CpuDevice cpu_device(const std::function<void(double)>& progress, bool recalibrate) {
    CpuDevice result;
    const std::string path = calibration_path();
    if (!recalibrate && !path.empty()) {
        std::string why;
        if (auto stored = load_calibration(path, why)) return {*std::move(stored), {}};
        if (!why.empty()) result.note = why + "; calibrated again";
    }
    result.device = calibrate(progress);
    const std::string problem = path.empty() ? "no cache folder (neither XDG_CACHE_HOME nor HOME is set)"
                                             : store_calibration(result.device, path);
    if (!problem.empty()) result.note += (result.note.empty() ? "" : "; ") + ("not stored: " + problem);
    return result;
}

}  // namespace kernels::cpu
