#pragma once
// A picture in memory and its PNG.

#include <cstdint>
#include <string>
#include <vector>

namespace gui {

/// Pixels as R,G,B,A bytes in memory order (0xAABBGGRR in a little-endian word), row-major from the top left.
struct Image {
    int width = 0, height = 0;
    std::vector<std::uint32_t> pixels;  // (height, width)
};

/// The picture as a PNG file's bytes, opaque RGB.
std::string encode_png(const Image& image);

/// FNV-1a over the pixels: equal pictures have equal fingerprints.
std::uint64_t fingerprint(const Image& image);

}  // namespace gui
