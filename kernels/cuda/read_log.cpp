#include <charconv>

#include "kernels/cuda/resources.hpp"

namespace kernels::cuda {
namespace {

/// The number right before `unit`, or 0: 128 of "Used 128 registers" for " registers".
sim::i64 number_before(std::string_view line, std::string_view unit) {
    const std::size_t end = line.find(unit);
    if (end == std::string_view::npos) return 0;
    std::size_t start = end;
    while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
    sim::i64 number = 0;
    std::from_chars(line.data() + start, line.data() + end, number);
    return number;
}

}  // namespace

// ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
// ptxas info    : Function properties for NAME
//     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
// ptxas info    : Used 128 registers, used 1 barriers, 8320 bytes smem
std::map<std::string, Resources> read_log(std::string_view log) {
    std::map<std::string, Resources> kernels;
    Resources* kernel = nullptr;
    Resources other;  // of a function that is no kernel
    std::string entry;
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(line.size() + 1, log.size()));
        if (const auto at = line.find("Compiling entry function '"); at != std::string_view::npos) {
            const std::string_view rest = line.substr(line.find('\'') + 1);
            entry = rest.substr(0, rest.find('\''));
            kernel = &kernels[entry];
        } else if (const auto of = line.find("Function properties for "); of != std::string_view::npos) {
            kernel = line.substr(of + 24) == entry ? &kernels[entry] : &other;
        } else if (kernel && line.find(" bytes stack frame") != std::string_view::npos) {
            kernel->stack_bytes = number_before(line, " bytes stack frame");
            kernel->spill_store_bytes = number_before(line, " bytes spill stores");
            kernel->spill_load_bytes = number_before(line, " bytes spill loads");
        } else if (kernel && line.find(": Used ") != std::string_view::npos) {
            kernel->registers = static_cast<int>(number_before(line, " registers"));
            kernel->barriers = static_cast<int>(number_before(line, " barriers"));
            kernel->static_smem_bytes = number_before(line, " bytes smem");
        }
    }
    return kernels;
}

}  // namespace kernels::cuda
