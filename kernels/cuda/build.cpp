#include "kernels/cuda/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "sim/embedded.hpp"

namespace kernels::cuda {
namespace {

constexpr std::string_view device_folder = "kernels/device/", schedule_file = "sim/schedule.hpp";

/// The text of a file that travels in the program; null where there is none of that name.
const std::string_view* embedded(std::string_view file) {
    if (file == schedule_file) return &sim::embedded_schedule().front().text;
    if (!file.starts_with(device_folder)) return nullptr;
    for (const sim::EmbeddedFile& f : sim::embedded_kernels())
        if (f.name == file.substr(device_folder.size())) return &f.text;
    return nullptr;
}

/// Adds what a text includes, and what that includes, each once.
void add_headers(std::string_view text, std::set<std::string, std::less<>>& names) {
    constexpr std::string_view include = "#include \"";
    for (std::size_t at = text.find(include); at != std::string_view::npos; at = text.find(include, at + 1)) {
        const std::string_view name =
            text.substr(at + include.size(), text.find('"', at + include.size()) - at - include.size());
        const std::string_view* header = embedded(name);
        // What is not there belongs to the executor on the CPU, behind an #if.
        if (header && names.insert(std::string(name)).second) add_headers(*header, names);
    }
}

}  // namespace

Source device_source(std::string_view file) {
    const std::string_view* text = embedded(file);
    if (!text) throw std::runtime_error(fmt::format("{} is no source of a kernel", file));
    std::set<std::string, std::less<>> names;
    add_headers(*text, names);
    Source source{std::string(file), std::string(*text), {}};
    for (const std::string& name : names) source.headers.emplace_back(name, *embedded(name));
    return source;
}

sim::CtaShape BuiltKernel::cta() const {
    sim::CtaShape shape;
    shape.threads = launch.block;
    shape.registers = resources.registers;
    shape.smem_bytes = launch.smem_bytes + resources.static_smem_bytes;
    return shape;
}

double Build::compile_ms() const {
    double sum = 0;
    for (const Program& p : programs) sum += p.compile_ms;
    return sum;
}

sim::i64 Build::spill_bytes() const {
    sim::i64 sum = 0;
    for (const BuiltKernel& k : kernels) sum += k.resources.spill_bytes();
    return sum;
}

Build build(std::span<const DeviceKernel> kernels, const std::string& arch) {
    Build built;
    std::vector<std::string> files;
    std::vector<std::vector<std::string>> expressions;  // by file
    for (const DeviceKernel& k : kernels) {
        const Launch launch = launch_of(k);
        const auto file = static_cast<std::size_t>(std::find(files.begin(), files.end(), launch.file) - files.begin());
        if (file == files.size()) {
            files.push_back(launch.file);
            expressions.emplace_back();
        }
        auto& names = expressions[file];
        if (std::find(names.begin(), names.end(), launch.name_expression) == names.end())
            names.push_back(launch.name_expression);
        built.kernels.push_back({launch, {}, {}, file});
    }
    for (std::size_t i = 0; i < files.size(); i++)
        built.programs.push_back(compile_cached(device_source(files[i]), expressions[i], arch));
    for (BuiltKernel& k : built.kernels)
        for (const CompiledKernel& c : built.programs[k.program].kernels)
            if (c.expression == k.launch.name_expression) {
                k.lowered = c.lowered;
                k.resources = c.resources;
            }
    return built;
}

std::string arch_name(int capability) { return fmt::format("sm_{}{}", capability, capability >= 90 ? "a" : ""); }

int capability_of(std::string_view arch) {
    int number = 0;
    if (!arch.starts_with("sm_")) return 0;
    const auto [end, error] = std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
    return error == std::errc() ? number : 0;
}

}  // namespace kernels::cuda
