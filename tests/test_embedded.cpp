// The files inside the binary are those of the tree.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/embedded.hpp"

namespace fs = std::filesystem;

static void check_equal(std::span<const sim::EmbeddedFile> embedded, const fs::path& folder, const char* extension) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    REQUIRE(embedded.size() == paths.size());
    REQUIRE(!paths.empty());
    for (std::size_t i = 0; i < paths.size(); ++i) {
        std::ifstream in(paths[i], std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(in), {}};
        std::erase(text, '\r');  // embedding makes every line end \n
        CHECK(embedded[i].name == paths[i].filename().string());
        const bool equal = embedded[i].text == text;
        CHECK_MESSAGE(equal, paths[i].string());
    }
}

TEST_CASE("embedded: every device file is in the binary, whole") {
    check_equal(sim::embedded_devices(), MEMWALL_SOURCE_DIR "/sim/devices", ".toml");
}

TEST_CASE("embedded: every table of measurements is in the binary, whole") {
    check_equal(sim::embedded_measurements(), MEMWALL_SOURCE_DIR "/kernels/measured", ".csv");
}
