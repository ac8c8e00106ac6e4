#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <tuple>

#include "sim/device.hpp"
#include "sim/embedded.hpp"

using namespace sim;

namespace {

/// A whole small device file; the tests below break it one place at a time.
const std::string good = R"(id = "toy"
name = "A toy"
kind = "tpu"
year = 2020
sm_count = { value = 2, unit = "TensorCore", kind = "spec", source = "s" }

[clock]
boost = { value = 1.5, unit = "GHz", kind = "spec", source = "s" }

[dram]
display = "HBM"
bandwidth_spec = { value = 819, unit = "GB/s", kind = "spec", source = "s" }
bandwidth = { value = 0.8, unit = "TB/s", kind = "measured", source = "somebody" }

[sram]
bytes_per_sm = { value = 128, unit = "MiB", kind = "spec", source = "s" }
bytes_per_cta = { value = 16, unit = "MiB", kind = "assumed", source = "the default" }

[peak]
f32 = { value = 197, unit = "TFLOP/s", kind = "spec", source = "s" }

[overhead]
dispatch = { value = 0.11, unit = "ms", kind = "assumed", source = "s" }
step = { value = 270, unit = "ns", kind = "assumed", source = "s" }
operand_load = { value = 0.77, unit = "ps/element", kind = "assumed", source = "s" }

[mxu]
dim = { value = 128, unit = "lane", kind = "spec", source = "s" }
count = { value = 4, unit = "MXU", kind = "spec", source = "s" }
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// The error that reading `text` gives, or "" where it is read.
std::string error_of(const std::string& text) {
    try {
        parse_device(text, "toy.toml");
        return "";
    } catch (const BadInput& e) {
        return e.what();
    }
}

bool same(const Quantity& a, const Quantity& b) {
    return a.value == b.value && a.kind == b.kind && a.source == b.source;
}

void check_same(const Device& a, const Device& b) {
    CHECK(a.id == b.id);
    CHECK(a.name == b.name);
    CHECK(a.kind == b.kind);
    CHECK(a.arch == b.arch);
    CHECK(a.note == b.note);
    CHECK(a.year == b.year);
    CHECK(a.compute_capability == b.compute_capability);
    CHECK(a.dram.display == b.dram.display);
    CHECK(a.l2.display == b.l2.display);
    CHECK(a.l1.display == b.l1.display);
    CHECK(a.sram.display == b.sram.display);
    const auto of_a = constants(a), of_b = constants(b);
    REQUIRE(of_a.size() == of_b.size());
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        CAPTURE(of_a[i].key);
        CHECK(of_a[i].key == of_b[i].key);
        CHECK(same(of_a[i].quantity, of_b[i].quantity));
    }
}

struct TemporaryFolder {
    std::filesystem::path path;
    TemporaryFolder() {
        path = std::filesystem::temp_directory_path() / ("memwall-devices-" + std::to_string(std::random_device{}()));
        std::filesystem::create_directory(path);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
};

}  // namespace

TEST_CASE("a device file is read into the units of the members") {
    const Device d = parse_device(good, "toy.toml");
    CHECK(d.id == "toy");
    CHECK(d.kind == DeviceKind::tpu);
    CHECK(d.year == 2020);
    CHECK(d.sm_count.value == 2);
    CHECK(d.clock.boost.value == 1.5e9);
    CHECK(d.dram.display == "HBM");
    CHECK(d.l2.display == "L2");
    CHECK(d.dram.bandwidth_spec.value == 819e9);
    CHECK(d.dram.bandwidth.value == 0.8e12);
    CHECK(d.dram.bandwidth.kind == Evidence::measured);
    CHECK(d.dram.bandwidth.source == "somebody");
    CHECK(d.sram.bytes_per_cta.value == 16.0 * 1024 * 1024);
    CHECK(d.overhead.dispatch.value == doctest::Approx(0.11e-3));
    CHECK(d.overhead.step.value == doctest::Approx(0.27e-6));
    CHECK(d.overhead.operand_load.value == doctest::Approx(0.77e-12));
    CHECK(d.peak.at(Dtype::f32).value == 197e12);
}

