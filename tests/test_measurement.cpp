// Files of measurements: what is read, what is refused and how it is said, and that appending loses nothing.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "sim/csv.hpp"
#include "sim/measurement.hpp"
#include "tests/random_experiment.hpp"

using namespace sim;

namespace {

const std::string head = "id,device,dtype,m,n,k,engine,bm,bn,bk,time_us\n";

std::string refusal(std::string_view csv) {
    try {
        parse_measurements(csv, "f.csv");
    } catch (const BadInput& bad) {
        return bad.what();
    }
    return "accepted";
}

std::string file_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of this test that goes with it.
struct Folder {
    std::string path =
        (std::filesystem::temp_directory_path() / ("memwall-test-" + std::to_string(std::random_device{}()))).string();
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

Experiment experiment_of_row(const std::string& columns, const std::string& cells) {
    const MeasurementFile f = parse_measurements(columns + "\n" + cells + "\n", "f.csv");
    REQUIRE(f.rows.size() == 1);
    std::string why;
    const auto e = experiment_of(f.rows[0], tests::catalogue(), why);
    REQUIRE_MESSAGE(e.has_value(), why);
    return *e;
}

}  // namespace

TEST_CASE("quoted fields hold commas, quotes and line breaks, and survive a round trip") {
    const std::vector<std::string> fields = {"plain", "a,b", "say \"x\"", "two\nlines", "", "café"};
    const auto records = parse_csv(csv_line(fields), "f.csv");
    REQUIRE(records.size() == 1);
    CHECK(records[0].fields == fields);
    const auto both = parse_csv(
        "\xEF\xBB\xBF"
        "a,\"b\r\nc\"\r\n\r\nd,e",
        "f.csv");
    REQUIRE(both.size() == 2);
    CHECK(both[0].fields == std::vector<std::string>{"a", "b\r\nc"});
    CHECK(both[1].line == 4);
    CHECK(both[1].fields == std::vector<std::string>{"d", "e"});
    CHECK(parse_csv("\"\"\n", "f.csv").size() == 1);
}

TEST_CASE("a row is read by column name, and unknown columns are kept") {
    const MeasurementFile f = parse_measurements(head + "a,h100-sxm5,bf16,64,32,16,wgmma,128,256,64,1.5e2\n", "f.csv");
    REQUIRE(f.rows.size() == 1);
    const Measurement& r = f.rows[0];
    CHECK(r.line == 2);
    CHECK(r.m == 64);
    CHECK(r.n == 32);
    CHECK(r.k == 16);
    CHECK(r.engine == Engine::wgmma);
    CHECK(r.bm == 128);
    CHECK(r.time_us == 150.0);
    CHECK_FALSE(r.stages.has_value());
    CHECK(r.has_tile());
    const MeasurementFile g =
        parse_measurements("weather,device,m,n,k,time_us,traits\nwet,t4,1,2,3,4,spills thread_tile=8x4\n", "f.csv");
    CHECK(g.rows[0].cells.at("weather") == "wet");
    CHECK(g.rows[0].traits.at("spills") == "1");
    CHECK(g.rows[0].traits.at("thread_tile") == "8x4");
    CHECK_FALSE(g.rows[0].has_tile());
}

TEST_CASE("bad rows are refused with file, line, column, what was found and what was expected") {
    CHECK(refusal("") == "f.csv:1: the file is empty: expected the head of a measurements file");
    CHECK(refusal("a,b\n1,2\n") ==
          "f.csv:1: no column device: expected the head of a measurements file (device, m, n, k, time_us, …)");
    CHECK(refusal("device,m,n,k\n") == "f.csv:1: no column time_us or dram_bytes: expected at least one of them");
    CHECK(refusal("device,m,n,k,time_us,m\n") == "f.csv:1: column \"m\": expected each column once");
    CHECK(refusal(head + "a,t4,f32,1,1\n") == "f.csv:2: 5 fields: expected 11 as in the head");
    CHECK(refusal(head + "a,t4,f32,0,1,1,simt,,,,1\n") ==
          "f.csv:2: m \"0\": expected a whole number from 1 to 2147483647");
    CHECK(refusal(head + "a,t4,f32,2147483648,1,1,simt,,,,1\n") ==
          "f.csv:2: m \"2147483648\": expected a whole number from 1 to 2147483647");
    CHECK(refusal(head + "a,t4,f32,2147483647,1,1,simt,,,,1\n") == "accepted");
    CHECK(refusal(head + "a,t4,f32,1,1,1,simt,,,,1\nb,t4,f33,1,1,1,simt,,,,1\n") ==
          "f.csv:3: dtype \"f33\": expected one of f32, tf32, f16, bf16, e4m3");
    CHECK(refusal(head + "a,t4,f32,1,1,1,gpu,,,,1\n") ==
          "f.csv:2: engine \"gpu\": expected one of simt, mma, wgmma, tcgen05, mxu, cpu");
    for (const char* time : {"nan", "inf", "-1", "0", "1e99", "12 us", "0x10"}) {
        CAPTURE(time);
        CHECK(refusal(head + "a,t4,f32,1,1,1,simt,,,," + time + "\n").starts_with("f.csv:2: time_us "));
    }
    CHECK(refusal(head + "a,t4,f32,1,1,1,simt,,,,\n") ==
          "f.csv:2: time_us (and dram_bytes) is empty: every row needs it");
    CHECK(refusal(head + "a,,f32,1,1,1,simt,,,,1\n") == "f.csv:2: device is empty: every row needs it");
    CHECK(refusal(head + "a,t4,f32,1,1,1,simt,128,,,1\n") ==
          "f.csv:2: bn is empty beside bm 128: expected both, or neither for a kernel whose tile is not known");
    CHECK(refusal(head + "a,t4,f32,1,1,1,simt,,64,8,1\n").starts_with("f.csv:2: bm is empty beside bn 64"));
    CHECK(refusal(head + "\"a,t4\n").starts_with("f.csv:2: a quote that is not closed"));
    CHECK(refusal(head + "a\"b,t4,f32,1,1,1,simt,,,,1\n").starts_with("f.csv:2: a quote inside a field"));
    CHECK(refusal(head + "\"a\"b,t4,f32,1,1,1,simt,,,,1\n").starts_with("f.csv:2: text after a closing quote"));
    CHECK_THROWS_WITH_AS(read_measurements("no/such.csv"),
                         "\"no/such.csv\": no such file: expected a CSV of measurements", BadInput);
}

TEST_CASE("damaged files end in an error of one line or are read, never otherwise") {
    const std::string good = file_text(MEMWALL_SOURCE_DIR "/kernels/measured/published.csv").substr(0, 6000);
    REQUIRE(good.size() == 6000);
    std::mt19937 random(7);
    const auto any = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string bad = good.substr(0, static_cast<std::size_t>(any(6000)));
        for (int j = any(6); j >= 0 && !bad.empty(); --j) {
            const auto at = static_cast<std::size_t>(any(static_cast<int>(bad.size()) - 1));
            if (any(2))
                bad[at] = static_cast<char>(any(255));
            else
                bad.insert(at, std::string(static_cast<std::size_t>(any(3)), ",\"\n\r"[any(3)]));
        }
        const std::string why = refusal(bad);
        refused += why != "accepted";
        CHECK(why.find('\n') == std::string::npos);
    }
    CHECK(refused > 1000);
}

