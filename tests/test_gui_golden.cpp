// Every view against a picture of it that somebody looked at. Drawn on the processor with Dear ImGui's own letters, so
// that every machine draws the same. MEMWALL_RENEW_GOLDEN=1 writes the pictures anew.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernels/cuda/runtime.hpp"
#include "tests/png.hpp"
#include "tests/robot.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::string_view scene =
    "h100-sxm5 4096x4096x4096 bf16 forward fused tile 128x256x64 | step 900 vs (h100-sxm5 4096x4096x4096 bf16 forward "
    "unfused tile 128x128x64)";

/// While it lives, letters are Dear ImGui's own.
struct BuiltinLetters {
    BuiltinLetters() { ::setenv("MEMWALL_FONTS", "builtin", 1); }
    ~BuiltinLetters() { ::unsetenv("MEMWALL_FONTS"); }
};

constexpr int block = 8;  // pixels a side: a letter that lies half a pixel elsewhere changes a block's mean by little

/// Mean R, G and B of each block, row by row.
std::vector<std::array<double, 3>> means(const gui::Image& image) {
    const int across = (image.width + block - 1) / block, down = (image.height + block - 1) / block;
    std::vector<std::array<double, 3>> out;
    for (int by = 0; by < down; ++by)
        for (int bx = 0; bx < across; ++bx) {
            std::array<double, 3> sum{};
            int count = 0;
            for (int y = by * block; y < std::min(image.height, (by + 1) * block); ++y)
                for (int x = bx * block; x < std::min(image.width, (bx + 1) * block); ++x, ++count)
                    for (std::size_t c = 0; c < 3; ++c)
                        sum[c] += image.pixels[static_cast<std::size_t>(y * image.width + x)] >> 8 * c & 255;
            for (double& s : sum) s /= count;
            out.push_back(sum);
        }
    return out;
}

/// How far apart two pictures are, in 1/255: the worst block and the mean over all; and the worse blocks in red.
struct Difference {
    double worst = 255, mean = 255;
    gui::Image picture;
};
Difference difference(const gui::Image& a, const gui::Image& b) {
    if (a.width != b.width || a.height != b.height) return {};
    const auto x = means(a), y = means(b);
    Difference out{0, 0, b};
    const int across = (a.width + block - 1) / block;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double far = 0;
        for (std::size_t c = 0; c < 3; ++c) far = std::max(far, std::abs(x[i][c] - y[i][c]));
        out.worst = std::max(out.worst, far);
        out.mean += far / static_cast<double>(x.size());
        if (far < 4) continue;
        const int left = static_cast<int>(i) % across * block, top = static_cast<int>(i) / across * block;
        for (int py = top; py < std::min(a.height, top + block); ++py)
            for (int px = left; px < std::min(a.width, left + block); ++px)
                out.picture.pixels[static_cast<std::size_t>(py * a.width + px)] |= 0xff0000c0u;
    }
    return out;
}

/// Blocks of a picture that is right differ by less, whatever the machine; a label that is gone, by more.
constexpr double worst_block = 40, mean_block = 1;

/// The picture of a view, and the lines of it that tell of this machine (what GPU it lacks): from, to, in pixels.
struct Picture {
    gui::Image image;
    std::vector<std::pair<int, int>> own_lines;
};
Picture picture_of(std::string_view view, bool in_lesson = false) {
    Robot robot(scene, {}, 640, 400, view);
    if (in_lesson) {
        robot.lab->learning.open_at(*robot.lab->learning.course()->lessons(lessons::Language::en).front(), 1,
                                    robot.lab->document);
        robot.rest();
    }
    Picture out{robot.screen.image(), {}};
    for (const gui::DrawnText& t : robot.screen.texts())
        if (t.text.starts_with("No GPU to time"))
            out.own_lines.emplace_back(static_cast<int>(t.box.y), static_cast<int>(t.box.w) + 1);
    return out;
}
void blank(gui::Image& image, const std::vector<std::pair<int, int>>& lines) {
    for (const auto& [from, to] : lines)
        for (int y = std::max(0, from); y < std::min(image.height, to); ++y)
            std::fill_n(image.pixels.begin() + y * image.width, image.width, 0xff000000u);
}

void write(const fs::path& path, const gui::Image& image) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << gui::encode_png(image);
}

}  // namespace

TEST_CASE("golden pictures: every view looks as it did when somebody looked at it") {
    const BuiltinLetters letters;
    const fs::path golden = fs::path(MEMWALL_SOURCE_DIR) / "tests/golden/gui";
    const bool renew = std::getenv("MEMWALL_RENEW_GOLDEN") != nullptr;
    struct Golden {
        std::string name;
        std::string_view view;
        bool in_lesson;
    };
    std::vector<Golden> all = {{"lesson-step", "lesson", true}};
    for (const gui::ViewRow& view : gui::views())
        all.push_back({std::string(gui::name_of(view)), gui::name_of(view), false});
    for (const auto& [name, view, in_lesson] : all) {
        CAPTURE(name);
        Picture drawn = picture_of(view, in_lesson);
        gui::Image& image = drawn.image;
        const fs::path path = golden / (name + ".png");
        if (renew) {
            write(path, image);
            continue;
        }
        std::ifstream in(path, std::ios::binary);
        REQUIRE_MESSAGE(in.good(), path.string() << " is missing: MEMWALL_RENEW_GOLDEN=1 writes it");
        std::stringstream file;
        file << in.rdbuf();
        gui::Image known = png::decode(file.str());
        blank(known, drawn.own_lines);
        blank(image, drawn.own_lines);
        if (name == "kernels" && kernels::cuda::available().ok()) {
            MESSAGE("the picture of kernels is not compared: it was drawn where no GPU could time them");
            continue;
        }
        const Difference d = difference(known, image);
        const bool same = d.worst < worst_block && d.mean < mean_block;
        if (!same) {
            const fs::path at = fs::temp_directory_path() / "memwall-golden";
            write(at / (name + ".png"), image);
            if (d.picture.width) write(at / (name + "-difference.png"), d.picture);
            MESSAGE("worst block " << d.worst << ", mean " << d.mean << " of 255; " << at.string()
                                   << " has the picture and where it differs");
        }
        CHECK(same);
    }
}

TEST_CASE("golden pictures: a label that is gone is seen, a shade that rounds otherwise is not") {
    const BuiltinLetters letters;
    const gui::Image before = picture_of("traffic").image;
    gui::Image shade = before, gone = before;
    for (std::uint32_t& p : shade.pixels) p ^= 0x00010101u;
    for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 60; ++x) {
            std::uint32_t& p = gone.pixels[static_cast<std::size_t>((150 + y) * gone.width + 120 + x)];
            p = (p & 0xff000000u) | 0x00a0a0a0u;
        }
    CHECK(difference(before, before).worst == 0);
    CHECK(difference(before, shade).worst < worst_block);
    CHECK(difference(before, shade).mean <= mean_block);
    CHECK(difference(before, gone).worst > worst_block);
    CHECK(difference(before, {}).worst > worst_block);
}
