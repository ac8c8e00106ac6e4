// Everything that the model and the kernels say of an experiment has its Chinese.

#include <doctest/doctest.h>
#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "kernels/cpu/run.hpp"
#include "kernels/cpu/rung.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/glass/faults.hpp"
#include "kernels/glass/run.hpp"
#include "kernels/ladder.hpp"
#include "kernels/run.hpp"
#include "lessons/course.hpp"
#include "lessons/messages.hpp"
#include "lessons/walk.hpp"
#include "sim/fit.hpp"
#include "sim/formula.hpp"
#include "sim/measurement.hpp"
#include "sim/plan.hpp"
#include "sim/sweep.hpp"
#include "tests/english.hpp"
#include "tests/random_experiment.hpp"

using lessons::chinese;
using lessons::Language;

namespace {

const sim::Catalogue& devices() { return sim::Catalogue::builtin(); }

/// What is said, checked once: it has Chinese, and no English is left in it.
class Heard {
public:
    void operator()(const std::string& said) {
        if (said.empty() || !said_.insert(said).second) return;
        const auto zh = chinese(said);
        // What holds a word of Chinese already was told in the reader's language.
        const bool told =
            std::any_of(said.begin(), said.end(), [](char c) { return static_cast<signed char>(c) < -0x1d; });
        CHECK_MESSAGE((zh || told), "no Chinese: " << said);
        if (zh) CHECK_MESSAGE(tests::english_in(*zh).empty(), said << " -> " << *zh);
    }
    void bad_input(const std::function<void()>& f) {
        try {
            f();
        } catch (const sim::BadInput& e) {
            (*this)(e.what());
        }
    }
    std::size_t count() const { return said_.size(); }

private:
    std::set<std::string> said_;
};

/// Of a row's English: its values filled in.
std::string sample(std::string_view format) {
    std::string out;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '{') {
            out += format[i];
            continue;
        }
        const std::size_t end = format.find('}', i);
        const bool known = format[i + 1] == '!';
        out += known ? "threads" : "7";
        i = end;
    }
    return out;
}

/// The string literals of a C++ source, neighbours joined, outside comments, #include lines and raw strings.
std::vector<std::string> literals(const std::string& source) {
    std::vector<std::string> out;
    bool joins = false;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const std::string_view rest = std::string_view(source).substr(i);
        if (rest.starts_with("//") || rest.starts_with("#include")) {
            i += std::min(rest.find('\n'), rest.size() - 1);
        } else if (rest.starts_with("'\"'") || rest.starts_with("'\\\"'")) {
            i += rest.find('\'', 1) == 1 ? 3 : rest.find('\'', 2);
            joins = false;
        } else if (source[i] == '"') {
            std::string text;
            for (++i; i < source.size() && source[i] != '"'; ++i) {
                if (source[i] == '\\') ++i;
                text += source[i];
            }
            if (joins)
                out.back() += text;
            else
                out.push_back(text);
            joins = true;
        } else if (!std::isspace(static_cast<unsigned char>(source[i]))) {
            joins = false;
        }
    }
    return out;
}

/// A format with every value as {}: "{:.0f}", "{transpose}" and "{!}" alike.
std::string plain_format(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        out += text[i];
        if (text[i] == '{' && text.find('}', i) != text.npos) {
            out += '}';
            i = text.find('}', i);
        }
    }
    return out;
}

/// Words of a sentence: three in a row, or two with a word of grammar.
bool is_prose(std::string_view text) {
    int run = 0;
    bool letters = false;
    for (const char c : text) {
        if (std::islower(static_cast<unsigned char>(c)) || c == '\'') {
            if (!letters) ++run;
            letters = true;
        } else if (c == ' ') {
            letters = false;
        } else {
            run = 0;
            letters = false;
        }
        if (run >= 3) return true;
    }
    return run >= 2 && !tests::english_in(text).empty();
}

