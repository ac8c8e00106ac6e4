#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "kernels/cpu/calibrate.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;

/// ~/.config/memwall/devices, by the XDG rules; empty where there is no home.
fs::path user_devices() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (config && *config) return fs::path(config) / "memwall/devices";
    return home && *home ? fs::path(home) / ".config/memwall/devices" : fs::path();
}

/// Whether the text has the word `cpu`: an experiment begins with its device, and a scene may have a second one.
bool names_cpu(std::string_view text) {
    for (std::size_t at = text.find("cpu"); at != text.npos; at = text.find("cpu", at + 1)) {
        const auto edge = [&](std::size_t i) {
            return i >= text.size() || text[i] == ' ' || text[i] == '\t' || text[i] == '(' || text[i] == '\n';
        };
        if ((at == 0 || edge(at - 1)) && edge(at + 3)) return true;
    }
    return false;
}

}  // namespace

Session::Session(Terminal terminal, const std::vector<std::string>& device_folders)
    : terminal_(terminal), devices_(sim::Catalogue::builtin()) {
    std::error_code error;
    if (const fs::path own = user_devices(); !own.empty() && fs::is_directory(own, error))
        devices_.add_folder(own.string());
    for (const std::string& folder : device_folders) devices_.add_folder(folder);
}

std::istream& Session::in() { return terminal_.in ? *terminal_.in : std::cin; }

const sim::Catalogue& Session::devices_for(std::span<const std::string> texts) {
    if (!devices_.find("cpu") && std::any_of(texts.begin(), texts.end(), names_cpu)) {
        calibrate_cpu(false);
    }
    return devices_;
}

void Session::add_calibrated_cpu() {
    if (devices_.find("cpu")) return;
    std::string why;
    if (auto device = kernels::cpu::load_calibration(kernels::cpu::calibration_path(), why))
        devices_.add(std::move(*device));
}

void Session::calibrate_cpu(bool anew) {
    std::error_code error;
    if (anew || !fs::exists(kernels::cpu::calibration_path(), error))
        err() << "memwall: measuring this machine, about two seconds; nothing else should run on it\n";
    kernels::cpu::CpuDevice cpu = kernels::cpu::cpu_device([&](double share) { progress("calibrate", share); }, anew);
    progress("calibrate", 1);
    if (!cpu.note.empty()) err() << fmt::format("memwall: {}\n", cpu.note);
    devices_.add(std::move(cpu.device));
}

void Session::progress(std::string_view what, double fraction) {
    if (!terminal_.progress) return;
    constexpr int width = 40;
    const int share = static_cast<int>(100 * fraction);
    if (fraction >= 1) {
        if (drawn_ >= 0) err() << fmt::format("\r{:{}}\r", "", width + 24) << std::flush;
        drawn_ = -1;
        return;
    }
    if (share == drawn_) return;  // it is asked far more often than it can be seen
    drawn_ = share;
    err() << fmt::format("\r{:<12} [{:<{}}] {:3} %", what, bar(fraction, width), width, share) << std::flush;
}

}  // namespace cli
