// The command line in-process: what each verb says, and what bad input of every kind gets: one line, an exit code, and
// nothing written.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/cli.hpp"
#include "cli/text.hpp"
#include "kernels/cuda/runtime.hpp"
#include "sim/embedded.hpp"
#include "sim/measurement.hpp"

namespace fs = std::filesystem;

namespace {

struct Answer {
    int exit;
    std::string out, err;
};

Answer ask(const std::vector<std::string>& words) {
    std::ostringstream out, err;
    const int exit = cli::main(words, out, err);
    return {exit, out.str(), err.str()};
}

/// Whether the text has those words, wherever its lines break.
bool has(const std::string& text, std::string_view part) {
    std::string flat;
    for (const char c : text)
        if (c != '\n' && c != ' ') {
            flat += c;
        } else if (!flat.ends_with(' ')) {
            flat += ' ';
        }
    return flat.find(part) != std::string::npos || text.find(part) != std::string::npos;
}

void check_has(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) CHECK_MESSAGE(has(text, part), part);
}

/// An error is exactly one line that begins with our name and names each of `parts`; nothing goes to stdout.
void check_refused(const std::vector<std::string>& words, int exit, const std::vector<std::string>& parts) {
    const Answer a = ask(words);
    std::string command;
    for (const std::string& w : words) command += w + ' ';
    CAPTURE(command);
    CAPTURE(a.err);
    CHECK(a.exit == exit);
    CHECK(a.out == "");
    CHECK(std::count(a.err.begin(), a.err.end(), '\n') == 1);
    CHECK(a.err.ends_with('\n'));
    CHECK(a.err.starts_with("memwall: "));
    check_has(a.err, parts);
}

void write(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of our own that goes away.
struct Folder {
    fs::path path =
        fs::temp_directory_path() / ("memwall-test-" + std::to_string(counter++) + "-" + std::to_string(getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    std::string operator/(std::string_view name) const { return (path / name).string(); }
    static inline int counter = 0;
};

std::string embedded_device(std::string_view name) {
    for (const sim::EmbeddedFile& f : sim::embedded_devices())
        if (f.name == name) return std::string(f.text);
    FAIL("no such device file");
    return "";
}

/// `text` with the first `from` replaced; it must be there.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

const std::string seed = "tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192 order mnk";

/// A device file for `cpu`, so that no test calibrates this machine.
const std::string cpu_file = MEMWALL_SOURCE_DIR "/tests/data";

}  // namespace

TEST_CASE("cli: explain tells the story of the published kernel") {
    const Answer a = ask({"explain", seed});
    CHECK(a.exit == cli::done);
    CHECK(a.err == "");
    CAPTURE(a.out);
    check_has(a.out,
              {"tpu-v5e 8192x8192x8192 f32 forward fused tile 128x128x8192", "17.2 GB", "64 x 268 MB",  // W 64 times
               "1 x 268 MB",                                                                            // X once
               "16.9 MB", "16.8 MB", "in series",    // two copies of the tiles
               "Untiled K is the bug",               //
               "2mn/(mk+kn+3mn) = 40 %",             // what fusion can save at most
               "predicted, unmeasured",              // a tile that should win
               "Keras guide", "35.0 ms", "7.79 ms",  // what others measured
               "bound", "5.58 ms", "Not modelled"});
    const auto row = [&](std::string_view name) { return a.out.find("\n  " + std::string(name) + " "); };
    CHECK(row("bound") < row("predicted"));
    CHECK(row("predicted") < row("measured"));
    CHECK(row("measured") != std::string::npos);
}

TEST_CASE("cli: words without quotes are one sentence, and its default is the published kernel") {
    const std::string page = ask({"explain", seed}).out;
    CHECK(ask({"explain", "tpu-v5e", "8192x8192x8192", "f32", "forward", "fused", "tile", "128x128x8192"}).out == page);
    CHECK(ask({"explain"}).out == page);
    CHECK(ask({}).out == page);  // no verb and no display
    CHECK(ask({"explain", seed + " | step 3 view explore"}).out == page);
}

TEST_CASE("cli: a claim is judged by the inequality it breaks") {
    const std::string flops = ask({"explain", seed, "--claim", "2107us"}).out;
    check_has(flops, {"Impossible: flops / peak", "522 TFLOP/s", "2.65x the peak of 197 TFLOP/s"});
    const std::string bytes = ask({"explain", seed, "--claim", "10ms"}).out;
    CHECK(has(bytes, "Impossible with this tile: bytes / bandwidth"));
    CHECK_FALSE(has(bytes, "flops / peak"));
    const std::string fine = ask({"explain", seed, "--claim", "35.0 ms"}).out;
    CHECK(has(fine, "As expected"));
    CHECK_FALSE(has(fine, "Impossible"));
    CHECK(has(ask({"explain", seed, "--claim", "1s"}).out, "slower than expected"));
}

TEST_CASE("cli: no text is wider than 80 columns, experiments and addresses apart") {
    const std::string gpu = "h100-sxm5 8192x8192x8192 bf16 forward unfused tile 128x256x64 raster grouped:8";
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"explain", seed},
                                                                                       {"explain", gpu},
                                                                                       {"predict", seed},
                                                                                       {"predict", gpu},
                                                                                       {"sweep", seed},
                                                                                       {"sweep", gpu},
                                                                                       {"compare", seed, gpu},
                                                                                       {"devices"},
                                                                                       {"kernels"},
                                                                                       {"--help"},
                                                                                       {"run", "--help"},
                                                                                       {"sweep", "--help"}}) {
        const Answer a = ask(words);
        std::istringstream lines(a.out);
        for (std::string line; std::getline(lines, line);) {
            const bool sentence = has(line, " forward ");
            CHECK_MESSAGE((sentence || cli::display_width(line) <= 80), line);
        }
    }
}

