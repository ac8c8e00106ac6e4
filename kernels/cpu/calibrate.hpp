#pragma once
// The device `cpu`: this machine, as a second or two of probing finds it, kept in the user's cache folder.

#include <functional>
#include <optional>
#include <string>

#include "sim/device.hpp"

namespace kernels::cpu {

/// Measures this machine: about a second. `progress` gets the share done. Every number says the date it was taken; the
/// bandwidth of the bound is the best probe x 1.05, the highest clock likewise.
sim::Device calibrate(const std::function<void(double)>& progress = {});

/// The file in the user's cache folder ($XDG_CACHE_HOME, else ~/.cache); empty where there is neither.
std::string calibration_path();
/// The stored device, if it is of this processor with as many cores; else none, and `why` says what was wrong with the
/// file (empty when there is no file).
std::optional<sim::Device> load_calibration(const std::string& path, std::string& why);
/// Stores the device; the file is replaced whole or not at all. Returns why it could not be, or nothing.
std::string store_calibration(const sim::Device& device, const std::string& path);

struct CpuDevice {
    sim::Device device;
    std::string note;  ///< what a person should know: why it was calibrated again, why it was not stored; may be empty
};
/// The stored device; calibrated now and stored where there is none or `recalibrate` asks for it.
CpuDevice cpu_device(const std::function<void(double)>& progress = {}, bool recalibrate = false);

}  // namespace kernels::cpu
