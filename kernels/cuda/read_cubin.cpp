// A cubin is an ELF file. Attribute numbers of .nv.info are those the CUDA binary utilities print (cuobjdump -elf).

#include <elf.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/resources.hpp"

namespace kernels::cuda {
namespace {

constexpr int machine_cuda = 190;  // EM_CUDA
enum Attribute : unsigned char {
    max_threads = 0x05,    // of a kernel: x, y, z
    param_cbank = 0x0a,    // of a kernel: offset (16), size (16)
    frame_size = 0x11,     // of all: symbol, bytes
    register_count = 0x2f  // of all: symbol, registers
};
constexpr unsigned char sized_value = 4;  // an attribute with a payload of its own

/// A file's bytes, read with their bounds checked.
struct Bytes {
    std::string_view all;

    template <class T>
    T at(std::size_t offset) const {
        if (offset > all.size() || all.size() - offset < sizeof(T)) throw std::runtime_error("the cubin is cut short");
        T value;
        std::memcpy(&value, all.data() + offset, sizeof value);
        return value;
    }
    std::string_view text(std::size_t offset) const {
        if (offset >= all.size()) throw std::runtime_error("the cubin is cut short");
        return all.substr(offset, all.substr(offset).find('\0'));
    }
};

struct Elf {
    Bytes bytes;
    std::vector<Elf64_Shdr> sections;
    std::size_t names = 0;  // file offset of the section names

    std::string_view name(const Elf64_Shdr& s) const { return bytes.text(names + s.sh_name); }
};

Elf read_sections(std::string_view cubin) {
    Elf elf{{cubin}, {}, 0};
    if (cubin.size() < sizeof(Elf64_Ehdr) || std::memcmp(cubin.data(), ELFMAG, SELFMAG) != 0)
        throw std::runtime_error("the bytes are no ELF file");
    const auto head = elf.bytes.at<Elf64_Ehdr>(0);
    if (head.e_machine != machine_cuda) throw std::runtime_error("the ELF file is not for an NVIDIA GPU");
    for (std::size_t i = 0; i < head.e_shnum; i++)
        elf.sections.push_back(elf.bytes.at<Elf64_Shdr>(head.e_shoff + i * sizeof(Elf64_Shdr)));
    if (head.e_shstrndx >= elf.sections.size()) throw std::runtime_error("the cubin names no section names");
    elf.names = elf.sections[head.e_shstrndx].sh_offset;
    return elf;
}

std::vector<std::string> read_symbols(const Elf& elf) {
    std::vector<std::string> symbols;
    for (const Elf64_Shdr& s : elf.sections) {
        if (s.sh_type != SHT_SYMTAB) continue;
        if (s.sh_link >= elf.sections.size()) throw std::runtime_error("the cubin names no symbol names");
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= s.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = elf.bytes.at<Elf64_Sym>(s.sh_offset + at);
            symbols.emplace_back(elf.bytes.text(elf.sections[s.sh_link].sh_offset + symbol.st_name));
        }
    }
    return symbols;
}

/// Calls use(attribute, offset, size) for each attribute of an .nv.info section that has a payload.
template <class F>
void each_attribute(const Elf& elf, const Elf64_Shdr& section, F&& use) {
    std::size_t at = section.sh_offset;
    const std::size_t end = section.sh_offset + section.sh_size;
    while (at + 4 <= end) {
        const auto format = elf.bytes.at<unsigned char>(at), attribute = elf.bytes.at<unsigned char>(at + 1);
        const std::size_t size = format == sized_value ? elf.bytes.at<std::uint16_t>(at + 2) : 0;
        at += 4;
        if (format == sized_value) use(attribute, at, size);
        at += size;
    }
}

}  // namespace

std::map<std::string, CubinKernel> read_cubin(std::string_view cubin) {
    const Elf elf = read_sections(cubin);
    const std::vector<std::string> symbols = read_symbols(elf);
    std::map<std::string, CubinKernel> kernels;
    const auto u32 = [&](std::size_t offset) { return elf.bytes.at<std::uint32_t>(offset); };

    // What follows a prefix in a section's name is the kernel it belongs to.
    const auto owner = [&](const Elf64_Shdr& s, std::string_view prefix) -> std::string {
        const std::string_view name = elf.name(s);
        return name.starts_with(prefix) ? std::string(name.substr(prefix.size())) : std::string();
    };
    for (const Elf64_Shdr& s : elf.sections)
        if (elf.name(s).starts_with(".nv.info."))
            if (const std::string of = owner(s, ".nv.info."); !of.starts_with("$")) kernels[of] = {};
    for (const Elf64_Shdr& s : elf.sections) {
        if (const auto k = kernels.find(owner(s, ".text.")); k != kernels.end())
            k->second.code_bytes = static_cast<sim::i64>(s.sh_size);
        if (const auto k = kernels.find(owner(s, ".nv.shared.")); k != kernels.end())
            k->second.shared_bytes = static_cast<sim::i64>(s.sh_size);
        if (const auto k = kernels.find(owner(s, ".nv.info.")); k != kernels.end())
            each_attribute(elf, s, [&](int attribute, std::size_t at, std::size_t size) {
                if (attribute == max_threads && size >= 12)
                    k->second.max_threads = static_cast<int>(u32(at) * u32(at + 4) * u32(at + 8));
                if (attribute == param_cbank && size >= 8) k->second.param_bytes = u32(at + 4) >> 16;
            });
        if (elf.name(s) == ".nv.info")
            each_attribute(elf, s, [&](int attribute, std::size_t at, std::size_t size) {
                if (size < 8 || u32(at) >= symbols.size()) return;
                const auto k = kernels.find(symbols[u32(at)]);
                if (k == kernels.end()) return;
                if (attribute == register_count) k->second.registers = static_cast<int>(u32(at + 4));
                if (attribute == frame_size) k->second.stack_bytes = u32(at + 4);
            });
    }
    return kernels;
}

}  // namespace kernels::cuda