TEST_CASE("cli: compare prints steps that add up as printed") {
    const Answer a = ask({"compare", seed, "tpu-v5e 8192x8192x8192 f32 forward unfused tile 1024x1024x512"});
    CHECK(a.exit == cli::done);
    std::istringstream lines(a.out.substr(a.out.find("step by step")));
    double sum = 0, last = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.substr(line.find_last_of(" ", line.rfind(" ms") - 1) + 1));
        double value = 0;
        if (!has(line, " ms") || !(words >> value)) continue;
        if (line.starts_with("  B")) {
            last = value;
        } else {
            sum += value;
        }
    }
    CHECK(last > 0);
    CHECK(sum == doctest::Approx(last).epsilon(1e-9));
}

TEST_CASE("cli: sweep ranks tiles, shows ties and names the rule of each rejection") {
    const Answer a = ask({"sweep", "tpu-v5e 8192x8192x8192 f32 forward fused", "--top", "3"});
    CHECK(a.exit == cli::done);
    check_has(a.out, {"rank", "tile", "predicted", "tie", "Rejected", "scoped VMEM"});
    const Answer csv = ask({"sweep", "tpu-v5e 8192x8192x8192 f32 forward fused", "--csv"});
    CHECK(csv.out.starts_with("rank,tie,bm,bn,bk,predicted_us,"));
    CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') > 20);
    const Answer two = ask({"sweep", "tpu-v5e 8192x8192x8192 f32 forward fused", "--csv", "--top", "2"});
    CHECK(std::count(two.out.begin(), two.out.end(), '\n') == 3);
}

TEST_CASE("cli: help lists the verbs that work and no other") {
    const Answer a = ask({"--help"});
    CHECK(a.exit == cli::done);
    for (const std::string verb : {"explain", "predict", "compare", "sweep", "run", "validate", "devices", "kernels",
                                   "lint", "screenshot", "lessons", "lesson", "quiz", "train", "export"}) {
        CHECK_MESSAGE(has(a.out, "memwall " + verb), verb);
        const Answer own = ask({verb, "--help"});
        CHECK(own.exit == cli::done);
        CHECK(own.out.starts_with("memwall " + verb));
    }
    CHECK(has(ask({"--version"}).out, "memwall "));
}