TEST_CASE("appending creates a file with its head, then adds rows and columns and keeps what was there") {
    const Folder folder;
    const std::string path = folder.path + "/rows.csv";
    append_measurements(
        path, {{{"device", "t4"}, {"m", "8"}, {"n", "8"}, {"k", "8"}, {"time_us", "2.5"}, {"note", "a, \"b\""}}});
    MeasurementFile f = read_measurements(path);
    CHECK(f.columns == recorded_columns());
    REQUIRE(f.rows.size() == 1);
    CHECK(f.rows[0].note == "a, \"b\"");
    append_measurements(
        path, {{{"device", "v100-sxm2-32gb"}, {"m", "9"}, {"n", "9"}, {"k", "9"}, {"time_us", "3"}, {"fan", "fast"}}});
    f = read_measurements(path);
    REQUIRE(f.rows.size() == 2);
    CHECK(f.columns.back() == "fan");
    CHECK(f.rows[0].note == "a, \"b\"");
    CHECK(f.rows[0].cells.at("fan").empty());
    CHECK(f.rows[1].cells.at("fan") == "fast");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);  // no draft stays behind
    CHECK(recorded_columns()[28] == "note");
    CHECK(recorded_columns().back() == "git");
}

TEST_CASE("what is no measurements file is not appended to, and a bad row not written") {
    const Folder folder;
    const std::string path = folder.path + "/letter.txt";
    std::ofstream(path) << "Dear all,\n";
    const std::map<std::string, std::string> good = {
        {"device", "t4"}, {"m", "8"}, {"n", "8"}, {"k", "8"}, {"time_us", "2.5"}};
    CHECK_THROWS_AS(append_measurements(path, {good}), BadInput);
    CHECK(file_text(path) == "Dear all,\n");
    const std::string rows = folder.path + "/rows.csv";
    append_measurements(rows, {good});
    const std::string before = file_text(rows);
    auto bad = good;
    bad["time_us"] = "fast";
    CHECK_THROWS_AS(append_measurements(rows, {good, bad}), BadInput);
    CHECK(file_text(rows) == before);
    CHECK_THROWS_AS(append_measurements(folder.path + "/none/rows.csv", {good}), BadInput);
}