TEST_CASE("what a file leaves out is unknown, never zero") {
    const Device d = parse_device(good, "toy.toml");
    CHECK_FALSE(d.dram.latency.known());
    CHECK_FALSE(d.energy.tdp.known());
    CHECK(d.energy.tdp.or_else(3) == 3);
    CHECK(d.clock.boost.or_else(3) == 1.5e9);
}

TEST_CASE("tf32 has the peak of f32 where it has none of its own, and an unknown dtype has none") {
    const Device d = parse_device(good, "toy.toml");
    CHECK(d.peak_flops(Dtype::f32) == 197e12);
    CHECK(d.peak_flops(Dtype::tf32) == 197e12);
    CHECK(std::isnan(d.peak_flops(Dtype::e4m3)));
    const Device& a100 = Catalogue::builtin().at("a100-sxm4-80gb");
    CHECK(a100.peak_flops(Dtype::tf32) == 156e12);
    CHECK(std::isnan(a100.peak_flops(Dtype::e4m3)));
}

TEST_CASE("each fault of a device file is one line that names the place, the text and what was expected") {
    struct Fault {
        std::string from, to, line, says;
    };
    const std::string step = R"(step = { value = 270, unit = "ns", kind = "assumed", source = "s" })";
    const Fault faults[] = {
        {R"(, unit = "GB/s")", "", "12", "dram.bandwidth_spec has no unit; expected TB/s, GB/s, MB/s, B/s"},
        {R"("GB/s")", R"("GB")", "12", R"(dram.bandwidth_spec.unit is "GB"; expected TB/s, GB/s, MB/s, B/s)"},
        {R"("GB/s")", R"("gb/s")", "12", R"(dram.bandwidth_spec.unit is "gb/s")"},
        {R"("GB/s")", "7", "12", "dram.bandwidth_spec.unit is not a text"},
        {"value = 819, ", "", "12", "dram.bandwidth_spec has no value; expected a number"},
        {"value = 819", R"(value = "819")", "12", "dram.bandwidth_spec.value is not a number"},
        {"value = 819", "value = nan", "12", "dram.bandwidth_spec.value is nan; expected a finite number"},
        {"value = 819", "value = inf", "12", "dram.bandwidth_spec.value is inf; expected a finite number"},
        {"value = 819", "value = -inf", "12", "expected a finite number"},
        {"value = 819", "value = -819", "12", "dram.bandwidth_spec is -819 GB/s; expected 1e+07 to 1e+15 B/s"},
        {"value = 819", "value = 0", "12", "dram.bandwidth_spec is 0 GB/s; expected"},
        {"value = 819", "value = 819e9", "12", "dram.bandwidth_spec is 819000000000 GB/s; expected"},
        {R"(, source = "somebody")", "", "13", "dram.bandwidth has no source; expected where the number is from"},
        {R"("somebody")", R"("")", "13", "dram.bandwidth.source is empty"},
        {R"("somebody")", R"("a\nb")", "13", R"(dram.bandwidth.source is "a?b"; expected no control characters)"},
        {R"("somebody")", '"' + std::string(301, 's') + '"', "13", "dram.bandwidth.source has 301 bytes"},
        {R"(kind = "measured", )", "", "13", "dram.bandwidth has no kind; expected spec, measured, assumed"},
        {R"("measured")", R"("guessed")", "13",
         R"(dram.bandwidth.kind is "guessed"; expected spec, measured, assumed)"},
        {R"(source = "somebody")", R"(source = "x", note = "y")", "13", R"(dram.bandwidth has "note")"},
        {R"(unit = "TB/s")", R"(units = "TB/s")", "13",
         R"(has "units"; expected value, unit, kind and source; did you)"},
        {"bandwidth_spec =", "bandwith_spec =", "12", R"("dram.bandwith_spec" is not a key of a tpu file; did you)"},
        {"[overhead]", "[overheads]", "22", R"("overheads" is not a key of a tpu file; did you mean overhead?)"},
        {"year = 2020", "yaer = 2020", "4", R"("yaer" is not a key of a tpu file; did you mean year?)"},
        {"[mxu]", "[l2]\n" + replaced(step, "step", "drift") + "\n[mxu]", "28", R"("l2.drift" is not a key of a tpu)"},
        {"bandwidth_spec = {", "bandwidth_spec = 819 #", "12", "dram.bandwidth_spec is not a table; expected { value"},
        {"[peak]", "[[peak]]", "19", R"("[[peak]]" is not a section; expected [section] or key =)"},
        {"[peak]", "[ ]", "19", R"("[ ]" is not a section)"},
        {"year = 2020", "year = 2020\nmxu = 7", "28", "not TOML: "},
        {"f32 =", "fp32 =", "20", R"("peak.fp32" is not a dtype; expected f32, tf32, f16, bf16, e4m3)"},
        {"f32 = {", "f32 = 197 #", "20", "peak.f32 is not a table"},
        {R"("toy")", R"("Toy 1")", "1", R"(id is "Toy 1"; expected lower-case letters, digits and '-')"},
        {R"("toy")", R"("")", "1", "id is empty"},
        {R"("toy")", "7", "1", "id is not a text"},
        {R"("A toy")", '"' + std::string(61, 'x') + '"', "2", "name has 61 bytes; expected at most 60"},
        {R"("HBM")", R"("HBM\u0007")", "11", R"(dram.display is "HBM?"; expected no control characters)"},
        {R"("HBM")", R"("a much too long name")", "11", "dram.display has 20 bytes; expected at most 16"},
        {R"("tpu")", R"("npu")", "3", R"(kind is "npu"; expected gpu, tpu, cpu, scratchpad)"},
        {"2020", "20", "4", "year is not one; expected a whole number from 1950 to 2100"},
        {"2020", "2020.5", "4", "year is not one"},
        {"[dram]", "[dram", "10", "not TOML: "},
        {"[clock]", "energy = 7\n[clock]", "7", "energy is not a section; expected [energy]"},
        {R"("HBM")", R"("HBM)", "11", R"(has a text that does not end on its line; expected)"},
        {"[dram]", "[a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r]", "10", "nested too deep"},
        {"value = 819", "value = [819]", "12",
         "is not a section; expected [section] or key = { value, unit, kind, source }"},
        {"value = 819", "value = {a = {b = 819}}", "12", "is nested too deep"},
        {"value = 819", "µ = 819", "12", "has a character that is not ASCII outside of a text"},
        {R"("A toy")", "\"A t\xffy\"", "2", "not TOML: "},
    };
    for (const Fault& f : faults) {
        CAPTURE(f.to);
        const std::string error = error_of(replaced(good, f.from, f.to));
        CAPTURE(error);
        CHECK(error.starts_with("toy.toml:" + f.line + ": "));
        CHECK(error.find(f.says) != std::string::npos);
        CHECK(error.find('\n') == std::string::npos);
    }
}

