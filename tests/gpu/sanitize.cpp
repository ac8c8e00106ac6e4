// Step `sanitize`: compute-sanitizer over this program, a tool and a rung at a time.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "kernels/cuda/run.hpp"
#include "tests/gpu/campaign.hpp"
#include "tests/gpu/draw.hpp"
#include "tests/gpu/rehearse.hpp"

namespace campaign {
namespace {

constexpr int found_something = 99;  // what the tool is asked to exit with then

struct Output {
    int exit_code = 0;
    std::string text;
};
Output output_of(const std::string& command) {
    Output out;
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) throw std::runtime_error("no process could be started");
    char line[512];
    while (std::fgets(line, sizeof line, pipe)) out.text += line;
    const int status = pclose(pipe);
    out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return out;
}

/// The tool's words, those of its first finding and its summary.
std::string words_of(const std::string& text) {
    std::string kept;
    for (std::size_t at = 0; at < text.size() && kept.size() < 600;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("=====") && line.find("COMPUTE-SANITIZER") == std::string::npos && line.size() > 12)
            kept += (kept.empty() ? "" : " | ") + line.substr(std::min<std::size_t>(10, line.size()));
    }
    return kept.empty() ? text.substr(0, 300) : kept;
}

}  // namespace

Record sanitize(Context& context, const Case& c) {
    if (std::system("command -v compute-sanitizer >/dev/null 2>&1") != 0)
        return {{"status", "refused"}, {"why", "compute-sanitizer is not on the PATH"}};
    const std::string tool = c.id.substr(0, c.id.find('-')), rung = c.id.substr(c.id.find('-') + 1);
    const Output out =
        output_of(fmt::format("timeout 100 compute-sanitizer --tool {} --error-exitcode {} '{}' sanitized {}", tool,
                              found_something, context.machine.program, rung));
    const std::string words = words_of(out.text);
    if (out.exit_code == 0) return {{"status", "ok"}, {"more", {{"said", words}}}};
    const char* why = out.exit_code == found_something ? "found"
                      : out.exit_code == 124           ? "did not end in time"
                                                       : "failed";
    return {{"status", "failed"}, {"why", fmt::format("{} {}: {}", tool, why, words)}};
}

int run_sanitized(const Machine& machine, const std::string& rung) {
    const bool simt = rung < "07";
    const std::string tile = simt                     ? rung < "04" ? "tile 32x32x8" : "tile 64x64x8"
                             : rung == "09_tma_wgmma" ? "tile 64x64x64 stages 2"
                                                      : "tile 64x64x32 stages 2";
    for (const char* pass : {"forward fused", "forward fused residual mask", "dgrad fused", "dgrad unfused",
                             "wgrad fused", "wgrad none"}) {
        const auto e = runnable(fmt::format("97x101x75 {} {} {} rung {}", simt ? "f32" : "bf16", pass, tile, rung));
        if (!e) continue;
        kernels::RunOptions once;
        once.seconds = 0;
        once.least_samples = once.most_samples = 1;
        once.most_bytes = 1;
        kernels::cuda::run(*e, once, {}, {}, machine.runtime);
        fmt::print("{}: ok\n", sim::to_string(*e, sim::Catalogue::builtin()));
    }
    return 0;
}

}  // namespace campaign