TEST_CASE("cli: bad words and options are one line that names them") {
    check_refused({"predcit", seed}, 2, {"predcit", "predict"});
    check_refused({"predict"}, 2, {"predict", "EXPERIMENT"});
    check_refused({"predict", seed, "--jsno"}, 2, {"--jsno"});
    check_refused({"--nonsense"}, 2, {"--nonsense"});
    check_refused({"predict", seed, "--engine", "fast"}, 2, {"fast", "replay", "closed_form"});
    check_refused({"predict", seed, "--engine"}, 2, {"--engine"});
    check_refused({"predict", seed, "--without", "gravity"}, 2, {"gravity"});
    check_refused({"compare", seed}, 2, {"compare"});
    check_refused({"compare", seed, seed, seed}, 2, {"compare"});
    check_refused({"sweep", seed, "--top", "0"}, 2, {"--top", "0"});
    check_refused({"sweep", seed, "--top", "many"}, 2, {"--top", "many"});
    check_refused({"sweep", seed, "--json", "--csv"}, 2, {"--json", "--csv"});
    check_refused({"explain", seed, "--claim", "fast"}, 2, {"fast", "2107us"});
    check_refused({"explain", seed, "--claim", "-3ms"}, 2, {"-3ms"});
    check_refused({"explain", seed, "--claim", "35"}, 2, {"35"});
    check_refused({"explain", seed, "--claim", "nan ms"}, 2, {"nan ms"});
    check_refused({"run", seed, "--backend", "abacus"}, 2, {"abacus", "cpu", "cuda", "glass"});
}

