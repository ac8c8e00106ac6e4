#include "gui/image.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace gui {
namespace {

using Bytes = std::string;

std::uint32_t crc32(std::string_view bytes) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> t{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            t[i] = i;
            for (int k = 0; k < 8; ++k) t[i] = t[i] >> 1 ^ (t[i] & 1 ? 0xedb88320u : 0);
        }
        return t;
    }();
    std::uint32_t crc = ~0u;
    for (unsigned char b : bytes) crc = crc >> 8 ^ table[(crc ^ b) & 255];
    return ~crc;
}

std::uint32_t adler32(std::string_view bytes) {
    std::uint32_t a = 1, b = 0;
    for (unsigned char c : bytes) {
        a = (a + c) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void put_u32(Bytes& out, std::uint32_t v) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(v >> shift & 255);
}

/// A deflate stream (RFC 1951) of one block with the fixed Huffman code.
class Deflate {
  public:
    explicit Deflate(Bytes& out) : out_(out) {
        bits(1, 1);  // last block
        bits(1, 2);  // fixed code
    }

    void literal(unsigned char c) { symbol(c); }

    /// Repeats `length` (3..258) bytes from `distance` (1..32768) bytes back.
    void match(int length, int distance) {
        static constexpr std::array<int, 29> lengths = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
        static constexpr std::array<int, 30> distances = {
            1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
            193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
        const auto slot = [](std::span<const int> bases, int value) {
            return static_cast<int>(std::upper_bound(bases.begin(), bases.end(), value) - bases.begin()) - 1;
        };
        const int l = slot(lengths, length), d = slot(distances, distance);
        symbol(257 + l);
        bits(static_cast<unsigned>(length - lengths[l]), l < 8 || l == 28 ? 0 : l / 4 - 1);
        code(static_cast<unsigned>(d), 5);
        bits(static_cast<unsigned>(distance - distances[d]), d < 4 ? 0 : d / 2 - 1);
    }

    void finish() {
        symbol(256);
        if (filled_ > 0) out_ += static_cast<char>(buffer_);
    }

  private:
    void bits(unsigned value, int count) {  // lowest bit first
        buffer_ |= value << filled_;
        for (filled_ += count; filled_ >= 8; filled_ -= 8, buffer_ >>= 8) out_ += static_cast<char>(buffer_ & 255);
    }
    void code(unsigned value, int count) {  // Huffman codes go highest bit first
        for (int i = count - 1; i >= 0; --i) bits(value >> i & 1, 1);
    }
    void symbol(int s) {
        const auto v = static_cast<unsigned>(s);
        if (s < 144)
            code(0x30 + v, 8);
        else if (s < 256)
            code(0x190 + v - 144, 9);
        else if (s < 280)
            code(v - 256, 7);
        else
            code(0xc0 + v - 280, 8);
    }

    Bytes& out_;
    unsigned buffer_ = 0;
    int filled_ = 0;
};

/// A zlib stream; matches are taken greedily from the last place with the same four bytes.
Bytes zlib_compress(const Bytes& in) {
    Bytes out = "\x78\x01";
    Deflate stream(out);
    constexpr std::size_t window = 32768, longest = 258;
    std::vector<std::size_t> last(1 << 15, ~std::size_t{0});
    const auto slot = [&](std::size_t at) {
        std::uint32_t key = 0;
        for (int i = 0; i < 4; ++i) key = key << 8 | static_cast<unsigned char>(in[at + i]);
        return key * 2654435761u >> 17;
    };
    for (std::size_t at = 0; at < in.size();) {
        std::size_t length = 0, from = 0;
        if (at + 4 <= in.size()) {
            from = std::exchange(last[slot(at)], at);
            if (from < at && at - from <= window)
                while (length < longest && at + length < in.size() && in[from + length] == in[at + length]) ++length;
        }
        if (length >= 4) {
            stream.match(static_cast<int>(length), static_cast<int>(at - from));
            at += length;
        } else {
            stream.literal(static_cast<unsigned char>(in[at++]));
        }
    }
    stream.finish();
    put_u32(out, adler32(in));
    return out;
}

void put_chunk(Bytes& out, const char* type, const Bytes& body) {
    put_u32(out, static_cast<std::uint32_t>(body.size()));
    const Bytes tagged = type + body;
    out += tagged;
    put_u32(out, crc32(tagged));
}

}  // namespace

std::string encode_png(const Image& image) {
    Bytes header;
    put_u32(header, static_cast<std::uint32_t>(image.width));
    put_u32(header, static_cast<std::uint32_t>(image.height));
    header += Bytes("\x08\x02\0\0\0", 5);  // 8 bits a channel, RGB, deflate, not interlaced

    Bytes rows;  // each row: filter 2 (up), then the difference to the row above
    rows.reserve(static_cast<std::size_t>(image.height) * (1 + 3 * static_cast<std::size_t>(image.width)));
    for (int y = 0; y < image.height; ++y) {
        rows += '\x02';
        for (int x = 0; x < image.width; ++x) {
            const std::size_t at = static_cast<std::size_t>(y) * image.width + x;
            const std::uint32_t here = image.pixels[at], above = y ? image.pixels[at - image.width] : 0;
            for (int shift = 0; shift <= 16; shift += 8) rows += static_cast<char>((here >> shift) - (above >> shift));
        }
    }
    Bytes out = "\x89PNG\r\n\x1a\n";
    put_chunk(out, "IHDR", header);
    put_chunk(out, "IDAT", zlib_compress(rows));
    put_chunk(out, "IEND", "");
    return out;
}

std::uint64_t fingerprint(const Image& image) {
    std::uint64_t hash = 1469598103934665603ull;
    for (std::uint32_t p : image.pixels) hash = (hash ^ p) * 1099511628211ull;
    return hash;
}

}  // namespace gui
