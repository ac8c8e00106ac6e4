// memwall lint: what is wrong or doubtful in device files and lessons.

#include "sim/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>

#include "cli/text.hpp"
#include "cli/verb.hpp"
#include "kernels/glass/faults.hpp"
#include "lessons/lint.hpp"
#include "sim/embedded.hpp"
#include "sim/text.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;

struct File {
    std::string name, text;
};

/// What a lint looked at and found.
struct Found {
    std::string what;  ///< "28 device files"
    std::vector<std::string> lines;
};

File read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in)
        throw sim::BadInput(
            fmt::format("cannot read {}; expected a device file or a lesson", sim::quote(path.string())));
    return {path.string(), text};
}

/// The device files of a path: one file, or the *.toml of a folder; none where it is a folder of lessons.
std::vector<File> device_files(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return {read(path)};
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(path))
        if (entry.path().extension() == ".toml") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<File> out;
    for (const fs::path& p : paths) out.push_back(read(p));
    return out;
}

Found check_devices(const std::vector<File>& files) {
    Found found{counted(static_cast<long long>(files.size()), "device file"), {}};
    for (const File& file : files) try {
            for (const std::string& doubt : sim::lint_device(sim::parse_device(file.text, file.name)))
                found.lines.push_back(fmt::format("{}: {}", file.name, doubt));
        } catch (const sim::BadInput& e) {
            found.lines.emplace_back(e.what());  // names the file itself
        }
    return found;
}

Found check_lessons(const std::vector<lessons::CourseFile>& files, const sim::Catalogue& devices) {
    const auto counts = std::make_shared<kernels::glass::Counts>(devices);
    return {counted(static_cast<long long>(files.size()), "lesson file"),
            lessons::lint(files, devices, kernels::glass::counting(counts))};
}

bool has_lessons(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return path.extension() == ".md";
    for (const fs::path& folder : {path, path / "en", path / "zh"})
        if (fs::is_directory(folder, error))
            for (const auto& entry : fs::directory_iterator(folder))
                if (entry.path().extension() == ".md" && entry.path().filename() != "README.md") return true;
    return false;
}

std::vector<Found> check(const Arguments& arguments, Session& session) {
    std::vector<Found> out;
    const fs::path path = arguments.words.empty() ? "" : arguments.words[0];
    std::error_code error;
    if (path.empty()) {
        std::vector<File> files;
        for (const sim::EmbeddedFile& f : sim::embedded_devices())
            files.push_back({std::string(f.name), std::string(f.text)});
        out.push_back(check_devices(files));
    }
    // The word `lessons` means the course, also where there is no such folder.
    if (path.empty() || (path == "lessons" && !fs::exists(path, error))) {
        out.push_back(check_lessons(lessons::builtin_files(), session.devices()));
        return out;
    }
    const bool of_lessons = has_lessons(path);
    if (of_lessons) out.push_back(check_lessons(lessons::read_files(path.string()), session.devices()));
    if (!of_lessons || fs::is_directory(path, error))
        if (const std::vector<File> files = device_files(path); !files.empty()) out.push_back(check_devices(files));
    if (out.empty())
        throw sim::BadInput(fmt::format("the folder {} has no device file and no lesson; expected *.toml or *.md",
                                        sim::quote(path.string())));
    return out;
}

int lint(const Arguments& arguments, Session& session) {
    long long findings = 0;
    std::string looked_at;
    for (const Found& found : check(arguments, session)) {
        findings += static_cast<long long>(found.lines.size());
        for (const std::string& line : found.lines) session.out() << line << '\n';
        looked_at += (looked_at.empty() ? "" : ", ") + found.what;
    }
    if (findings > 0) throw sim::BadInput(fmt::format("{} in {}", counted(findings, "finding"), looked_at));
    session.out() << fmt::format("{}: nothing found\n", looked_at);
    return done;
}

}  // namespace

const Verb lint_verb = {
    .name = "lint",
    .operands = "[PATH]",
    .what = "check device files and lessons: those built in, or a file or folder of your own",
    .least = 0,
    .most = 1,
    .options = {},
    .run = lint,
};

}  // namespace cli