TEST_CASE("what each kind of device must say is asked for, by name") {
    for (const EmbeddedFile& file : embedded_devices()) {
        if (file.name != "scratchpad.toml" && file.name != "h200-sxm.toml") {
            continue;
        }
        const Device whole = parse_device(file.text, file.name);
        std::size_t required = 0;
        for (const Constant& left_out : constants(whole)) {
            Device d = whole;
            for (const Constant& c : constants(d)) {
                if (c.key == left_out.key) {
                    const_cast<Quantity&>(c.quantity) = {};
                }
            }
            const std::string error = error_of(to_toml(d));
            CAPTURE(left_out.key);
            CHECK((error.empty() || error == "toy.toml: " + left_out.key + " is missing; a " +
                                                 std::string(to_string(d.kind)) + " must say it"));
            required += !error.empty();
        }
        CHECK(required == (whole.kind == DeviceKind::gpu ? 25 : 4));
    }
    CHECK(error_of(replaced(good, "id = \"toy\"\n", "")) == "toy.toml: id is missing; a tpu must say it");
    CHECK(error_of(replaced(good, "name = \"A toy\"\n", "")) == "toy.toml: name is missing; a tpu must say it");
    CHECK(error_of(replaced(good, "year = 2020\n", "")) == "toy.toml: year is missing; a tpu must say it");
    CHECK(error_of(replaced(good, "kind = \"tpu\"\n", "")) ==
          "toy.toml: kind is missing; expected gpu, tpu, cpu, scratchpad");
    CHECK(error_of("") == "toy.toml: kind is missing; expected gpu, tpu, cpu, scratchpad");
}