TEST_CASE("a row becomes the experiment it ran") {
    const std::string columns =
        "device,pass,dtype,m,n,k,engine,pipeline,bm,bn,bk,stages,threads,raster,persistent,epilogue,time_us,traits";
    const Experiment best =
        experiment_of_row(columns,
                          "h100-sxm5,forward,bf16,4096,4096,4096,wgmma,warp_specialized,128,256,64,3,384,grouped:16,1,"
                          "none,180,order=hilbert cluster=2 async_store ctas=128");
    CHECK(best.tile == Tile{128, 256, 64});
    CHECK(best.warps == 12);
    CHECK(best.stages == 3);
    CHECK(best.schedule.kind == Schedule::persistent);
    CHECK(best.raster == Raster{Raster::hilbert, 0});
    CHECK(best.cluster == Shape2{2, 1});
    CHECK(best.sms == 128);
    CHECK(best.fusion == Fusion::none);
    CHECK(best.traits == std::map<std::string, std::string>{{"async_store", "1"}});

    const Experiment simt = experiment_of_row(
        columns,
        "rtx-a6000,forward,f32,4096,4096,4096,simt,none,128,128,8,1,256,along_n,0,none,8605,thread_tile=8x4 vector=1");
    CHECK(simt.thread == Shape2{8, 4});
    CHECK(simt.traits.at("vector") == "1");
    CHECK(experiment_of_row(columns,
                            "rtx-a6000,forward,f32,4096,4096,4096,simt,none,128,128,8,1,128,along_n,0,none,8605,")
              .thread == Shape2{8, 16});

    const Experiment relu = experiment_of_row(
        columns,
        "tpu-v5e,forward,f32,8192,8192,8192,mxu,pallas,128,128,8192,1,,along_n,0,relu,35013,dispatch=1 order=ij_fullk");
    CHECK(relu.fusion == Fusion::fused);
    CHECK(relu.order == Order::mnk);
    CHECK(relu.traits.empty());  // a call seen by the host is the usual
    CHECK(experiment_of_row(columns, "tpu-v7x,forward,bf16,1024,1024,1024,mxu,,,,,,,unknown,,none,6.65,tile-less")
              .traits.at("dispatch") == "0");

    const Experiment extra = experiment_of_row(
        columns, "b200-sxm,forward,e4m3,256,7168,7168,tcgen05,,,,,,,unknown,,none,23.8,tile-less extra_pass=bias");
    CHECK(extra.fusion == Fusion::unfused);
    CHECK(extra.tile.is_best());
    CHECK(extra.dense.out == Dtype::bf16);
    const Experiment bias =
        experiment_of_row(columns, "b200-sxm,forward,e4m3,256,7168,7168,tcgen05,,,,,,,unknown,,bias,19.4,tile-less");
    CHECK(bias.fusion == Fusion::fused);
    CHECK(bias.dense.bias);
    CHECK(
        experiment_of_row(columns, "tpu-v7x,forward,f32,4096,4096,4096,mxu,,,,,,,unknown,,none,937,tile-less passes=6")
            .precision == Precision::highest);
}