TEST_CASE("cli: bad experiments are refused by every verb that takes one") {
    struct {
        const char *text, *names;
    } const cases[] = {
        {"", ""},
        {"h200-sxm", ""},
        {"h200-sxm 0x8192x8192 bf16 forward fused", "0x8192x8192"},
        {"h200-sxm -5x8192x8192 bf16 forward fused", "-5x8192x8192"},
        {"h200-sxm 8192x8192x99999999999999999999 bf16 forward fused", "99999999999999999999"},
        {"h200-sxm 2147483648x1x1 bf16 forward fused", "2147483648"},
        {"h200-sxm 2147483647x2147483647x2147483647 bf16 forward fused", "2147483647"},
        {"h200-sxm 8192xmanyx8192 bf16 forward fused", "8192xmanyx8192"},
        {"h200-sxm 8192x8192 bf16 forward fused", "8192x8192"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused tile 0x128x64", "0x128x64"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused tile 128x128", "128x128"},
        {"h2000-sxm 8192x8192x8192 bf16 forward fused", "h2000-sxm"},
        {"h200-sxm 8192x8192x8192 bf17 forward fused", "bf17"},
        {"h200-sxm 8192x8192x8192 bf16 sideways fused", "sideways"},
        {"h200-sxm 8192x8192x8192 bf16 forward fussed", "fussed"},
        {"h200-sxm 8192x8192x8192 bf16 forward upstream", "upstream"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused raster zigzag", "zigzag"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused raster grouped:0", "0"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused rung 99_magic", "99_magic"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused order mnk", "order"},
        {"tpu-v5e 8192x8192x8192 bf16 forward fused raster along_n", "raster"},
        {"tpu-v5e 8192x8192x8192 bf16 forward fused threads 4", "threads"},
        {"scratchpad 512x512x512 f32 forward fused stages 3", "stages"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused tile.dgrad 64x64x64", "tile.dgrad"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused stages 3 stages 4", "stages"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused stages", "stages"},
        {"tpu-v5e 8192x8192x8192 f32 forward fused vmem 16", "16"},
        {"h200-sxm 8192x8192x8192 bf16 forward fused \x1b[31mred", "red"},
    };
    for (const auto& [text, names] : cases)
        for (const char* verb : {"predict", "explain", "sweep", "run"}) check_refused({verb, text}, 2, {names});
    check_refused({"compare", seed, "h2000-sxm 8x8x8 f32 forward fused"}, 2, {"h2000-sxm"});
}

TEST_CASE("cli: what does not fit says why and exits 3") {
    for (const char* verb : {"predict", "explain"}) {
        const Answer a = ask({verb, "h200-sxm 8192x8192x8192 bf16 forward fused tile 128x256x256 stages 4"});
        CHECK(a.exit == cli::does_not_fit);
        CHECK(a.err == "");
        CHECK(has(a.out, "fit"));
        CHECK(has(a.out, "bound"));
        CHECK(has(a.out, "227 KiB"));
    }
    CHECK(ask({"predict", "h200-sxm 8192x8192x8192 bf16 forward fused tile 256x256x256", "--compiled"}).exit ==
          cli::does_not_fit);
    const std::string too_large = "tpu-v5e 8192x8192x8192 f32 forward fused tile 8192x8192x8192";
    const std::string json = ask({"compare", seed, too_large, "--json"}).out;
    CHECK_FALSE(has(json.substr(json.find("\"delta\"")), "expected_bytes"));
    const Answer a = ask({"compare", seed, too_large});
    CHECK(a.exit == cli::does_not_fit);
    CHECK(has(a.out, "B does not fit"));
    CHECK(has(a.out, "B does not fit"));
    CHECK_FALSE(has(a.out, " 0 B"));  // nothing is known of what cannot run, not zero
}

TEST_CASE("cli: explain's parts refuse what they would leave out, and steps that are not") {
    check_refused({"explain", seed, "--formulas", "--claim", "1ms"}, 2, {"--claim", "--formulas"});
    check_refused({"explain", seed, "--step", "99999999"}, 2,
                  {"--step \"99999999\": expected a whole number from 0 to "});
    for (const char* none : {"-1", "1.5", "x", "99999999999999999999"})  // one rule for all
        check_refused({"explain", seed, "--step", none}, 2, {none, "expected a whole number from 0 to "});
    check_has(ask({"explain", seed, "--step", "0"}).out, {"Step 0 of", "nothing has been asked for yet"});
    const Answer first = ask({"explain", "h200-sxm 1024x1024x1024 bf16 forward fused", "--step", "5"});
    CHECK(has(first.out, "wave 1"));
    CHECK_FALSE(has(ask({"explain", seed, "--formulas"}).out, "__"));  // no GPU profiler's metrics on a TPU
}

TEST_CASE("cli: explain has one bound of the bytes, and does not call losing what wins") {
    const std::string page = ask({"explain", "h200-sxm 8192x8192x8192 bf16 forward fused raster grouped:8"}).out;
    const std::size_t row = page.find("MiB  h200-sxm");
    REQUIRE(row != std::string::npos);
    for (const std::size_t line : {page.find("  bound "), row})
        CHECK(has(page.substr(line, page.find('\n', line) - line), "421 MB"));
    const std::string backward = ask({"explain", "h200-sxm 8192x8192x8192 bf16 dgrad fused residual mask"}).out;
    CHECK_FALSE((has(backward, "fused residual mask wins") && has(backward, "Fusion loses here")));
}

TEST_CASE("cli: a backend that is not here exits 4, naming device and backend") {
    check_refused({"run", seed}, 4, {"tpu-v5e"});
    check_refused({"run", seed, "--backend", "cpu"}, 4, {"tpu-v5e", "cpu"});
    const std::string gpu = "h200-sxm 512x512x512 bf16 forward fused";
    if (!kernels::cuda::available().ok()) {
        check_refused({"run", gpu}, 4, {"h200-sxm", "cuda"});
        check_refused({"run", gpu, "--backend", "cuda", "--baselines"}, 4, {"h200-sxm", "cuda"});
    }
    check_refused({"run", gpu, "--backend", "glass", "--baselines"}, 2, {"--baselines", "cuda"});
    check_refused({"run", gpu, "--backend", "cpu"}, 4, {"h200-sxm", "cpu"});
    check_refused({"run", seed, "--backend", "glass"}, 4, {"tpu-v5e", "glass"});
    check_refused({"predict", "mi300x 4096x4096x4096 bf16 forward fused", "--compiled"}, 4, {"--compiled"});
    check_refused({"run", gpu, "--backend", "steel"}, 2, {"steel", "glass"});
    check_refused({"run", gpu, "--backend", "glass", "--record", "rows.csv"}, 2, {"--record"});
}

TEST_CASE("cli: device files of one's own are added, and bad ones refused by name, place and expectation") {
    const Folder folder;
    const std::string good = embedded_device("tpu-v5e.toml");
    write(folder / "mine.toml", replaced(good, "id = \"tpu-v5e\"", "id = \"tpu-mine\""));
    const Answer a =
        ask({"predict", "tpu-mine 1024x1024x1024 bf16 forward fused", "--device-dir", folder.path.string()});
    CHECK(a.exit == cli::done);
    CHECK(ask({"--device-dir", folder.path.string(), "devices"}).out.find("tpu-mine") != std::string::npos);
    CHECK(has(ask({"lint", folder.path.string()}).out, "nothing found"));

    const std::size_t unit = good.find("unit = ");
    REQUIRE(unit != std::string::npos);
    const std::string unit_word = good.substr(unit, good.find(',', unit) - unit + 1);
    const std::size_t value = good.find("value = ");
    const std::string value_word = good.substr(value, good.find(',', value) - value);
    struct {
        const char* name;
        std::string text;
        std::vector<std::string> parts;
    } const bad[] = {
        {"unit.toml", replaced(good, unit_word, ""), {"unit.toml", "unit"}},
        {"nan.toml", replaced(good, value_word, "value = nan"), {"nan.toml", "nan"}},
        {"inf.toml", replaced(good, value_word, "value = inf"), {"inf.toml"}},
        {"key.toml", replaced(good, "[dram]", "[dram]\nwibble = 3"), {"key.toml", "wibble"}},
        {"half.toml", good.substr(0, good.size() / 2), {"half.toml"}},
        {"empty.toml", "", {"empty.toml"}},
        {"not.toml",
         "\x7f"
         "ELF",
         {"not.toml"}},
    };
    for (const auto& b : bad) {
        const Folder one;
        write(one / b.name, b.text);
        check_refused({"devices", "--device-dir", one.path.string()}, 2, b.parts);
        const Answer lint = ask({"lint", one / b.name});
        CHECK(lint.exit == 2);
        CHECK(has(lint.out, b.name));
    }
    check_refused({"devices", "--device-dir", folder / "nowhere"}, 2, {"nowhere"});
    check_refused({"lint", folder / "nowhere.toml"}, 2, {"nowhere.toml"});
}

TEST_CASE("cli: lint finds nothing in the devices that are built in") {
    const Answer a = ask({"lint"});
    CAPTURE(a.out);
    CHECK(a.exit == cli::done);
    CHECK(has(a.out, "nothing found"));
}

TEST_CASE("cli: a bad row of measurements is refused with its line") {
    const Folder folder;
    std::string csv;
    for (const sim::EmbeddedFile& f : sim::embedded_measurements())
        if (f.name == "published.csv") csv = f.text;
    const std::size_t second = csv.find('\n', csv.find('\n') + 1);
    const std::string head = csv.substr(0, csv.find('\n') + 1), row = csv.substr(head.size(), second + 1 - head.size());
    write(folder / "good.csv", head + row);
    CHECK(ask({"validate", folder / "good.csv"}).exit == cli::done);
    write(folder / "odd.csv", head + replaced(row, ",unknown,", ",zigzag,"));
    check_has(ask({"validate", folder / "odd.csv"}).out, {"the model does not read", "raster zigzag"});
    struct {
        const char* name;
        std::string text;
        std::vector<std::string> parts;
    } const bad[] = {
        {"size.csv", head + row + replaced(row, ",8192,", ",eight,"), {"size.csv", "3", "eight"}},
        {"dtype.csv", head + replaced(row, ",f32,", ",f33,"), {"dtype.csv", "2", "f33"}},
        {"short.csv", head + row.substr(0, row.size() / 3) + "\n", {"short.csv", "2"}},
        {"time.csv", head + replaced(row, ",7879,", ",-7,"), {"time.csv", "2", "-7"}},
        {"head.csv", "a,b,c\n1,2,3\n", {"head.csv"}},
        {"empty.csv", "", {"empty.csv"}},
    };
    for (const auto& b : bad) {
        write(folder / b.name, b.text);
        check_refused({"validate", folder / b.name}, 2, b.parts);
    }
    check_refused({"validate", folder / "nowhere.csv"}, 2, {"nowhere.csv"});
    check_refused({"validate", folder.path.string()}, 2, {});
}

TEST_SUITE("slow") {
    TEST_CASE("cli: validate tells what each term is worth, and the error on unseen sources") {
        const std::string file = MEMWALL_SOURCE_DIR "/kernels/measured/published.csv";
        const Answer terms = ask({"validate", file, "--ablate"});
        CHECK(terms.exit == cli::done);
        check_has(terms.out, {"(nothing)", "waves", "dispatch", "step_overhead"});
        // Only one device's rows: each source held out is a refit.
        const Folder folder;
        std::ifstream in(file);
        std::string line, some;
        for (int n = 0; std::getline(in, line); ++n)
            if (n == 0 || line.find(",tpu-v5e,") != std::string::npos) some += line + '\n';
        std::ofstream(folder / "tpu.csv") << some;
        const Answer held_out = ask({"validate", folder / "tpu.csv", "--loso", "--strict"});
        CHECK(held_out.exit == cli::done);
        check_has(held_out.out, {"Leave one source out", "Leave one device out", "held out", "mxu"});
        // Each claim of choosing well stands beside rules that know nothing, each error beside the bound alone.
        check_has(terms.out, {"roofline", "waves x tile", "best fixed tile", "chance", "compulsory alone", "Coverage",
                              "were fitted to measured rows", "more; --rows shows them"});
        CHECK(ask({"validate", file, "--rows"}).out.find("--rows shows them") == std::string::npos);
        check_refused({"validate", file, "--rows", "--json"}, 2, {"--json"});
        const std::string json = ask({"validate", folder / "tpu.csv", "--ablate", "--loso", "--json"}).out;
        check_has(json, {"\"ablate\"", "\"step_overhead\"", "\"loso\"", "\"mape_held_out\""});
    }
}

TEST_CASE("cli: explain tells what another L2 would leave of the bytes, in falling order") {
    const Answer a = ask({"explain", "a100-sxm4-40gb 4096x4096x4096 bf16 forward fused tile 128x128x32"});
    CHECK(a.exit == cli::done);
    check_has(a.out, {"with the L2 of other GPUs", "20 MiB", "a100-sxm4-40gb", "bound", "hilbert", "all fits from"});
    CHECK(!has(ask({"explain", "tpu-v5e 512x512x512 f32 forward fused"}).out, "with the L2 of other GPUs"));
}

TEST_CASE("cli: run under glass shows bound, predicted and counted, and where the bytes move") {
    const std::string e = "rtx-a6000 200x136x72 f32 forward fused tile 64x64x8 rung 04_register_tile";
    const Answer a = ask({"run", e, "--backend", "glass"});
    CHECK(a.exit == cli::done);
    check_has(a.out,
              {"bound  predicted  counted", "Every CTA ran", "every element", "No race", "04_register_tile.cuh:"});
    CHECK(a.out.find("bound") < a.out.find("predicted"));
    std::istringstream lines(a.out);
    for (std::string line; std::getline(lines, line);) {  // the bound of both directions stands beside both together
        std::istringstream words(line);
        std::vector<std::string> word{std::istream_iterator<std::string>(words), {}};
        if (word.size() < 2) continue;
        if (word[1] == "read" && word[0] != "bytes") CHECK(word.size() == 6);
    }
    CHECK(has(a.out, " all "));
    const Answer source = ask({"explain", e, "--backend", "glass"});
    CHECK(source.exit == cli::done);
    check_has(source.out, {"kernels/device/04_register_tile.cuh", "multiply_add(sum[i][j]", "wavefronts"});
    check_refused({"explain", e, "--backend", "cuda"}, 2, {"glass"});
    check_refused({"explain", seed, "--backend", "glass"}, 4, {"tpu-v5e"});
}

TEST_CASE("cli: validate says in words that a file has nothing to sum up") {
    const Folder folder;
    const auto files = sim::embedded_measurements();
    const auto at =
        std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name.ends_with("published.csv"); });
    REQUIRE(at != files.end());
    std::istringstream published{std::string(at->text)};
    std::string text, line;
    for (int rows = 0; rows <= 2; ++rows) {  // the head alone, then rows without a tile
        std::getline(published, line);
        text += line + '\n';
        const std::string file = folder / "few.csv";
        std::ofstream(file) << text;
        for (const char* option : {"--markdown", "--ablate", "--loso", "--rows", "--json", "--strict"}) {
            CAPTURE(rows);
            CAPTURE(option);
            const Answer a = ask({"validate", file, option});
            CHECK(a.exit == cli::done);
            CHECK(a.err.empty());
            CHECK_FALSE(has(a.out, "nan"));
            const std::string what = option;
            if (what != "--json" && (rows == 0 || what == "--markdown" || what == "--ablate" || what == "--loso"))
                CHECK(has(a.out, "there is nothing to sum up"));
        }
    }
}

