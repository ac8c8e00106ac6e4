// The README's tables of results are what the commands print that it names.

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "cli/accuracy.hpp"
#include "sim/validate.hpp"

TEST_SUITE("slow") {
    TEST_CASE("the README shows the accuracy that validate prints; ./lab readme writes it") {
        std::ifstream in(MEMWALL_SOURCE_DIR "/README.md");
        std::stringstream whole;
        whole << in.rdbuf();
        const std::string text = whole.str();
        const std::string begin = "<!-- memwall validate kernels/measured/published.csv --markdown -->\n";
        const std::size_t from = text.find(begin), to = text.find("<!-- end -->", from);
        REQUIRE(from != std::string::npos);
        REQUIRE(to != std::string::npos);
        const std::size_t first = from + begin.size();
        const sim::MeasurementFile rows = sim::read_measurements(MEMWALL_SOURCE_DIR "/kernels/measured/published.csv");
        const auto trials = sim::trials_of(rows, sim::Catalogue::builtin());
        CHECK(text.substr(first, to - first) == cli::accuracy_markdown(trials, sim::validate(trials)));
    }
}
