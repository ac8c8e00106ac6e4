#include "gui/fonts.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace gui {
namespace {

namespace fs = std::filesystem;

struct Candidate {
    const char* file;  // name without folder
    ImU32 face;        // index inside a collection
    float size;        // drawn this much larger, so that its characters match the Latin font's height
};

constexpr std::array latin_regular = {Candidate{"DejaVuSans.ttf", 0, 1}};
constexpr std::array latin_bold = {Candidate{"DejaVuSans-Bold.ttf", 0, 1}};
constexpr std::array latin_italic = {Candidate{"DejaVuSans-Oblique.ttf", 0, 1}};
constexpr std::array latin_mono = {Candidate{"DejaVuSansMono.ttf", 0, 1}};
constexpr std::array chinese_bold = {
    Candidate{"NotoSansCJK-Bold.ttc", 2, 1.25f},
    Candidate{"NotoSansSC-Bold.otf", 0, 1.25f},
};
constexpr std::array chinese = {
    Candidate{"wqy-microhei.ttc", 0, 1},
    Candidate{"NotoSansCJK-Regular.ttc", 2, 1.25f},  // face 2 is simplified Chinese
    Candidate{"NotoSansSC-Regular.otf", 0, 1.25f},
    Candidate{"DroidSansFallbackFull.ttf", 0, 1},
    Candidate{"DroidSansFallback.ttf", 0, 1},
};

/// File name -> path of every font file in the usual folders.
std::map<std::string, fs::path> installed_fonts() {
    std::vector<fs::path> roots = {"/usr/share/fonts", "/usr/local/share/fonts"};
    if (const char* home = std::getenv("HOME")) {
        roots.push_back(fs::path(home) / ".local/share/fonts");
        roots.push_back(fs::path(home) / ".fonts");
    }
    if (const char* data = std::getenv("XDG_DATA_HOME")) roots.push_back(fs::path(data) / "fonts");
    std::map<std::string, fs::path> found;
    for (const fs::path& root : roots) {
        std::error_code bad;
        fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, bad), end;
        for (; !bad && it != end; it.increment(bad)) found.emplace(it->path().filename(), it->path());
    }
    return found;
}

/// What fontconfig would use for Chinese text, or an empty path.
Candidate ask_fontconfig(std::string& path) {
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen("fc-match -f '%{index} %{file}' ':lang=zh-cn' 2>/dev/null", "r"),
                                               pclose);
    char line[1024] = "";
    unsigned face = 0;
    int at = 0;
    if (pipe && std::fgets(line, sizeof line, pipe.get()) && std::sscanf(line, "%u %n", &face, &at) == 1 && at > 0)
        path = line + at;
    return {nullptr, face & 0xffff, 1};  // the upper half is a named instance of a variable font
}

ImFont* add(ImFontAtlas& atlas, const std::string& path, const Candidate& c, ImFont* merge_into, float weight = 1) {
    std::error_code bad;
    if (path.empty() || fs::file_size(path, bad) < 1024 || bad) return nullptr;
    ImFontConfig config;
    config.MergeMode = merge_into != nullptr;
    config.DstFont = merge_into;
    config.FontNo = c.face;
    config.ExtraSizeScale = c.size;
    config.RasterizerMultiply = weight;
    config.Flags |= ImFontFlags_NoLoadError;
    return atlas.AddFontFromFileTTF(path.c_str(), 0.0f, &config);
}

}  // namespace

Fonts load_fonts(ImFontAtlas& atlas) {
    if (const char* wanted = std::getenv("MEMWALL_FONTS"); wanted && std::string_view(wanted) == "builtin") {
        ImFont* own = atlas.AddFontDefault();
        return {own, own, own, own, "", "", "MEMWALL_FONTS=builtin: no Chinese"};
    }
    const auto files = installed_fonts();
    const auto first = [&](std::span<const Candidate> wanted, std::string& path) -> Candidate {
        for (const Candidate& c : wanted)
            if (const auto at = files.find(c.file); at != files.end()) {
                path = at->second;
                return c;
            }
        return {};
    };
    Fonts fonts;
    std::string bold, italic, mono, han, han_bold;
    const Candidate regular_face = first(latin_regular, fonts.latin), bold_face = first(latin_bold, bold),
                    italic_face = first(latin_italic, italic), mono_face = first(latin_mono, mono);
    Candidate han_face = first(chinese, han);
    if (han.empty()) han_face = ask_fontconfig(han);
    const Candidate han_bold_face = first(chinese_bold, han_bold);

    const auto build = [&](const std::string& path, const Candidate& face) {
        ImFont* font = add(atlas, path, face, nullptr);
        if (!font) font = atlas.AddFontDefault();
        if (&face == &bold_face) {  // a face without a bold one is drawn darker
            if (!add(atlas, han_bold, han_bold_face, font)) add(atlas, han, han_face, font, 2.2f);
        } else if (add(atlas, han, han_face, font)) {
            fonts.chinese = han;
        }
        return font;
    };
    fonts.regular = build(fonts.latin, regular_face);
    fonts.bold = bold.empty() ? fonts.regular : build(bold, bold_face);
    fonts.italic = italic.empty() ? fonts.regular : build(italic, italic_face);
    fonts.mono = mono.empty() ? fonts.regular : build(mono, mono_face);
    if (!fonts.regular->IsGlyphInFont(0x5757)) fonts.chinese.clear();  // fontconfig answers even when it has none
    if (fonts.chinese.empty())
        fonts.problem = "no font with Chinese characters was found: install WenQuanYi Micro Hei or Noto Sans CJK";
    return fonts;
}

}  // namespace gui