TEST_CASE("zero is a number only where nothing is a fact") {
    CHECK(error_of(replaced(good, "value = 0.11", "value = 0")).empty());  // a call may cost nothing
    CHECK_FALSE(error_of(replaced(good, "value = 128, unit = \"MiB\"", "value = 0, unit = \"MiB\"")).empty());
}

TEST_CASE("both edges of a plausible range are inside it") {
    const auto clock = [](const std::string& value) {
        return error_of(replaced(good, R"(value = 1.5, unit = "GHz")", "value = " + value + R"(, unit = "MHz")"));
    };
    CHECK(clock("10").empty());
    CHECK_FALSE(clock("9.99").empty());
    CHECK(clock("10000").empty());
    CHECK_FALSE(clock("10001").empty());
}

TEST_CASE("no bytes crash the reader: a damaged file is read or refused in one line") {
    std::mt19937 random(7);
    const std::string seeds[] = {good, std::string(embedded_devices().front().text)};
    const char spice[] = "\"'[]{}=.,#\n\\\0\xff\xc3nan-+e0";
    for (int i = 0; i < 4000; ++i) {
        std::string text = seeds[random() % 2];
        for (int edits = 1 + random() % 4; edits > 0; --edits) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = spice[random() % sizeof spice]; break;
                case 1: text.insert(at, 1 + random() % 3, spice[random() % sizeof spice]); break;
                case 2: text.erase(at, 1 + random() % 20); break;
                case 3: text.insert(at, text.substr(random() % text.size(), random() % 80)); break;
            }
            if (text.empty()) {
                text = "x";
            }
        }
        const std::string error = error_of(text);
        REQUIRE(error.find('\n') == std::string::npos);
        REQUIRE(error.size() < 1000);
    }
    CHECK(error_of(std::string(70000, '#')) == "toy.toml: 70000 bytes; a device file has at most 65536");
}

TEST_CASE("a hostile nesting is refused before it can exhaust the stack") {
    std::string dots = "a", arrays = "a = ";
    for (int i = 0; i < 20000; ++i) {
        dots += ".a";
        arrays += '[';
    }
    CHECK(error_of("[" + dots + "]").find("nested too deep") != std::string::npos);
    CHECK(error_of("'\"' = 1\n" + dots + " = 1").find("nested too deep") != std::string::npos);
    CHECK(error_of(arrays).find("is not a section") != std::string::npos);
}

TEST_CASE("the text of a device reads back as the device") {
    for (const Device* d : Catalogue::builtin().all()) {
        CAPTURE(d->id);
        check_same(parse_device(to_toml(*d), d->id + ".toml"), *d);
    }
    check_same(parse_device(to_toml(parse_device(good, "toy.toml")), "toy.toml"), parse_device(good, "toy.toml"));
}

TEST_CASE("any double and any printable source survive being written and read") {
    Device d = parse_device(good, "toy.toml");
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> exponent(8, 14);
    d.dram.bandwidth.source = R"(a "quoted" \ path, 100 % of "it"; µs)";
    for (int i = 0; i < 2000; ++i) {
        d.dram.bandwidth.value = std::pow(10.0, exponent(random));
        d.overhead.step.value = 1 / d.dram.bandwidth.value;
        const Device back = parse_device(to_toml(d), "toy.toml");
        REQUIRE(same(back.dram.bandwidth, d.dram.bandwidth));
        REQUIRE(same(back.overhead.step, d.overhead.step));
    }
}

TEST_CASE("a device is written in units one can read") {
    const std::string text = to_toml(Catalogue::builtin().at("a100-sxm4-40gb"));
    CHECK(text.find(R"(bandwidth_spec = { value = 1555, unit = "GB/s", kind = "spec")") != text.npos);
    CHECK(text.find(R"(bytes = { value = 40, unit = "MiB", kind = "spec")") != text.npos);
    CHECK(text.find(R"(latency = { value = 390, unit = "ns", kind = "measured")") != text.npos);
    CHECK(text.find(R"(sm_count = { value = 108, unit = "SM")") != text.npos);
    CHECK(to_toml(Catalogue::builtin().at("tpu-v4")).find(R"(value = 2, unit = "TensorCore")") != text.npos);
}