TEST_CASE("cli: training under glass falls step for step with the unfused path") {
    const Answer a = ask({"train", "--backend", "glass", "--steps", "3"});
    CHECK(a.exit == cli::done);
    check_has(a.out, {"loss, fused", "loss, unfused", "The loss falls"});
    const Answer one = ask({"train", "--backend", "glass", "--steps", "1"});
    CHECK(one.exit == cli::done);
    check_has(one.out, {"One step shows no fall of the loss"});
    CHECK_FALSE(has(one.out, "100 %"));
    check_refused({"train", "--backend", "steel"}, 2, {"steel", "glass"});
}

TEST_CASE("cli: run checks, times and records") {
    const Folder folder;
    const std::string e = "cpu 96x80x64 f32 forward unfused threads 1", file = folder / "rows.csv";
    const std::vector<std::string> fixed = {"--device-dir", cpu_file};
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.end(), fixed.begin(), fixed.end());
        return ask(words);
    };
    const Answer a = run({"run", e, "--record", file});
    CAPTURE(a.err);
    REQUIRE(a.exit == cli::done);
    CAPTURE(a.out);
    CHECK(a.out.find("bound") < a.out.find("predicted"));
    CHECK(a.out.find("predicted") < a.out.find("measured"));
    CHECK(has(a.out, "checked"));
    CHECK(a.err == "");
    CHECK(run({"run", e, "--record", file}).exit == cli::done);

    const sim::MeasurementFile rows = sim::read_measurements(file);
    CHECK(rows.columns == sim::recorded_columns());
    REQUIRE(rows.rows.size() == 2);
    CHECK(rows.rows[0].id != rows.rows[1].id);
    for (const sim::Measurement& r : rows.rows) {
        CHECK(r.device == "cpu");
        CHECK(r.m == 96);
        CHECK(*r.time_us >= *r.min_us);
        CHECK(*r.time_us <= *r.max_us);
        CHECK(*r.samples >= 1);
        CHECK(*r.max_error < 1e-4);
        CHECK(r.machine != "");
        CHECK(r.date.size() == 10);
        CHECK(r.experiment.starts_with("cpu 96x80x64 f32 forward unfused"));
    }
    const Answer v = run({"validate", file});
    CHECK(v.exit == cli::done);

    const Answer json = run({"run", e, "--json"});
    CHECK(json.exit == cli::done);
    check_has(json.out, {"\"measured\"", "\"median_us\"", "\"min_us\"", "\"max_us\"", "\"samples\"", "\"max_error\"",
                         "\"machine\"", "\"counters\": null"});
}

