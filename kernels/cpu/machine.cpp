#include "kernels/cpu/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

namespace kernels::cpu {

using sim::i64;

namespace {

/// The first line of a file, empty where there is none.
std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// CPUs' worth of time that a container grants; many where it does not say.
int quota() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double microseconds = 0, period = 0;
    if (file >> microseconds >> period && period > 0)
        return std::max(1, static_cast<int>(std::ceil(microseconds / period)));
    return std::numeric_limits<int>::max();
}

}  // namespace

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
    return "unknown processor";
}

const std::vector<int>& core_cpus() {
    static const std::vector<int> cpus = [] {
        std::vector<int> found;
        std::set<std::string> cores;
        cpu_set_t mask;
        if (sched_getaffinity(getpid(), sizeof mask, &mask) != 0) return found;
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET(cpu, &mask)) continue;
            const std::string number = std::to_string(cpu);
            const std::string siblings =
                first_line("/sys/devices/system/cpu/cpu" + number + "/topology/thread_siblings_list");
            if (cores.insert(siblings.empty() ? number : siblings).second) found.push_back(cpu);
        }
        return found;
    }();
    return cpus;
}

int usable_cores() {
    static const int cores = [] {
        const int known = static_cast<int>(core_cpus().size());
        const int all = known > 0 ? known : static_cast<int>(std::thread::hardware_concurrency());
        return std::clamp(all, 1, quota());
    }();
    return cores;
}

i64 memory_bytes() { return i64{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

i64 cache_bytes(int level) {
    for (int index = 0; index < 10; index++) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        if (first_line(folder + "level") != std::to_string(level) || first_line(folder + "type") == "Instruction")
            continue;
        std::ifstream file(folder + "size");  // "512K"
        i64 size = 0;
        char unit = ' ';
        file >> size >> unit;
        return size * (unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1);
    }
    return 0;
}

}  // namespace kernels::cpu