TEST_CASE("the compiled-in devices: every published one, each under its own name, by kind, year and id") {
    const auto all = Catalogue::builtin().all();
    CHECK(all.size() == 29);
    CHECK(all.size() == embedded_devices().size());
    for (const Device* d : all) {
        CAPTURE(d->id);
        CHECK(Catalogue::builtin().find(d->id) == d);
        CHECK_FALSE(d->note.empty());
    }
    for (const char* id : {"t4",
                           "v100-sxm2-32gb",
                           "a100-sxm4-40gb",
                           "a100-sxm4-80gb",
                           "rtx-a6000",
                           "rtx-3090",
                           "rtx-4090",
                           "rtx-5090",
                           "l4",
                           "l40s",
                           "h100-pcie",
                           "h100-sxm5",
                           "h200-sxm",
                           "b200-sxm",
                           "mi300x",
                           "tpu-v4",
                           "tpu-v5e",
                           "tpu-v5p",
                           "tpu-v6e",
                           "tpu-v7x",
                           "rtx-4070-ti-super",
                           "l20",
                           "h800-sxm",
                           "gh200-96gb",
                           "gh200-141gb",
                           "h200-nvl",
                           "b300-sxm",
                           "gb200-sxm",
                           "scratchpad"}) {
        CAPTURE(id);
        CHECK(Catalogue::builtin().find(id) != nullptr);
    }
    CHECK(std::is_sorted(all.begin(), all.end(), [](const Device* a, const Device* b) {
        return std::tie(a->kind, a->year, a->id) < std::tie(b->kind, b->year, b->id);
    }));
    CHECK(all.back()->id == "scratchpad");
}

TEST_CASE("the limits of each compute capability are those of the vendor's occupancy calculator") {
    struct Limits {
        const char* id;
        double threads, warps, ctas, smem_kib, opt_in_kib, reserved, unit;
    };
    for (const Limits& l :
         {Limits{"v100-sxm2-32gb", 2048, 64, 32, 96, 96, 0, 256}, Limits{"t4", 1024, 32, 16, 64, 64, 0, 256},
          Limits{"a100-sxm4-80gb", 2048, 64, 32, 164, 163, 1024, 128},
          Limits{"rtx-a6000", 1536, 48, 16, 100, 99, 1024, 128}, Limits{"l40s", 1536, 48, 24, 100, 99, 1024, 128},
          Limits{"h100-sxm5", 2048, 64, 32, 228, 227, 1024, 128}, Limits{"b200-sxm", 2048, 64, 32, 228, 227, 1024, 128},
          Limits{"rtx-5090", 1536, 48, 24, 100, 99, 1024, 128}}) {
        const Device& d = Catalogue::builtin().at(l.id);
        CAPTURE(d.id);
        CHECK(d.per_sm.threads.value == l.threads);
        CHECK(d.per_sm.warps.value == l.warps);
        CHECK(d.per_sm.ctas.value == l.ctas);
        CHECK(d.sram.bytes_per_sm.value == l.smem_kib * 1024);
        CHECK(d.sram.bytes_per_cta.value == l.opt_in_kib * 1024);
        CHECK(d.sram.reserved_per_cta.value == l.reserved);
        CHECK(d.sram.allocation_unit.value == l.unit);
        CHECK(d.registers.bytes_per_sm.value == 256 * 1024);
    }
}

TEST_CASE("a part with two L2 partitions has half of it for what all SMs read") {
    for (const char* id : {"a100-sxm4-40gb", "h100-sxm5", "h200-sxm"}) {
        const Device& d = Catalogue::builtin().at(id);
        CHECK(d.l2.effective_bytes.value * 2 == d.l2.bytes.value);
        CHECK(d.l2.effective_bytes.kind == Evidence::assumed);
    }
    const Device& ada = Catalogue::builtin().at("rtx-4090");
    CHECK(ada.l2.effective_bytes.value == ada.l2.bytes.value);
}