TEST_CASE("cli: a record that cannot be kept is refused before anything runs, and leaves what is there alone") {
    const Folder folder;
    const std::string e = "cpu 64x64x64 f32 forward fused";
    check_refused({"run", e, "--device-dir", cpu_file, "--record", folder / "nowhere/rows.csv"}, 2,
                  {"nowhere/rows.csv"});
    CHECK(!fs::exists(folder.path / "nowhere"));
    write(folder / "letter.csv", "Dear reader,\n");
    check_refused({"run", e, "--device-dir", cpu_file, "--record", folder / "letter.csv"}, 2, {"letter.csv"});
    CHECK(read(folder / "letter.csv") == "Dear reader,\n");
    check_refused({"run", e, "--device-dir", cpu_file, "--record", folder.path.string()}, 2, {});
    CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
    check_refused({"run", seed, "--backend", "cpu", "--record", folder / "rows.csv"}, 4, {"tpu-v5e"});
    CHECK(!fs::exists(folder.path / "rows.csv"));
}

TEST_CASE("cli: screenshot's bad input is refused before a file is written") {
    const Folder folder;
    const std::string png = folder / "lab.png";
    check_refused({"screenshot", seed}, 2, {"-o"});
#if MEMWALL_HAS_GUI
    check_refused({"screenshot", "h2000 1x1x1 f32 forward fused", "-o", png}, 2, {"h2000"});
    check_refused({"screenshot", seed, "-o", png, "--size", "0x0"}, 2, {"0x0"});
    check_refused({"screenshot", seed, "-o", png, "--size", "big"}, 2, {"big"});
    check_refused({"screenshot", seed, "-o", png, "--scale", "nan"}, 2, {"nan"});
    check_refused({"screenshot", seed, "-o", png, "--lang", "xx"}, 2, {"xx"});
    check_refused({"screenshot", seed, "-o", png, "--theme", "plaid"}, 2, {"plaid"});
    check_refused({"screenshot", seed, "-o", png, "--view", "nowhere"}, 2, {"nowhere"});
    check_refused({"screenshot", seed, "-o", folder / "nowhere/lab.png"}, 2, {"nowhere/lab.png"});
#else
    check_refused({"screenshot", seed, "-o", png}, 4, {"window"});
#endif
    CHECK(fs::is_empty(folder.path));
}