/// Whether a literal is (part of) a row, or a sentence that rows make up.
bool is_covered(const std::string& literal) {
    std::string text = plain_format(literal);
    while (!text.empty() && text.front() == ' ') text.erase(0, 1);
    while (!text.empty() && text.back() == ' ') text.pop_back();
    for (const lessons::Message& m : lessons::messages())
        if (plain_format(m.en).find(text) != std::string::npos) return true;
    for (const char* before : {"", "7: expected ", "7: 7 "})
        if (chinese(before + sample(text))) return true;
    return false;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path);
    REQUIRE_MESSAGE(in, path.string());
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("messages: every row is found by its own sentence, and its Chinese takes as many values") {
    std::set<std::string_view> seen;
    for (const lessons::Message& m : lessons::messages()) {
        CAPTURE(std::string(m.en));
        CHECK_MESSAGE(seen.insert(m.en).second, "twice");
        const std::string said = sample(m.en);
        const auto zh = chinese(said);
        REQUIRE(zh);
        CHECK(tests::english_in(*zh) == "");
        fmt::dynamic_format_arg_store<fmt::format_context> values;
        const auto holes = std::count(m.en.begin(), m.en.end(), '{');
        for (std::ptrdiff_t i = 0; i < holes; ++i) values.push_back("7");
        CHECK_NOTHROW(fmt::vformat(m.zh, values));
    }
}

TEST_CASE("messages: values keep their place, are said in Chinese where they are known, and what nobody knows stays") {
    CHECK(chinese("needs 260 KiB of shared memory; a CTA may use 227 KiB") ==
          "需要 260 KiB 共享内存；一个 CTA 最多可用 227 KiB");
    CHECK(chinese("dgrad: a cluster needs compute capability 9.0; a100-sxm4-80gb is 8.0") ==
          "dgrad：簇需要计算能力 9.0；a100-sxm4-80gb 为 8.0");
    CHECK(chinese("matmul: math 5.58 ms + smem 12 µs = 5.59 ms") == "matmul：运算 5.58 ms + 共享内存 12 µs = 5.59 ms");
    CHECK(chinese("tile \"a: expected b\": expected one of x, y") == "tile \"a: expected b\"：应为 x, y 之一");
    CHECK(lessons::translated("a compiler's own words: none of ours", Language::zh) ==
          "a compiler's own words: none of ours");
    CHECK(lessons::translated("yes or no", Language::en) == "yes or no");
    for (const char* part : {":", ": ", " to ", " + ", ": threads", " x (", "a = b: expected one of "}) {
        std::string long_one;  // a person's text may be anything, and is no riddle
        for (int i = 0; i < 3000; ++i) {
            long_one += part;
            if (i % 37 == 0) chinese(long_one);
        }
    }
}

