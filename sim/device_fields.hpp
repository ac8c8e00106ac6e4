#pragma once
// What a device file may say: one row a key, with its units, its plausible range and the kinds of device that say it.
// The reader and the writer of device files walk these rows; a new constant is a member and a row.

#include <fmt/format.h>

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "sim/device.hpp"

namespace sim::device_file {

/// A unit a file may use: value in the member's own unit = value * times / per.
struct Unit {
    std::string_view name;
    double times, per;
};

// The last unit of each list is the member's own. Capacities may be decimal (DRAM) or binary (on-chip memory).
inline constexpr Unit frequency[] = {{"GHz", 1e9, 1}, {"MHz", 1e6, 1}, {"Hz", 1, 1}};
inline constexpr Unit bytes[] = {{"TB", 1e12, 1},    {"GB", 1e9, 1},     {"MB", 1e6, 1},   {"kB", 1e3, 1},
                                 {"GiB", 0x1p30, 1}, {"MiB", 0x1p20, 1}, {"KiB", 1024, 1}, {"B", 1, 1}};
inline constexpr Unit bandwidth[] = {{"TB/s", 1e12, 1}, {"GB/s", 1e9, 1}, {"MB/s", 1e6, 1}, {"B/s", 1, 1}};
inline constexpr Unit time[] = {{"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9}, {"ps", 1, 1e12}, {"s", 1, 1}};
inline constexpr Unit element_time[] = {{"ns/element", 1, 1e9}, {"ps/element", 1, 1e12}, {"s/element", 1, 1}};
inline constexpr Unit flops[] = {{"PFLOP/s", 1e15, 1}, {"TFLOP/s", 1e12, 1}, {"GFLOP/s", 1e9, 1}, {"FLOP/s", 1, 1}};
inline constexpr Unit power[] = {{"W", 1, 1}};
inline constexpr Unit bit_energy[] = {{"pJ/bit", 1, 1e12}, {"nJ/bit", 1, 1e9}, {"J/bit", 1, 1}};
inline constexpr Unit flop_energy[] = {{"pJ/FLOP", 1, 1e12}, {"nJ/FLOP", 1, 1e9}, {"J/FLOP", 1, 1}};
inline constexpr Unit bytes_per_clock[] = {{"KiB/clk", 1024, 1}, {"B/clk", 1, 1}};
inline constexpr Unit cores[] = {{"TensorCore", 1, 1}, {"core", 1, 1}, {"CU", 1, 1}, {"SM", 1, 1}};
inline constexpr Unit threads[] = {{"thread", 1, 1}};
inline constexpr Unit warps[] = {{"warp", 1, 1}};
inline constexpr Unit ctas[] = {{"CTA", 1, 1}};
inline constexpr Unit registers[] = {{"register", 1, 1}};
inline constexpr Unit lanes[] = {{"lane", 1, 1}};
inline constexpr Unit mxus[] = {{"MXU", 1, 1}};
inline constexpr Unit share[] = {{"share", 1, 1}};

/// One number of a device file. `kinds` has a letter for each kind of device that may say it (g t c s), a capital for
/// each that must. `low` and `high` bound what is plausible, in the member's own unit.
struct Field {
    std::string_view section, key;
    const Quantity& (*of)(const Device&);
    std::span<const Unit> units;
    double low, high;
    std::string_view kinds;
};

#define AT(path) [](const Device& d) -> const Quantity& { return d.path; }
inline constexpr Field fields[] = {
    {"", "sm_count", AT(sm_count), cores, 1, 1e4, "GTCs"},
    {"clock", "boost", AT(clock.boost), frequency, 1e7, 1e10, "Gtc"},
    {"clock", "max", AT(clock.max), frequency, 1e7, 1e10, "gtc"},
    {"clock", "sustained", AT(clock.sustained), frequency, 1e7, 1e10, "gtc"},
    {"dram", "bytes", AT(dram.bytes), bytes, 1e6, 1e15, "gtcs"},
    {"dram", "bandwidth_spec", AT(dram.bandwidth_spec), bandwidth, 1e7, 1e15, "GTCs"},
    {"dram", "bandwidth", AT(dram.bandwidth), bandwidth, 1e7, 1e15, "GTCS"},
    {"dram", "latency", AT(dram.latency), time, 1e-9, 1e-4, "Gtcs"},
    {"l2", "bytes", AT(l2.bytes), bytes, 1e4, 1e12, "GC"},
    {"l2", "effective_bytes", AT(l2.effective_bytes), bytes, 1e4, 1e12, "Gc"},
    {"l2", "bandwidth", AT(l2.bandwidth), bandwidth, 1e7, 1e15, "Gc"},
    {"l2", "latency", AT(l2.latency), time, 1e-10, 1e-5, "Gc"},
    {"l2", "drift", AT(l2.drift), share, 0, 1, "Gc"},
    {"l1", "bytes_per_sm", AT(l1.bytes_per_sm), bytes, 0, 1e9, "Gc"},
    {"l1", "bytes_per_clock", AT(l1.bytes_per_clock), bytes_per_clock, 1, 1e6, "Gc"},
    {"sram", "bytes_per_sm", AT(sram.bytes_per_sm), bytes, 1e3, 1e12, "GTCS"},
    {"sram", "bytes_per_cta", AT(sram.bytes_per_cta), bytes, 1e3, 1e12, "GTcs"},
    {"sram", "reserved_per_cta", AT(sram.reserved_per_cta), bytes, 0, 1e6, "G"},
    {"sram", "allocation_unit", AT(sram.allocation_unit), bytes, 1, 1e6, "G"},
    {"sram", "bytes_per_clock", AT(sram.bytes_per_clock), bytes_per_clock, 1, 1e6, "Gtc"},
    {"sram", "latency", AT(sram.latency), time, 1e-11, 1e-6, "gtc"},
    {"registers", "bytes_per_sm", AT(registers.bytes_per_sm), bytes, 1e3, 1e9, "Gt"},
    {"registers", "max_per_thread", AT(registers.max_per_thread), registers, 1, 1e4, "G"},
    {"registers", "allocation_unit", AT(registers.allocation_unit), registers, 1, 1e4, "G"},
    {"per_sm", "threads", AT(per_sm.threads), threads, 1, 1e5, "G"},
    {"per_sm", "warps", AT(per_sm.warps), warps, 1, 1e4, "G"},
    {"per_sm", "ctas", AT(per_sm.ctas), ctas, 1, 1e4, "G"},
    {"overhead", "launch", AT(overhead.launch), time, 0, 0.1, "Gc"},
    {"overhead", "dispatch", AT(overhead.dispatch), time, 0, 1, "gTcs"},
    {"overhead", "step", AT(overhead.step), time, 0, 1e-2, "TcS"},
    {"overhead", "operand_load", AT(overhead.operand_load), element_time, 0, 1e-6, "T"},
    {"energy", "tdp", AT(energy.tdp), power, 0.1, 1e5, "gtc"},
    {"energy", "dram_per_bit", AT(energy.dram_per_bit), bit_energy, 1e-14, 1e-9, "gtcs"},
    {"energy", "l2_per_bit", AT(energy.l2_per_bit), bit_energy, 1e-16, 1e-9, "gtc"},
    {"energy", "sram_per_bit", AT(energy.sram_per_bit), bit_energy, 1e-16, 1e-9, "gtcs"},
    {"energy", "per_flop", AT(energy.per_flop), flop_energy, 1e-15, 1e-8, "gtcs"},
    {"mxu", "dim", AT(mxu.dim), lanes, 1, 1e4, "T"},
    {"mxu", "count", AT(mxu.count), mxus, 1, 1e3, "T"},
    {"core", "vector_bytes", AT(core.vector_bytes), bytes, 1, 1e4, "c"},
    {"core", "l1d_bytes", AT(core.l1d_bytes), bytes, 1e3, 1e8, "c"},
    {"core", "dependent_rate", AT(core.dependent_rate), flops, 1e6, 1e14, "c"},
    {"core", "row_rate", AT(core.row_rate), flops, 1e6, 1e14, "c"},
    {"core", "dram_bandwidth", AT(core.dram_bandwidth), bandwidth, 1e7, 1e15, "c"},
};
#undef AT

/// A section with one rate a dtype. f32 must be among the peaks: every device can at least do that.
struct Rates {
    std::string_view section;
    std::map<Dtype, Quantity> Device::*of;
};
inline constexpr Rates rates[] = {{"peak", &Device::peak}, {"sustained", &Device::sustained}};
inline constexpr double rate_low = 1e8, rate_high = 1e18;

struct Text {
    std::string_view section, key;
    std::string& (*of)(Device&);
    std::size_t longest;  // bytes
    bool required;
};
inline constexpr Text texts[] = {
    {"", "id", [](Device& d) -> std::string& { return d.id; }, 40, true},
    {"", "name", [](Device& d) -> std::string& { return d.name; }, 60, true},
    {"", "arch", [](Device& d) -> std::string& { return d.arch; }, 60, false},
    {"", "compute_capability", [](Device& d) -> std::string& { return d.compute_capability; }, 8, false},
    {"", "note", [](Device& d) -> std::string& { return d.note; }, 400, false},
    {"dram", "display", [](Device& d) -> std::string& { return d.dram.display; }, 16, false},
    {"l2", "display", [](Device& d) -> std::string& { return d.l2.display; }, 16, false},
    {"l1", "display", [](Device& d) -> std::string& { return d.l1.display; }, 16, false},
    {"sram", "display", [](Device& d) -> std::string& { return d.sram.display; }, 16, false},
};
inline constexpr std::size_t longest_source = 300;

inline constexpr std::string_view sections[] = {"",         "clock",     "dram",   "l2",   "l1",
                                                "sram",     "registers", "per_sm", "peak", "sustained",
                                                "overhead", "energy",    "mxu",    "core"};
inline constexpr std::string_view kind_names[] = {"gpu", "tpu", "cpu", "scratchpad"};
inline constexpr std::string_view evidence_names[] = {"spec", "measured", "assumed"};

constexpr char letter(DeviceKind kind) { return kind_names[static_cast<int>(kind)].front(); }
inline bool may_say(const Field& f, DeviceKind kind) {
    return f.kinds.find(letter(kind)) != f.kinds.npos || f.kinds.find(letter(kind) - 'a' + 'A') != f.kinds.npos;
}
inline bool must_say(const Field& f, DeviceKind kind) { return f.kinds.find(letter(kind) - 'a' + 'A') != f.kinds.npos; }

/// "dram.bandwidth"; a section "" is the top of the file.
inline std::string path(std::string_view section, std::string_view key) {
    return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

}  // namespace sim::device_file