TEST_CASE("text: prose wraps at the width, tables line up, and numbers say themselves briefly") {
    CHECK(cli::wrap("aa bb cc", 5) == "aa bb\ncc\n");
    CHECK(cli::wrap("aa  bb cc", 5, 0, 2) == "aa bb\n  cc\n");
    CHECK(cli::wrap("aa bb", 9, 2, 4) == "  aa bb\n");
    CHECK(cli::wrap("averyverylongword b", 5) == "averyverylongword\nb\n");
    CHECK(cli::display_width("35 \u00b5s") == 5);
    cli::Table table("lr");
    table.row({"a", "10"});
    table.row({"bcd", "5 \u00b5s"});
    CHECK(table.text() == "a      10\nbcd  5 \u00b5s\n");
    CHECK(cli::times(64) == "64x");
    CHECK(cli::times(1.834) == "1.83x");
    CHECK(cli::times(3e300) == "3e+300x");
    CHECK(cli::percent(0.0312) == "+3.1 %");
    CHECK(cli::percent(0, true) == "0 %");
    CHECK(cli::grouped(1234567) == "1,234,567");
    CHECK(cli::grouped(-123) == "-123");
    CHECK(cli::grouped(-1234) == "-1,234");
    CHECK(cli::counted(1, "tile") == "1 tile");
    CHECK(cli::parse_duration_us("2107us") == 2107);
    CHECK(cli::parse_duration_us("2.107 ms") == doctest::Approx(2107));
    CHECK(cli::parse_duration_us("3\u00b5s") == 3);
    CHECK(cli::parse_duration_us("1.2s") == doctest::Approx(1.2e6));
}

