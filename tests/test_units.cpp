#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "sim/text.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

using namespace sim;

namespace {
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("bytes are decimal with three significant digits, and whole below a kilobyte") {
    CHECK(format_bytes(0) == "0 B");
    CHECK(format_bytes(512) == "512 B");
    CHECK(format_bytes(999) == "999 B");
    CHECK(format_bytes(1000) == "1.00 kB");
    CHECK(format_bytes(268435456) == "268 MB");
    CHECK(format_bytes(17179869184) == "17.2 GB");
    CHECK(format_bytes(4.419e12) == "4.42 TB");
    CHECK(format_bytes(-2048) == "-2.05 kB");
}

TEST_CASE("a number that rounds up to the next unit is shown in it") {
    CHECK(format_bytes(999.4e6) == "999 MB");
    CHECK(format_bytes(999.6e6) == "1.00 GB");
    CHECK(format_us(999.4) == "999 µs");
    CHECK(format_us(999.96) == "1.00 ms");
    CHECK(format_flops(999.7e9) == "1 TFLOP/s");
}

TEST_CASE("on-chip capacity is binary and exact where it is whole") {
    CHECK(format_kib(0) == "0 B");
    CHECK(format_kib(1023) == "1023 B");
    CHECK(format_kib(1024) == "1 KiB");
    CHECK(format_kib(227 * 1024) == "227 KiB");
    CHECK(format_kib(1025 * 1024) == "1025 KiB");
    CHECK(format_kib(1536 * 1024) == "1.5 MiB");
    CHECK(format_kib(50 * 1024 * 1024) == "50 MiB");
    CHECK(format_kib(132644864) == "126.5 MiB");
    CHECK(format_kib(266547) == "260.3 KiB");
    CHECK(format_kib(6.0 * 1024 * 1024 * 1024) == "6 GiB");
}

TEST_CASE("times are µs below a millisecond, ms below a second") {
    CHECK(format_us(0) == "0 µs");
    CHECK(format_us(0.27) == "0.27 µs");
    CHECK(format_us(0.0156) == "15.6 ns");
    CHECK(format_us(0.0099) == "9.90 ns");
    CHECK(format_us(1.56e-5) == "15.6 ps");
    CHECK(format_us(1e306) == "1e+300 s");
    CHECK(format_us(0.0123) == "12.3 ns");
    CHECK(format_us(5) == "5.00 µs");
    CHECK(format_us(812) == "812 µs");
    CHECK(format_us(35013) == "35.0 ms");
    CHECK(format_us(2.5e6) == "2.50 s");
}

TEST_CASE("rates are short") {
    CHECK(format_flops(197e12) == "197 TFLOP/s");
    CHECK(format_flops(3.2e9) == "3.2 GFLOP/s");
    CHECK(format_flops(1.15e15) == "1.15 PFLOP/s");
    CHECK(format_bandwidth(819e9) == "819 GB/s");
    CHECK(format_bandwidth(3350e9) == "3.35 TB/s");
}

TEST_CASE("what is not known is never a number") {
    for (const double value : {nan_value, infinity, -infinity}) {
        CHECK(format_bytes(value) == "unknown");
        CHECK(format_kib(value) == "unknown");
        CHECK(format_us(value) == "unknown");
        CHECK(format_flops(value) == "unknown");
        CHECK(format_bandwidth(value) == "unknown");
    }
    for (const double value : {1e300, 1e-300, 5e-324, 1.7e308}) {
        CHECK(format_bytes(value).find("inf") == std::string::npos);
        CHECK(format_us(value).find("nan") == std::string::npos);
    }
}

TEST_CASE("integer helpers round up") {
    CHECK(ceil_div(0, 4) == 0);
    CHECK(ceil_div(4, 4) == 1);
    CHECK(ceil_div(5, 4) == 2);
    CHECK(round_up(5, 4) == 8);
    CHECK(round_up(8, 4) == 8);
}

TEST_CASE("words of a workload read back as what they name") {
    for (const Dtype t : {Dtype::f32, Dtype::tf32, Dtype::f16, Dtype::bf16, Dtype::e4m3}) {
        CHECK(parse_dtype(to_string(t)) == t);
    }
    for (const Pass p : {Pass::forward, Pass::dgrad, Pass::wgrad, Pass::train}) {
        CHECK(parse_pass(to_string(p)) == p);
    }
    for (const Fusion f : {Fusion::none, Fusion::unfused, Fusion::fused, Fusion::upstream}) {
        CHECK(parse_fusion(to_string(f)) == f);
    }
    CHECK(to_string(Residual::y) == "y");
    CHECK(to_string(Residual::mask) == "mask");
    CHECK_FALSE(parse_dtype("fp16"));
    CHECK_FALSE(parse_dtype("F32"));
    CHECK_FALSE(parse_pass("backward"));
    CHECK_FALSE(parse_fusion(""));
}

TEST_CASE("the extent of a pass is its own matmul's rows, columns and reduction") {
    const Dense d{.m = 2, .n = 3, .k = 5};
    CHECK(extent(d, Pass::forward) == Extent{2, 3, 5});
    CHECK(extent(d, Pass::dgrad) == Extent{2, 5, 3});
    CHECK(extent(d, Pass::wgrad) == Extent{5, 3, 2});
}

TEST_CASE("an offending text is shown on one line, cut at a character") {
    CHECK(quote("h300") == "\"h300\"");
    CHECK(quote("") == "\"\"");
    CHECK(quote("a\n\tb\x7f") == "\"a??b?\"");
    CHECK(quote(std::string(60, 'x')) == '"' + std::string(60, 'x') + '"');
    CHECK(quote(std::string(61, 'x')) == '"' + std::string(60, 'x') + "…\"");
    CHECK(quote(std::string(59, 'x') + "µm") == '"' + std::string(59, 'x') + "…\"");
}

TEST_CASE("the nearest words are those that contain the text, then those a few edits away") {
    const std::string_view words[] = {"forward", "dgrad", "wgrad", "train"};
    CHECK(nearest("grad", words) == std::vector<std::string_view>{"dgrad", "wgrad"});
    CHECK(nearest("forwrd", words) == std::vector<std::string_view>{"forward"});
    CHECK(nearest("xyzzy", words).empty());
    CHECK(nearest("", words).empty());
    CHECK(did_you_mean("trian", words) == "; did you mean train?");  // a swap is one edit
    CHECK(did_you_mean("trxxn", words).empty());                     // two edits in five letters are too many
    CHECK(listed(words) == "forward, dgrad, wgrad, train");
}
