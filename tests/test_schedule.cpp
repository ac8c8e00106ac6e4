// tile_at: a bijection for every raster, equal to the golden orders.

#include <doctest/doctest.h>

#include <set>

#include "sim/schedule.hpp"
#include "sim/tiling.hpp"
#include "tests/table.hpp"

using namespace sim;

namespace {

Raster raster_of(const std::string& name) {
    if (name == "along_n") return {Raster::along_n, 0};
    if (name == "along_m") return {Raster::along_m, 0};
    if (name == "hilbert") return {Raster::hilbert, 0};
    return {Raster::grouped, std::stoi(name.substr(8))};
}

}  // namespace

TEST_CASE("rasters number tiles as the golden table does") {
    for (const auto& row : tables::read("orders.tsv")) {
        const TileIndex t = tile_at(raster_of(row.at("raster")), std::stoll(row.at("tm")), std::stoll(row.at("tn")),
                                    std::stoll(row.at("index")));
        CAPTURE(row.at("raster"));
        CAPTURE(row.at("index"));
        REQUIRE(t.row == std::stoll(row.at("row")));
        REQUIRE(t.col == std::stoll(row.at("col")));
    }
}

TEST_CASE("every raster visits every tile once") {
    for (const char* name : {"along_n", "along_m", "grouped:1", "grouped:3", "grouped:8", "grouped:100", "hilbert"})
        for (long long tm = 1; tm <= 13; ++tm)
            for (long long tn = 1; tn <= 13; ++tn) {
                std::set<std::pair<long long, long long>> seen;
                for (long long i = 0; i < tm * tn; ++i) {
                    const TileIndex t = tile_at(raster_of(name), tm, tn, i);
                    REQUIRE(t.row >= 0);
                    REQUIRE(t.row < tm);
                    REQUIRE(t.col >= 0);
                    REQUIRE(t.col < tn);
                    seen.insert({t.row, t.col});
                }
                REQUIRE(static_cast<long long>(seen.size()) == tm * tn);
            }
}

TEST_CASE("hilbert steps to a neighbour, at worst diagonally") {
    for (long long tm = 1; tm <= 17; ++tm)
        for (long long tn = 1; tn <= 17; ++tn)
            for (long long i = 1; i < tm * tn; ++i) {
                const TileIndex a = tile_at({Raster::hilbert, 0}, tm, tn, i - 1),
                                b = tile_at({Raster::hilbert, 0}, tm, tn, i);
                REQUIRE(std::max(detail::magnitude(a.row - b.row), detail::magnitude(a.col - b.col)) == 1);
            }
}