TEST_CASE(
    "explain tells what the lab shows: formulas, timeline, tile order, a step, and rows at which choices matter") {
    const std::string gpu = "h100-sxm5 2048x2048x512 bf16 forward unfused tile 128x256x64";
    check_has(ask({"explain", gpu, "--formulas"}).out,
              {"predicted time", "2·2048·2048·512", "gpu__time_duration.sum", "energy, assumed", "pJ/FLOP"});
    check_has(ask({"explain", gpu, "--timeline"}).out, {"matmul: 0 µs to", "relu:", "work", "SM"});
    const Answer step = ask({"explain", gpu, "--step", "7"});
    CHECK(step.exit == cli::done);
    check_has(step.out, {"Step 7 of", "output tile (0, 6) of 16 x 8", "fetched from DRAM", "Held on chip after it"});
    check_has(
        ask({"explain", "scratchpad 512x512x512 f32 forward fused tile 128x128x128 order mnk", "--step", "2"}).out,
        {"dropped by this step: 2 tiles: x (0, 0)", "So far: 262 kB read from DRAM"});
    check_has(
        ask({"explain", "h100-sxm5 512x512x512 bf16 forward fused tile 128x128x64 raster grouped:2", "--tiles"}).out,
        {"0 2 4 6", "1 3 5 7", "8 10 12 14"});
    check_has(ask({"explain", "h100-sxm5 512x512x512 bf16 forward fused tile 128x128x64", "--rows"}).out,
              {"Fusing matters", "65,536", "worst raster", "The raster matters"});
    const std::string tpu = ask({"explain", "tpu-v5e 512x512x512 f32 forward fused tile 128x256x512", "--rows"}).out;
    check_has(tpu, {"Fusing matters", "65,536"});
    CHECK_FALSE(has(tpu, "raster"));  // a TPU has none to choose
    check_refused({"explain", gpu, "--step", "none"}, cli::bad_input, {"none"});
    const Answer none = ask({"explain", "h100-sxm5 512x512x512 bf16 forward fused tile 512x512x512", "--timeline"});
    CHECK(none.exit == cli::does_not_fit);
    check_has(none.out, {"Does not fit"});
}

TEST_CASE("sweep --over ranks any of its words and shows two of them as a table") {
    const std::string e = "h200-sxm 4096x4096x4096 bf16 forward fused tile 128x256x64";
    const Answer a = ask({"sweep", e, "--over", "stages,raster"});
    CHECK(a.exit == cli::done);
    check_has(a.out,
              {"stages \\ raster", "grouped:8", "# the best, = a tie with it, - rejected.", "128x256x64 stages"});
    const Answer csv = ask({"sweep", e, "--over", "bm", "--csv"});
    CHECK(csv.out.starts_with("rank,tie,bm,bn,bk,"));
    CHECK(csv.out.find(",stages,raster\n") != std::string::npos);
    check_refused({"sweep", e, "--over", "bm,stags"}, cli::bad_input, {"stags", "did you mean stages"});
    check_refused({"sweep", e, "--over", "bm,bm"}, cli::bad_input, {"bm", "twice"});
    check_refused({"sweep", "tpu-v5e 512x512x512 f32 forward fused", "--over", "stages"}, cli::bad_input,
                  {"tpu-v5e", "stages"});
}