TEST_CASE("messages: what the sources say in sentences has a row, and every row is said somewhere") {
    const std::filesystem::path root = MEMWALL_SOURCE_DIR;
    for (const char* file : {"sim/fit.cpp",
                             "sim/predict.cpp",
                             "sim/formula.cpp",
                             "sim/energy.cpp",
                             "sim/experiment.cpp",
                             "sim/experiment_words.cpp",
                             "sim/scene.cpp",
                             "sim/csv.cpp",
                             "sim/measurement.cpp",
                             "sim/tiling.cpp",
                             "sim/text.cpp",
                             "kernels/ladder.cpp",
                             "kernels/ladder_fit.cpp",
                             "kernels/cpu/rung.cpp",
                             "kernels/cpu/run.cpp",
                             "kernels/cuda/shared_library.cpp",
                             "kernels/cuda/runtime.cpp",
                             "kernels/glass/on_demand.cpp",
                             "gui/runner.cpp",
                             "gui/state_files.cpp",
                             "lessons/walk.cpp"})
        for (const std::string& text : literals(read(root / file))) {
            if (is_prose(text))
                CHECK_MESSAGE(is_covered(text), std::string(file) << ": no row in lessons/messages.inc: " << text);
        }
    // Only what is still said is worth a row: the words before, between and after its values stand in some source.
    std::string all;
    for (const char* folder : {"sim", "kernels", "gui", "lessons"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const auto extension = entry.path().extension();
            if (extension != ".cpp" && extension != ".hpp" && extension != ".toml") continue;
            for (const std::string& text : literals(read(entry.path()))) all += text + '\n';
        }
    for (const lessons::Message& m : lessons::messages()) {
        std::string longest, piece;
        for (const char c : plain_format(m.en) + '{') {
            if (c != '{' && c != '}') {
                piece += c;
                continue;
            }
            if (piece.size() > longest.size()) longest = piece;
            piece.clear();
        }
        // Its first three words or its last: a sentence may be put together of several literals.
        std::vector<std::string> words;
        std::istringstream in(longest);
        for (std::string w; in >> w;)
            if (!words.empty() || (w != ":" && w != "expected" && w != ";" && w != ",")) words.push_back(w);
        const auto three = [&](std::size_t from) {
            std::string text;
            for (std::size_t i = from; i < words.size() && i < from + 3; ++i)
                text += (text.empty() ? "" : " ") + words[i];
            return all.find(text) != std::string::npos;
        };
        CHECK_MESSAGE((three(0) || three(words.size() < 3 ? 0 : words.size() - 3)),
                      "nobody says: " << std::string(m.en));
    }
}

TEST_CASE("messages: why a tile does not fit, over devices, passes, tiles and random words") {
    Heard heard;
    tests::Draw draw(7, devices());
    for (int i = 0; i < 4000; ++i) {
        sim::Experiment e = draw.experiment(i % 2 ? 20000 : 300, 30, i % 3 == 0);
        if (i % 4 == 0) e.tile = {8 << draw.integer(0, 7), 8 << draw.integer(0, 7), 8 << draw.integer(0, 10)};
        const sim::Device& d = devices().at(e.device);
        heard(sim::fit(e, d, sim::plan(e)).why);
        heard(kernels::fits(e, d).why);
        if (d.kind == sim::DeviceKind::cpu)
            heard(kernels::cpu::fits(kernels::op_of(e), kernels::cpu::config_of(e)).why);
    }
    // Every rung over a grid of tiles, wherever it may or may not go.
    for (const char* device : {"t4", "a100-sxm4-80gb", "h200-sxm", "b200-sxm"})
        for (const kernels::DeviceRung& r : kernels::device_rungs())
            for (const sim::Dtype dtype : {sim::Dtype::f32, sim::Dtype::bf16, sim::Dtype::e4m3})
                for (const auto& [pass, fusion] : {std::pair(sim::Pass::forward, sim::Fusion::fused),
                                                   {sim::Pass::dgrad, sim::Fusion::fused},
                                                   {sim::Pass::wgrad, sim::Fusion::unfused}})
                    for (const sim::Residual residual : {sim::Residual::y, sim::Residual::mask})
                        for (const sim::Tile& t : {sim::Tile{128, 128, 64},
                                                   {256, 512, 64},
                                                   {20, 36, 12},
                                                   {64, 96, 48},
                                                   {1024, 1024, 1024},
                                                   {8, 4, 4}})
                            for (const int odd : {0, 1, 2, 3, 4}) {
                                const sim::Device& d = devices().at(device);
                                sim::Experiment e = sim::usual_experiment(
                                    d, {.m = 1000, .n = 1001, .k = 999, .dtype = dtype, .out = dtype}, pass, fusion);
                                e.rung = r.id;
                                e.residual = residual;
                                e.tile = t;
                                if (odd == 1) e.cluster = {2, 2};
                                if (odd == 2) e.schedule = {sim::Schedule::split_k, 4}, e.stages = 40;
                                if (odd == 3) e.schedule = {sim::Schedule::stream_k, 1}, e.thread = {3, 5};
                                if (odd == 4) e.dense.pitch = sim::Pitch::tight, e.sms = 500;
                                heard(sim::fit(e, d, sim::plan(e)).why);
                                heard(kernels::fits(kernels::resolved(e), d).why);
                            }
    sim::Experiment nowhere =
        sim::parse_experiment("tpu-v5e 8192x8192x8192 f32 train fused tile best vmem 1KiB", devices());
    heard(sim::resolve_best(nowhere, devices().at("tpu-v5e")).why);
    heard(kernels::cuda::available().why);
    CHECK(heard.count() > 300);
}

TEST_CASE("messages: how numbers came about and the notes on a prediction, over every device") {
    Heard heard;
    for (const sim::Device* d : devices().all())
        for (const auto& [pass, fusion] : {std::pair(sim::Pass::forward, sim::Fusion::unfused),
                                           {sim::Pass::train, sim::Fusion::fused},
                                           {sim::Pass::train, sim::Fusion::unfused}})
            for (const sim::Dtype dtype : {sim::Dtype::f32, sim::Dtype::bf16}) {
                sim::Experiment e = sim::usual_experiment(
                    *d, {.m = 1000, .n = 700, .k = 900, .dtype = dtype, .out = dtype}, pass, fusion);
                if (fusion != sim::Fusion::none && pass == sim::Pass::train) e.residual = sim::Residual::mask;
                e.traits["a_trait"] = "1";
                if (d->kind != sim::DeviceKind::gpu) e.order = sim::Order::kmn;
                if (d->kind == sim::DeviceKind::cpu) e.rung = "01_naive";
                if (d->kind == sim::DeviceKind::tpu) e.tile = {512, 512, 900};
                const sim::Report r = sim::predict(e, devices());
                for (const std::string& note : r.notes) heard(note);
                for (const sim::Formula& f : sim::formulas(r, *d)) {
                    heard(f.text);
                    // A value, a product of sizes and a metric's name are the same in every language.
                    for (std::string line : f.lines)
                        if (const std::string zh = lessons::translated(line, Language::zh); zh == line)
                            CHECK_MESSAGE(tests::english_in(line) == "", line);
                        else
                            heard(line);
                    CHECK(tests::english_in(lessons::translated(f.value, Language::zh)) == "");
                    CHECK(tests::english_in(lessons::translated(f.metric, Language::zh)) == "");
                }
            }
    CHECK(heard.count() > 500);
}

TEST_CASE("messages: what is wrong with a line, word by word") {
    Heard heard;
    const std::string lines[] = {
        "h200-sxm batch 2 8192x8192x8192 bf16 out f32 forward fused residual mask bias yes tile 128x256x64 stages 4 "
        "raster "
        "grouped:8 schedule split_k:2 sms 100 ctas 2 warp 64x64 cluster 2x1 l2 warm pitch tight traits a=1,b=2",
        "h100-sxm5 4096x4096x4096 bf16 train upstream drelu yes accumulate yes tile 128x128x64 tile.dgrad 64x64x64 "
        "tile.wgrad 128x256x64 rung 09_tma_wgmma consumers pingpong",
        "rtx-a6000 512x512x512 f32 dgrad unfused in_place yes tile 128x128x8 thread 8x8 warps 8 engine simt pipeline "
        "double",
        "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 order mnk buffers 1 vmem 16MiB precision high",
        "scratchpad 512x512x512 f32 wgrad none tile 64x64x64 order kmn"};
    const char* odd[] = {"",
                         "8",
                         "0",
                         "-3",
                         "x",
                         "7x7",
                         "1x2x3",
                         "fused",
                         "forward",
                         "f32",
                         "train",
                         "upstream",
                         "none",
                         "yes",
                         "16MiB",
                         "h200",
                         "mnk",
                         "stream_k",
                         "tile",
                         "rung",
                         "split_k:1",
                         "a=1,a=2",
                         "a",
                         "grouped:",
                         "cpu",
                         "mask",
                         "vmem",
                         "drelu",
                         "raster",
                         "accumulate",
                         "99999999999x2x3",
                         "2000000000x2000000000x2000000000"};
    for (const std::string& line : lines) {
        std::vector<std::string> words;
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t end = std::min(line.find(' ', at), line.size());
            words.push_back(line.substr(at, end - at));
            at = end + 1;
        }
        for (std::size_t i = 0; i < words.size(); ++i)
            for (const char* w : odd)
                for (const bool added : {false, true}) {
                    std::string changed;
                    for (std::size_t j = 0; j < words.size(); ++j) {
                        if (i == j) changed += std::string(w) + " ";
                        if (i != j || added) changed += words[j] + " ";
                    }
                    heard.bad_input([&] { sim::parse_experiment(changed, devices()); });
                }
        for (const std::string& more : words)
            for (const std::string& other : lines)
                heard.bad_input([&] { sim::parse_experiment(other + " " + more + " yes", devices()); });
        heard.bad_input([&] { sim::parse_experiment(line.substr(0, line.find(' ')), devices()); });
    }
    for (const char* tail : {"step", "step x", "select", "select q 1 1", "select x 1", "view", "view all",
                             "step 1 step 2", "what", "vs (", "vs (h200-sxm) 3", "vs (h200-sxm)"})
        heard.bad_input([&] { sim::parse_scene(lines[4] + " | " + tail, devices()); });
    heard.bad_input([&] { sim::parse_experiment("", devices()); });
    heard.bad_input([&] { sim::parse_experiment("zzzzzzzzzzzz 1x1x1", devices()); });
    CHECK(heard.count() > 300);
}