TEST_CASE("words of a row that change nothing are named") {
    const std::string columns = "device,dtype,acc,m,n,k,engine,bm,bn,bk,raster,epilogue,time_us,traits\n";
    const auto unread = [&](const std::string& cells) {
        const MeasurementFile f = parse_measurements(columns + cells + "\n", "f.csv");
        std::string why;
        const auto e = experiment_of(f.rows[0], tests::catalogue(), why);
        REQUIRE_MESSAGE(e, why);
        return unread_words(f.rows[0], *e);
    };
    const std::string shape = "4096,4096,4096,mma,128,128,32,", row = "a100-sxm4-40gb,bf16,";
    CHECK(unread(row + "f32," + shape + "grouped:8,bias_relu,500,swizzle=0 inputs=easy").empty());
    CHECK(unread(row + "," + shape + "unknown,none,500,tile-less").empty());
    CHECK(unread(row + "f16," + shape + "zigzag,gelu,500,swizzle=2 colour=red") ==
          std::vector<std::string>{"trait colour=red", "trait swizzle=2", "raster zigzag", "epilogue gelu", "acc f16"});
}

TEST_CASE("a ring whose depth is not known is as deep as it fits") {
    const std::string columns = "device,dtype,m,n,k,engine,pipeline,bm,bn,bk,stages,time_us";
    CHECK(experiment_of_row(columns, "h100-sxm5,bf16,4096,4096,4096,wgmma,warp_specialized,128,256,64,,180").stages ==
          4);
    CHECK(experiment_of_row(columns, "h100-sxm5,bf16,4096,4096,4096,wgmma,warp_specialized,128,128,64,,180").stages ==
          6);
    CHECK(experiment_of_row(columns, "h100-sxm5,bf16,4096,4096,4096,wgmma,warp_specialized,128,128,64,3,180").stages ==
          3);
    CHECK(experiment_of_row(columns, "h100-sxm5,bf16,4096,4096,4096,mma,multistage,128,128,64,,180").stages == 3);
}

TEST_CASE("a recorded row's own experiment is what it ran, and what cannot be said is not guessed") {
    CHECK(experiment_of_row("device,m,n,k,time_us,experiment",
                            "cpu,1,1,1,5,scratchpad 64x64x64 f32 forward none tile 8x8x8")
              .device == "scratchpad");
    const auto why_not = [](const std::string& columns, const std::string& cells) {
        const MeasurementFile f = parse_measurements(columns + "\n" + cells + "\n", "f.csv");
        std::string why;
        CHECK_FALSE(experiment_of(f.rows[0], tests::catalogue(), why).has_value());
        return why;
    };
    CHECK(why_not("device,m,n,k,time_us", "abacus,1,1,1,5") == "no device \"abacus\"");
    CHECK(why_not("device,m,n,k,time_us,engine", "t4,1,1,1,5,mxu") == "engine mxu is not one of a gpu");
    CHECK(
        why_not("device,m,n,k,time_us,experiment", "t4,1,1,1,5,t4 1x1").starts_with("its experiment cannot be read: "));
    CHECK(why_not("device,m,n,k,batch,time_us", "t4,2147483647,2147483647,2147483647,9,5").find("2^63") !=
          std::string::npos);
}