TEST_CASE("a tpu's numbers are one TensorCore's share of the chip") {
    const Device& v5e = Catalogue::builtin().at("tpu-v5e");
    CHECK(v5e.sm_count.value == 1);
    CHECK(v5e.peak_flops(Dtype::bf16) == 197e12);
    CHECK(v5e.peak_flops(Dtype::f32) == 197e12);  // at default precision: one bf16 pass
    CHECK(v5e.dram.bandwidth.value == 819e9);
    CHECK(v5e.sram.bytes_per_cta.value == 16.0 * 1024 * 1024);
    const Device& v7x = Catalogue::builtin().at("tpu-v7x");
    CHECK(v7x.sm_count.value == 2);
    CHECK(2 * v7x.peak_flops(Dtype::bf16) == 2307e12);
    CHECK(2 * v7x.dram.bandwidth_spec.value == 7380e9);
}

TEST_CASE("an unknown device is refused with the ids it was probably meant to be") {
    const Catalogue& all = Catalogue::builtin();
    CHECK(all.find("h200") == nullptr);
    CHECK_THROWS_WITH_AS(all.at("h200-smx"), "no device \"h200-smx\"; did you mean h200-sxm?", BadInput);
    CHECK_THROWS_WITH_AS(all.at("a100"), "no device \"a100\"; did you mean a100-sxm4-40gb, a100-sxm4-80gb?", BadInput);
    CHECK_THROWS_WITH_AS(all.at("abacus"), "no device \"abacus\"; `memwall devices` lists them", BadInput);
    CHECK_THROWS_WITH_AS(all.at("a\nb"), "no device \"a?b\"; `memwall devices` lists them", BadInput);
}

TEST_CASE("a folder adds its devices and may replace one that is compiled in") {
    const TemporaryFolder folder;
    folder.write("toy.toml", good);
    folder.write("mine.toml", replaced(replaced(good, "\"toy\"", "\"tpu-v5e\""), "A toy", "My v5e"));
    folder.write("readme.txt", "not a device");
    Catalogue all = Catalogue::builtin();
    all.add_folder(folder.path.string());
    CHECK(all.all().size() == Catalogue::builtin().all().size() + 1);
    CHECK(all.at("toy").name == "A toy");
    CHECK(all.at("tpu-v5e").name == "My v5e");
    CHECK(Catalogue::builtin().at("tpu-v5e").name == "Google TPU v5e");
}

TEST_CASE("a bad file in a folder names itself and leaves the catalogue as it was") {
    const TemporaryFolder folder;
    folder.write("a.toml", good);
    folder.write("b.toml", "kind = \"npu\"\n");
    Catalogue all;
    CHECK_THROWS_WITH_AS(all.add_folder(folder.path.string()), doctest::Contains("b.toml:1: kind is \"npu\""),
                         BadInput);
    CHECK(all.all().empty());
    folder.write("b.toml", good);
    CHECK_THROWS_WITH_AS(all.add_folder(folder.path.string()), doctest::Contains("id \"toy\" is already that of"),
                         BadInput);
    CHECK(all.all().empty());
    CHECK_THROWS_WITH_AS(all.add_folder((folder.path / "none").string()), doctest::Contains("cannot read the folder"),
                         BadInput);
}

TEST_CASE("a compute capability is a number with one decimal") {
    const std::string text = to_toml(Catalogue::builtin().at("t4"));
    const std::size_t at = text.find("\"7.5\"");
    REQUIRE(at != std::string::npos);
    const auto with = [&](const std::string& said) { return std::string(text).replace(at, 5, "\"" + said + "\""); };
    for (const char* good : {"7.5", "9.0", "10.3"}) CHECK_NOTHROW(parse_device(with(good), "t4.toml"));
    for (const char* bad : {"source", "1e309", "9", "9.", ".5", "9.10", "100.0", "9.0a"}) {
        CAPTURE(bad);
        CHECK_THROWS_WITH_AS(parse_device(with(bad), "t4.toml"), doctest::Contains("compute_capability"), BadInput);
    }
}
