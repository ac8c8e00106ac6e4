// memwall lint: what is wrong or doubtful in device files.

#include "sim/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "sim/embedded.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;

struct File {
    std::string name, text;
};

File read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw sim::BadInput(fmt::format("cannot read {}; expected a device file", sim::quote(path.string())));
    return {path.string(), text};
}

std::vector<File> files(const Arguments& arguments) {
    std::vector<File> out;
    if (arguments.words.empty()) {
        for (const sim::EmbeddedFile& f : sim::embedded_devices())
            out.push_back({std::string(f.name), std::string(f.text)});
        return out;
    }
    const fs::path path = arguments.words[0];
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        out.push_back(read(path));
        return out;
    }
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(path))
        if (entry.path().extension() == ".toml") paths.push_back(entry.path());
    if (paths.empty())
        throw sim::BadInput(
            fmt::format("the folder {} has no device file; expected *.toml", sim::quote(path.string())));
    std::sort(paths.begin(), paths.end());
    for (const fs::path& p : paths) out.push_back(read(p));
    return out;
}

std::vector<std::string> findings(const File& file) {
    std::vector<std::string> out;
    try {
        for (const std::string& finding : sim::lint_device(sim::parse_device(file.text, file.name)))
            out.push_back(fmt::format("{}: {}", file.name, finding));
    } catch (const sim::BadInput& e) {
        out.emplace_back(e.what());  // names the file itself
    }
    return out;
}

int lint(const Arguments& arguments, Session& session) {
    const std::vector<File> all = files(arguments);
    long long found = 0, bad_files = 0;
    std::string text;
    for (const File& file : all) {
        const std::vector<std::string> lines = findings(file);
        found += static_cast<long long>(lines.size());
        bad_files += !lines.empty();
        for (const std::string& line : lines) text += line + '\n';
    }
    session.out() << text;
    if (found == 0) {
        session.out() << fmt::format("{}: nothing found\n", counted(static_cast<long long>(all.size()), "device file"));
        return done;
    }
    throw sim::BadInput(fmt::format("{} in {} of {}", counted(found, "finding"), grouped(bad_files),
                                    counted(static_cast<long long>(all.size()), "device file")));
}

}  // namespace

const Verb lint_verb = {
    .name = "lint",
    .operands = "[PATH]",
    .what = "check device files: those built in, or a file or folder of your own",
    .least = 0,
    .most = 1,
    .options = {},
    .run = lint,
};

}  // namespace cli
