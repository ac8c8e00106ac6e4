// The device `cpu`: what a sweep says, and how the result is kept.

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/cpu/calibrate.hpp"
#include "kernels/cpu/machine.hpp"
#include "kernels/cpu/probe.hpp"

namespace cpu = kernels::cpu;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that is gone with it, and is XDG_CACHE_HOME meanwhile.
struct CacheHome {
    fs::path folder = fs::temp_directory_path() / ("memwall-cache-" + std::to_string(getpid()));
    std::string before = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
    CacheHome() {
        fs::create_directories(folder);
        setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    }
    ~CacheHome() {
        fs::remove_all(folder);
        before.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before.c_str(), 1);
    }
};

std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

/// Two sizes an octave from 16 KiB to 256 MiB at the rate `at(bytes)`.
template <class Rate>
std::vector<cpu::SweepPoint> sweep(Rate at) {
    std::vector<cpu::SweepPoint> points;
    for (std::int64_t octave = 16 * kib; octave <= 256 * mib; octave *= 2)
        for (const std::int64_t bytes : {octave, octave + octave / 2}) points.push_back({bytes, at(bytes)});
    return points;
}

}  // namespace

TEST_CASE("a sweep falls where the caches end") {
    const auto server = [](std::int64_t b) {
        return b <= 48 * kib ? 200e9 : b <= mib ? 100e9 : b <= 24 * mib ? 50e9 : 10e9;
    };
    const cpu::CacheEdges edges = cpu::find_edges(sweep(server));
    CHECK(edges.private_bytes == mib);
    CHECK(edges.last_level_bytes == 24 * mib);
}

TEST_CASE("single disturbed points of a sweep move no edge") {
    int i = 0;
    const auto noisy = [&](std::int64_t b) {
        const double clean = b <= 512 * kib ? 100e9 : b <= 16 * mib ? 50e9 : 10e9;
        return clean * (++i % 4 == 0 && b < 128 * mib ? 0.3 : 1.0);
    };
    const cpu::CacheEdges edges = cpu::find_edges(sweep(noisy));
    CHECK(edges.private_bytes >= 384 * kib);
    CHECK(edges.private_bytes <= 512 * kib);
    CHECK(edges.last_level_bytes >= 12 * mib);
    CHECK(edges.last_level_bytes <= 16 * mib);
}

TEST_CASE("a sweep without falls has no edges") {
    const cpu::CacheEdges flat = cpu::find_edges(sweep([](std::int64_t) { return 20e9; }));
    CHECK(flat.private_bytes == 0);
    CHECK(flat.last_level_bytes == 0);
    const cpu::CacheEdges one = cpu::find_edges(sweep([](std::int64_t b) { return b <= 2 * mib ? 60e9 : 12e9; }));
    CHECK(one.private_bytes == 2 * mib);
    CHECK(one.last_level_bytes == 0);
    CHECK(cpu::find_edges({}).private_bytes == 0);
}

TEST_CASE("this machine is calibrated once, stored, and calibrated again only for a reason") {
    const CacheHome home;
    const std::string path = cpu::calibration_path();
    CHECK(path == home.folder.string() + "/memwall/cpu.toml");
    std::string why = "left over";
    CHECK(!cpu::load_calibration(path, why));
    CHECK(why.empty());

    double last = -1;
    bool rises = true;
    const cpu::CpuDevice first = cpu::cpu_device([&](double share) {
        rises = rises && share >= last;
        last = share;
    });
    CHECK(first.note.empty());
    CHECK(rises);
    CHECK(last == 1);
    const sim::Device& d = first.device;
    CHECK(d.id == "cpu");
    CHECK(d.kind == sim::DeviceKind::cpu);
    CHECK(d.sm_count.value == cpu::usable_cores());
    CHECK(d.core.vector_bytes.value >= 16);
    CHECK(d.sram.bytes_per_sm.value > d.core.l1d_bytes.value);
    CHECK(d.l2.bytes.value >= d.sram.bytes_per_sm.value);
    CHECK(d.dram.bytes.value > d.l2.bytes.value);
    CHECK(d.dram.bandwidth_spec.value >= 1.05 * d.dram.bandwidth.value * 0.999);
    CHECK(d.peak_flops(sim::Dtype::f32) > 1e9);
    CHECK(d.peak_flops(sim::Dtype::bf16) == d.peak_flops(sim::Dtype::f32));
    CHECK(d.overhead.launch.value > 0);
    CHECK(d.dram.bandwidth.kind == sim::Evidence::measured);
    CHECK(d.dram.bandwidth.source.starts_with("calibrated on 20"));
    CHECK(sim::to_toml(sim::parse_device(sim::to_toml(d), "again")) == sim::to_toml(d));

    const std::string stored = read(path);
    const cpu::CpuDevice second = cpu::cpu_device([](double) { FAIL("calibrated though stored"); });
    CHECK(sim::to_toml(second.device) == sim::to_toml(d));
    CHECK(read(path) == stored);
    for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path()))
        CHECK(entry.path().filename() == "cpu.toml");  // no part of a file is left

    std::string other = stored;
    other.replace(other.find(d.name), d.name.size(), "Some Other CPU");
    write(path, other);
    CHECK(!cpu::load_calibration(path, why));
    CHECK(why == path + " is of another processor (Some Other CPU)");
    write(path, stored.substr(0, stored.size() / 2));
    const cpu::CpuDevice again = cpu::cpu_device();
    CHECK(again.note.find(path) != std::string::npos);
    CHECK(again.note.ends_with("; calibrated again"));
    CHECK(cpu::load_calibration(path, why));

    fs::remove_all(fs::path(path).parent_path());
    write(home.folder.string() + "/memwall", "a file where the folder should be");
    CHECK(cpu::store_calibration(d, path).starts_with("cannot write "));
}

TEST_CASE("the calibration lives in the home folder where no cache folder is named") {
    const CacheHome home;
    unsetenv("XDG_CACHE_HOME");
    const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
    setenv("HOME", "/somebody", 1);
    CHECK(cpu::calibration_path() == "/somebody/.cache/memwall/cpu.toml");
    unsetenv("HOME");
    CHECK(cpu::calibration_path().empty());
    if (!before.empty()) setenv("HOME", before.c_str(), 1);
}
