#include "kernels/cuda/cubin_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace kernels::cuda {
namespace {

namespace fs = std::filesystem;

/// FNV-1a over 64 bits, from a start of one's own; every part also counts its length, so that no two lists of parts
/// run together.
struct Hash {
    std::uint64_t state;
    void add(std::string_view part) {
        for (const char c : fmt::format("{}:", part.size())) step(c);
        for (const char c : part) step(c);
    }

private:
    void step(char c) { state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
};

constexpr std::string_view magic = "memwall program 1\n";

// A file: magic, checksum of the rest (8 bytes), then each value as its length (8 bytes) and bytes, in this order.
template <class P, class F>
void each_value(P& program, F&& value) {
    value(program.arch);
    value(program.cubin);
    value(program.log);
    value(program.compile_ms);
    std::size_t count = program.kernels.size();
    value(count);
    if constexpr (!std::is_const_v<P>) program.kernels.resize(std::min<std::size_t>(count, 4096));
    for (auto& k : program.kernels) {
        value(k.expression);
        value(k.lowered);
        value(k.resources);
    }
}

std::string encode(const Program& program) {
    std::string body;
    each_value(program, [&](const auto& v) {
        std::string_view bytes;
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
            bytes = v;
        else
            bytes = {reinterpret_cast<const char*>(&v), sizeof v};
        const std::uint64_t size = bytes.size();
        body.append(reinterpret_cast<const char*>(&size), sizeof size).append(bytes);
    });
    Hash sum{1};
    sum.add(body);
    return std::string(magic) + std::string(reinterpret_cast<const char*>(&sum.state), sizeof sum.state) + body;
}

/// False where `bytes` is not what encode() wrote.
bool decode(std::string_view bytes, Program& program) {
    if (!bytes.starts_with(magic) || bytes.size() < magic.size() + 8) return false;
    bytes.remove_prefix(magic.size());
    std::uint64_t said = 0;
    std::memcpy(&said, bytes.data(), sizeof said);
    bytes.remove_prefix(sizeof said);
    Hash sum{1};
    sum.add(bytes);
    if (sum.state != said) return false;
    bool whole = true;
    each_value(program, [&](auto& v) {
        std::uint64_t size = 0;
        if (!whole || bytes.size() < sizeof size) return void(whole = false);
        std::memcpy(&size, bytes.data(), sizeof size);
        bytes.remove_prefix(sizeof size);
        if (size > bytes.size()) return void(whole = false);
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
            v = bytes.substr(0, size);
        else if (size == sizeof v)
            std::memcpy(&v, bytes.data(), sizeof v);
        else
            whole = false;
        bytes.remove_prefix(size);
    });
    return whole && bytes.empty();
}

}  // namespace

std::string cache_key(const Source& source, std::span<const std::string> expressions,
                      std::span<const std::string> flags, const std::string& compiler) {
    std::string key;
    for (const std::uint64_t start : {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu}) {
        Hash hash{start};
        const auto add_all = [&](std::span<const std::string> parts) {
            hash.add(std::to_string(parts.size()));
            for (const std::string& part : parts) hash.add(part);
        };
        hash.add(compiler);
        add_all(flags);
        add_all(expressions);
        hash.add(source.name);
        hash.add(source.text);
        for (const auto& [name, text] : source.headers) {
            hash.add(name);
            hash.add(text);
        }
        key += fmt::format("{:016x}", hash.state);
    }
    return key;
}

std::optional<Program> CubinCache::load(const std::string& key) const {
    if (folder_.empty()) return std::nullopt;
    std::ifstream in(file(key), std::ios::binary);
    if (!in) return std::nullopt;
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    in.close();
    std::error_code error;
    Program program;
    if (!decode(bytes, program)) {
        fs::remove(file(key), error);
        return std::nullopt;
    }
    fs::last_write_time(file(key), fs::file_time_type::clock::now(), error);  // used: not the next to go
    program.from_cache = true;
    return program;
}

void CubinCache::store(const std::string& key, const Program& program) const {
    if (!folder_.empty() && write_whole(file(key), encode(program))) make_room();
}

void CubinCache::make_room() const {
    struct Kept {
        fs::file_time_type used;
        std::uintmax_t bytes;
        fs::path path;
    };
    std::vector<Kept> files;
    std::error_code error;
    std::uintmax_t sum = 0;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        std::error_code gone;  // another process may remove files meanwhile
        const Kept kept{entry.last_write_time(gone), entry.file_size(gone), entry.path()};
        if (gone) continue;
        files.push_back(kept);
        sum += kept.bytes;
    }
    std::sort(files.begin(), files.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
    for (const Kept& k : files) {
        if (sum <= most_bytes_) break;
        fs::remove(k.path, error);
        sum -= k.bytes;
    }
}

}  // namespace kernels::cuda