TEST_CASE("messages: what is wrong with a file of rows") {
    Heard heard;
    const std::string head = "device,pass,dtype,m,n,k,time_us,persistent,traits\n";
    for (const std::string& csv :
         {std::string(), std::string("a,,b\n"), std::string("a,a\n"), std::string("m,n,k\n"),
          std::string("device,m,n,k\n"), head + "1,2\n", head + "h200-sxm,forward,bf16,x,1,1,1,,\n",
          head + "h200-sxm,sideways,bf16,1,1,1,1,,\n", head + "h200-sxm,forward,bf17,1,1,1,1,,\n",
          head + "h200-sxm,forward,bf16,1,1,1,1,maybe,\n", head + "h200-sxm,forward,bf16,1,1,1,1,,=1\n",
          head + "h200-sxm,forward,bf16,1,1,1,-1,,\n", head + ",forward,bf16,1,1,1,1,,\n",
          head + "h200-sxm,forward,bf16,,1,1,1,,\n", head + "h200-sxm,forward,bf16,1,1,1,,,\n", head + "a\"b\n",
          head + "\"a\"b\n", head + "\"a\n"})
        heard.bad_input([&] { sim::parse_measurements(csv, "rows.csv"); });
    heard.bad_input([&] { sim::read_measurements("/nowhere/rows.csv"); });
    CHECK(heard.count() > 15);
}

