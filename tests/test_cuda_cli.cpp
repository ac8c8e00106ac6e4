// The verbs of the CUDA ladder: kernels --arch and export.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli.hpp"
#include "tests/skips.hpp"

namespace {

struct Answer {
    int code = 0;
    std::string out, err;
};

Answer ask(const std::vector<std::string>& words) {
    std::ostringstream out, err;
    const int code = cli::main(words, out, err);
    return {code, out.str(), err.str()};
}

}  // namespace

TEST_SUITE("slow") {
    TEST_CASE("cuda cli: kernels --arch lists every GPU rung with its resources, or why it has none") {
        SKIP_WITHOUT(skips::Need::nvrtc);
        const Answer a = ask({"kernels", "--arch", "sm_90a", "--json"});
        REQUIRE(a.code == 0);
        const auto rows = nlohmann::json::parse(a.out);
        REQUIRE(rows.size() == 10);
        for (const auto& row : rows) {
            const std::string rung = row.at("rung");
            CAPTURE(rung);
            if (rung == "10_tcgen05") {
                CHECK(!row.at("available").at("ok").get<bool>());
                CHECK(row.at("available").at("why") == "rung 10_tcgen05 needs compute capability 10.0; this is 9.0");
                for (const char* key : {"tile", "registers", "smem_bytes", "spill_bytes", "compile_ms"})
                    CHECK(row.at(key).is_null());
                continue;
            }
            CHECK_MESSAGE(row.at("available").at("ok").get<bool>(), row.at("available").at("why"));
            CHECK(row.at("tile").get<std::string>().find('x') != std::string::npos);
            CHECK(row.at("registers").get<int>() > 10);
            CHECK(row.at("registers").get<int>() <= 255);
            CHECK(row.at("spill_bytes") == 0);
            CHECK(row.at("compile_ms").get<double>() > 0);
            CHECK((row.at("smem_bytes").get<int>() > 0) == (rung >= "03"));
        }
        const Answer table = ask({"kernels", "--arch", "sm_80"});
        CHECK(table.code == 0);
        CHECK(table.out.find("rung 09_tma_wgmma needs compute capability 9.0") != std::string::npos);
        const Answer unknown = ask({"kernels", "--arch", "sm_12"});
        CHECK(unknown.code == 2);
        CHECK(unknown.err.find("does not compile for \"sm_12\"; it knows sm_") != std::string::npos);
    }
}

TEST_CASE("cuda cli: kernels lists CPU and GPU rungs, and says why those of a GPU do not run here") {
    const Answer a = ask({"kernels", "--json"});
    REQUIRE(a.code == 0);
    int gpu = 0;
    for (const auto& row : nlohmann::json::parse(a.out)) {
        if (row.at("engine") == "cpu") continue;
        ++gpu;
        CHECK(row.at("arch_min").get<std::string>().starts_with("sm_"));
        const bool here = row.at("available").at("ok").get<bool>();
        CHECK(row.at("available").at("why").get<std::string>().empty() == here);
        CHECK(!row.contains("registers"));
    }
    CHECK(gpu == 10);
    CHECK(ask({"kernels"}).out.find("09_tma_wgmma") != std::string::npos);
}

TEST_CASE("cuda cli: export prints source, and refuses in one line") {
    const std::string layer = "tpu-v5e 1000x700x600 f32 forward fused tile 128x128x256";
    const Answer pallas = ask({"export", layer, "--as", "pallas"});
    CHECK(pallas.code == 0);
    CHECK(pallas.out.starts_with("\"\"\"" + layer));
    CHECK(pallas.err.empty());
    CHECK(ask({"export", layer, "--as", "pallas", "--bench"}).out.find("COLUMNS") != std::string::npos);
    const Answer best = ask({"export", "h200-sxm 4096x4096x4096 bf16 forward fused tile best", "--as", "cuda"});
    CHECK_MESSAGE(best.code == 0, best.err);
    const auto refused = [](const std::vector<std::string>& words, int code, const std::string& part) {
        const Answer a = ask(words);
        CHECK(a.code == code);
        CHECK(a.out.empty());
        CHECK(std::count(a.err.begin(), a.err.end(), '\n') == 1);
        CHECK_MESSAGE(a.err.find(part) != std::string::npos, a.err);
    };
    refused({"export", layer}, 2, "export needs --as");
    refused({"export", layer, "--as", "cobol"}, 2, "--as \"cobol\" is no language");
    refused({"export", layer, "--as", "triton"}, 3, "tpu-v5e is a tpu; Triton is for GPUs");
}

TEST_CASE("cuda cli: a prediction takes its occupancy from the compiler's registers, and says so") {
    SKIP_WITHOUT(skips::Need::nvrtc);
    const std::string e = "rtx-a6000 4096x4096x4096 f32 forward fused tile 128x128x8 rung 04_register_tile";
    const Answer a = ask({"predict", e, "--compiled"});
    CHECK(a.code == 0);
    CHECK(a.out.find("registers a thread, so ") != std::string::npos);
    CHECK(a.out.find(" ctas ") != std::string::npos);
    CHECK(ask({"predict", "tpu-v5e 512x512x512 bf16 forward fused", "--compiled"}).code == 2);
}
