// The devices a program knows: those compiled in and those of a user's folder.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <tuple>

#include "sim/device.hpp"
#include "sim/embedded.hpp"
#include "sim/text.hpp"

namespace sim {
namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) {
        throw BadInput(fmt::format("cannot read {}; expected a device file", quote(path.string())));
    }
    return text;
}

}  // namespace

/// A device, or the file of one that is compiled in: read when first asked for, as all of them take some milliseconds.
struct Catalogue::Entry {
    explicit Entry(Device d) : device(std::move(d)) {}
    explicit Entry(const EmbeddedFile& f) : file(f) {}

    const Device& get() const {
        std::call_once(once, [this] {
            if (!file.text.empty()) {
                device = parse_device(file.text, file.name);
            }
        });
        return device;
    }

    EmbeddedFile file;
    mutable Device device;
    mutable std::once_flag once;
};

const Catalogue& Catalogue::builtin() {
    static const Catalogue all = [] {
        Catalogue c;
        for (const EmbeddedFile& file : embedded_devices()) {
            const std::string_view id = file.name.substr(0, file.name.rfind('.'));  // its file is named by its id
            c.devices_[std::string(id)] = std::make_shared<const Entry>(file);
        }
        return c;
    }();
    return all;
}

void Catalogue::add(Device device) {
    std::string id = device.id;
    devices_[std::move(id)] = std::make_shared<const Entry>(std::move(device));
}

void Catalogue::add_folder(const std::string& folder) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".toml") {
            files.push_back(it->path());
        }
    }
    if (error) {
        throw BadInput(
            fmt::format("cannot read the folder {}; expected one with device files (*.toml)", quote(folder)));
    }
    std::sort(files.begin(), files.end());
    // All are read before any is added: a bad file leaves the catalogue as it was.
    std::map<std::string, std::pair<Device, std::string>> found;
    for (const fs::path& path : files) {
        Device device = parse_device(read_file(path), path.string());
        const std::string id = device.id;
        const auto [at, is_new] = found.try_emplace(id, std::move(device), path.string());
        if (!is_new) {
            throw BadInput(fmt::format("{}: id \"{}\" is already that of {}; expected one of its own", path.string(),
                                       id, at->second.second));
        }
    }
    for (auto& [id, entry] : found) {
        add(std::move(entry.first));
    }
}

const Device* Catalogue::find(std::string_view id) const {
    const auto found = devices_.find(id);
    return found == devices_.end() ? nullptr : &found->second->get();
}

const Device& Catalogue::at(std::string_view id) const {
    if (const Device* device = find(id)) {
        return *device;
    }
    std::vector<std::string_view> ids;
    for (const auto& [each, entry] : devices_) {
        ids.push_back(each);
    }
    const std::string near = did_you_mean(id, ids);
    throw BadInput(fmt::format("no device {}{}", quote(id), near.empty() ? "; `memwall devices` lists them" : near));
}

std::vector<const Device*> Catalogue::all() const {
    std::vector<const Device*> list;
    for (const auto& [id, entry] : devices_) {
        list.push_back(&entry->get());
    }
    std::sort(list.begin(), list.end(), [](const Device* a, const Device* b) {
        return std::tie(a->kind, a->year, a->id) < std::tie(b->kind, b->year, b->id);
    });
    return list;
}

}  // namespace sim
