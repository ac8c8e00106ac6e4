#pragma once
// Reads back the PNGs that gui/image.hpp writes: an oracle for its compressor, and golden pictures.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gui/image.hpp"

namespace png {

/// Inflates a zlib stream of fixed-code blocks: an oracle for the compressor, from RFC 1951 alone.
inline std::string inflate(const std::string& in) {
    std::size_t bit = 16;  // past the zlib header
    const auto next = [&] {
        const unsigned value = static_cast<unsigned char>(in.at(bit / 8)) >> (bit % 8) & 1u;
        ++bit;
        return value;
    };
    const auto low_first = [&](int count) {
        unsigned v = 0;
        for (int i = 0; i < count; ++i) v |= next() << i;
        return v;
    };
    const auto high_first = [&](int count) {
        unsigned v = 0;
        for (int i = 0; i < count; ++i) v = v << 1 | next();
        return v;
    };
    REQUIRE(next() == 1);
    REQUIRE(low_first(2) == 1);
    std::string out;
    for (;;) {
        unsigned code = high_first(7), symbol = 256 + code;
        if (code > 0x17) {
            code = code << 1 | high_first(1);
            if (code >= 0x30 && code <= 0xbf)
                symbol = code - 0x30;
            else if (code >= 0xc0 && code <= 0xc7)
                symbol = 280 + code - 0xc0;
            else
                symbol = 144 + (code << 1 | high_first(1)) - 0x190;
        }
        if (symbol < 256) {
            out += static_cast<char>(symbol);
            continue;
        }
        if (symbol == 256) return out;
        // The bases by their rule: eight of width 1, then four of each doubled width; 258 stands alone.
        const unsigned index = symbol - 257;
        unsigned length = 3;
        for (unsigned i = 0; i < index; ++i) length += 1u << (i < 8 ? 0 : i / 4 - 1);
        if (index == 28) length = 258;
        length += low_first(index < 8 || index == 28 ? 0 : static_cast<int>(index / 4 - 1));
        const unsigned d = high_first(5);
        unsigned distance = 1;
        for (unsigned i = 0; i < d; ++i) distance += 1u << (i < 4 ? 0 : i / 2 - 1);
        distance += low_first(d < 4 ? 0 : static_cast<int>(d / 2 - 1));
        REQUIRE(distance <= out.size());
        for (unsigned i = 0; i < length; ++i) out += out[out.size() - distance];
    }
}

inline std::uint32_t big_endian(const std::string& s, std::size_t at) {
    std::uint32_t v = 0;
    for (std::size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<unsigned char>(s.at(at + i));
    return v;
}

/// The picture of a file that encode_png wrote: RGB of 8 bits, every row the difference to the one above.
inline gui::Image decode(const std::string& file) {
    REQUIRE(file.starts_with("\x89PNG\r\n\x1a\n"));
    gui::Image out{static_cast<int>(big_endian(file, 16)), static_cast<int>(big_endian(file, 20)), {}};
    const std::size_t data = file.find("IDAT"), width = static_cast<std::size_t>(out.width);
    REQUIRE(data != std::string::npos);
    const std::string rows = inflate(file.substr(data + 4, big_endian(file, data - 4)));
    REQUIRE(rows.size() == static_cast<std::size_t>(out.height) * (1 + 3 * width));
    std::vector<unsigned char> above(3 * width);
    for (std::size_t at = 0; at < rows.size();) {
        REQUIRE(rows[at++] == 2);
        for (unsigned char& c : above) c = static_cast<unsigned char>(c + static_cast<unsigned char>(rows[at++]));
        for (std::size_t x = 0; x < width; ++x)
            out.pixels.push_back(0xff000000u | static_cast<std::uint32_t>(above[3 * x + 2]) << 16 |
                                 static_cast<std::uint32_t>(above[3 * x + 1]) << 8 | above[3 * x]);
    }
    return out;
}

}  // namespace png