TEST_CASE("messages: what is wrong with an answer") {
    Heard heard;
    for (const char* unit : {"", "us", "MB"})
        for (const char* text : {"", "x", "1/0", "3 parsecs", "2 MB"})
            heard.bad_input([&] { lessons::parse_number(text, unit); });
    lessons::Model model(devices());
    const lessons::Course course(lessons::builtin_files(), devices());
    const lessons::Lesson& lesson = *course.find("tile", Language::zh);
    lessons::LessonState last;
    last.step = static_cast<int>(lesson.steps.size()) - 1;
    lessons::Walk walk(lesson, model, last);
    for (const char* text : {"tile", "tile 7", "tpu-v5e", "raster", "512x512x512", "tile 64x64x64 order x"})
        heard.bad_input([&] { walk.answer(text); });
    CHECK(heard.count() > 12);
}

TEST_CASE("messages: what glass finds of every planted fault") {
    Heard heard;
    kernels::glass::Counts counts(devices());
    const lessons::Course course(lessons::builtin_files(), devices());
    for (const lessons::Step& s : course.drill(Language::en)->steps)
        if (!s.fault.empty())
            for (const auto& f : counts.of(sim::parse_experiment(s.scene, devices()), s.fault).findings) heard(f.what);
    CHECK(heard.count() > 2);
    const sim::Experiment tcgen05 =
        sim::parse_experiment("b200-sxm 512x512x512 bf16 forward fused tile 128x256x64 rung 10_tcgen05", devices());
    heard(kernels::glass::run(tcgen05, devices().at("b200-sxm")).fit.why);
}
