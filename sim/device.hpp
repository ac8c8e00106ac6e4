#pragma once
// A machine: its memory levels and compute rates. Every number carries its source and its evidence, and comes from one
// TOML file (sim/devices/ID.toml, compiled in, or a folder of the user's own).

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/error.hpp"
#include "sim/workload.hpp"

namespace sim {

enum class DeviceKind { gpu, tpu, cpu, scratchpad };
/// How a constant is known: a vendor's figure, somebody's measurement, or an assumption (source says why).
enum class Evidence { spec, measured, assumed };

std::string_view to_string(DeviceKind);
std::string_view to_string(Evidence);

/// One constant of a device, already in the unit its field names (the file may say it in another known unit).
struct Quantity {
    double value = std::nan("");
    Evidence kind = Evidence::assumed;
    std::string source;
    bool known() const { return !std::isnan(value); }
    double or_else(double fallback) const { return known() ? value : fallback; }
};

/// The members' units are in their comments. Unknown quantities are NaN (`known()` is false); which ones each kind of
/// device must have is a column of the table in device_fields.hpp.
/// A tpu's numbers are one TensorCore's, the part that is modelled: where two share a chip, each has half of its peak
/// and of its HBM bandwidth.
struct Device {
    std::string id, name, arch, note;
    DeviceKind kind = DeviceKind::gpu;
    int year = 0;
    std::string compute_capability;  // "9.0"; gpu only
    Quantity sm_count;               // SMs; TensorCores per chip; CPU cores

    struct {
        Quantity boost, max, sustained;  // Hz: quoted with the peak, highest reported, under a long GEMM
    } clock;
    struct {
        std::string display = "DRAM";
        Quantity bytes;           // B
        Quantity bandwidth_spec;  // B/s, datasheet (cpu: best probe x 1.05)
        Quantity bandwidth;       // B/s, what a streaming kernel gets
        Quantity latency;         // s
    } dram;
    struct {
        std::string display = "L2";
        Quantity bytes;            // B, whole
        Quantity effective_bytes;  // B, for data that all SMs read
        Quantity bandwidth;        // B/s, all SMs together
        Quantity latency;          // s
        Quantity drift;            // 0..1: share of the way from lockstep to staggered replay
    } l2;
    struct {
        std::string display = "L1";
        Quantity bytes_per_sm;     // B, the array that SMEM is carved from (0 where none)
        Quantity bytes_per_clock;  // B per clock per SM, hits
    } l1;
    struct {
        std::string display = "SMEM";
        Quantity bytes_per_sm;      // B
        Quantity bytes_per_cta;     // B, most a CTA may ask for
        Quantity reserved_per_cta;  // B the system adds to each CTA
        Quantity allocation_unit;   // B
        Quantity bytes_per_clock;   // B per clock per SM
        Quantity latency;           // s
    } sram;
    struct {
        Quantity bytes_per_sm;     // B
        Quantity max_per_thread;   // registers of 4 B
        Quantity allocation_unit;  // registers per warp
    } registers;
    struct {
        Quantity threads, warps, ctas;  // most resident per SM
    } per_sm;
    std::map<Dtype, Quantity> peak;       // FLOP/s, dense, f32 accumulate, at clock.boost
    std::map<Dtype, Quantity> sustained;  // FLOP/s, best published library GEMM
    struct {
        Quantity launch;        // s per kernel, back to back in a stream
        Quantity dispatch;      // s per call seen by the host's clock (framework dispatch), 0 where none
        Quantity step;          // s per grid step of a sequential machine
        Quantity operand_load;  // s per f32 element turned into bf16 for the MXU (tpu), serial runs only
    } overhead;
    struct {
        Quantity tdp;                                     // W
        Quantity dram_per_bit, l2_per_bit, sram_per_bit;  // J per bit
        Quantity per_flop;                                // J
    } energy;
    struct {
        Quantity dim, count;  // MXU side, MXUs per TensorCore
    } mxu;
    struct {
        Quantity vector_bytes;  // B, widest vector register
        Quantity l1d_bytes;     // B per core
        // FLOP/s of one core's f32 loops that a compiler leaves as they are: a sum in which each addition waits for the
        // one before, and a row to which a multiple of another is added, both rows in L1d.
        Quantity dependent_rate, row_rate;
        Quantity dram_bandwidth;  // B/s that one core alone draws from DRAM
    } core;                       // cpu only

    /// Peak FLOP/s for operands of `t`; tf32 falls back to f32, a missing type to NaN.
    double peak_flops(Dtype t) const;
};

/// Reads one device file. Throws BadInput with file, key and what was expected (a missing unit, a NaN, an unknown
/// key, a required number left out).
Device parse_device(std::string_view toml, std::string_view file_name);

/// The text of a device file for `device`: parse_device(to_toml(d)) has the same texts and constants as d.
std::string to_toml(const Device& device);

/// One known constant of a device, as its file names it.
struct Constant {
    std::string key;           // "dram.bandwidth", "peak.bf16"
    std::string_view unit;     // of quantity.value: "B/s"
    double low, high;          // what a file may say
    const Quantity& quantity;  // lives as long as the device
};
/// The known constants, in the order of a device file.
std::vector<Constant> constants(const Device& device);

/// All known devices by id: those compiled in, then those of added folders.
class Catalogue {
public:
    /// The devices in sim/devices/, compiled into the program. A `cpu` device is not among them (it is calibrated).
    static const Catalogue& builtin();
    Catalogue() = default;

    /// Adds every *.toml of a folder. Throws BadInput on a bad file or a folder that is not there.
    void add_folder(const std::string& folder);
    /// Adds or replaces one device.
    void add(Device device);

    const Device* find(std::string_view id) const;
    /// The device, or BadInput naming the id and the nearest known ones.
    const Device& at(std::string_view id) const;
    /// Every device, by kind then year then id.
    std::vector<const Device*> all() const;

private:
    struct Entry;
    std::map<std::string, std::shared_ptr<const Entry>, std::less<>> devices_;
};

}  // namespace sim
