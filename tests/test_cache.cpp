// The exact cache against recorded LRU miss counts of a tiled matmul, and its sectors by hand.

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "sim/cache.hpp"
#include "sim/error.hpp"

using namespace sim;

namespace {

/// The access stream described in tests/data/README.md: C (m,n) += A (m,k) B (k,n), floats, tiles clipped.
struct Stream {
    i64 m, n, k, bm, bn, bk;
    std::string order, inner;

    template <class Access>
    void run(Access&& access) const {
        constexpr std::uint64_t base = 0x200000000;
        const auto page = [](std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; };
        const std::uint64_t a = base, b = page(a + static_cast<std::uint64_t>(m * k) * 4),
                            c = page(b + static_cast<std::uint64_t>(k * n) * 4);
        const auto at_a = [&](i64 i, i64 p) { return a + static_cast<std::uint64_t>(i * k + p) * 4; };
        const auto at_b = [&](i64 p, i64 j) { return b + static_cast<std::uint64_t>(p * n + j) * 4; };
        const auto at_c = [&](i64 i, i64 j) { return c + static_cast<std::uint64_t>(i * n + j) * 4; };
        const auto size = [&](char axis) { return axis == 'm' ? m : axis == 'n' ? n : k; };
        const auto tile = [&](char axis) { return axis == 'm' ? bm : axis == 'n' ? bn : bk; };
        i64 at[128] = {};
        for (at[+order[0]] = 0; at[+order[0]] < size(order[0]); at[+order[0]] += tile(order[0]))
            for (at[+order[1]] = 0; at[+order[1]] < size(order[1]); at[+order[1]] += tile(order[1]))
                for (at[+order[2]] = 0; at[+order[2]] < size(order[2]); at[+order[2]] += tile(order[2])) {
                    const i64 i1 = std::min(m, at['m'] + bm), j1 = std::min(n, at['n'] + bn),
                              p1 = std::min(k, at['k'] + bk);
                    for (i64 i = at['m']; i < i1; ++i)
                        if (inner == "ikj")
                            for (i64 p = at['k']; p < p1; ++p) {
                                access('a', at_a(i, p), false);
                                for (i64 j = at['n']; j < j1; ++j) {
                                    access('b', at_b(p, j), false);
                                    access('c', at_c(i, j), false);
                                    access('c', at_c(i, j), true);
                                }
                            }
                        else
                            for (i64 j = at['n']; j < j1; ++j) {
                                access('c', at_c(i, j), false);
                                for (i64 p = at['k']; p < p1; ++p) {
                                    access('a', at_a(i, p), false);
                                    access('b', at_b(p, j), false);
                                }
                                access('c', at_c(i, j), true);
                            }
                }
    }
};

std::vector<std::string> cells_of(std::string line, char by) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, by);) cells.push_back(cell);
    return cells;
}

}  // namespace

TEST_SUITE("slow") {
    TEST_CASE("LRU misses of a tiled matmul, to the unit") {
        std::ifstream in(std::string(MEMWALL_SOURCE_DIR) + "/tests/data/lru-misses.csv");
        REQUIRE(in.good());
        std::string line;
        std::getline(in, line);
        const auto head = cells_of(line, ',');
        // Cells of the recorded table that its own stream contradicts; tests/data/README.md says how each was found.
        const std::set<std::pair<std::string, std::string>> doubtful = {
            {"cg11", "lru_writebacks"}, {"cg12", "loads"}, {"cg19", "lru_writebacks"}, {"cg19", "lru_dirty_left"}};
        int rows = 0;
        while (std::getline(in, line)) {
            const auto cells = cells_of(line, ',');
            const auto text = [&](const char* column) {
                for (std::size_t i = 0; i < head.size(); ++i)
                    if (head[i] == column) return cells.at(i);
                FAIL("no column " << column);
                return std::string();
            };
            const auto number = [&](const char* column) { return std::stoll(text(column)); };
            const auto shape = cells_of(text("D1"), '/');
            const i64 line_bytes = std::stoll(shape[2]);
            Cache cache({std::stoll(shape[0]), std::stoll(shape[1]), line_bytes, line_bytes, false});
            i64 misses[128] = {}, loads = 0, stores = 0;
            const Stream stream{number("M"),  number("N"),  number("K"),   number("BM"),
                                number("BN"), number("BK"), text("order"), text("inner")};
            stream.run([&](char which, std::uint64_t address, bool write) {
                misses[+which] += cache.access(address, 4, write);
                ++(write ? stores : loads);
            });
            const auto check = [&](const char* column, i64 value) {
                CAPTURE(text("id"));
                CAPTURE(column);
                if (!doubtful.contains({text("id"), column})) CHECK(value == number(column));
            };
            check("loads", loads);
            check("stores", stores);
            check("lru_misses", cache.sector_misses());
            check("lru_misses_a", misses['a']);
            check("lru_misses_b", misses['b']);
            check("lru_misses_c", misses['c']);
            check("lru_writebacks", cache.sectors_written_back());
            check("lru_dirty_left", cache.dirty_sectors());
            ++rows;
        }
        CHECK(rows == 22);
    }
}

TEST_CASE("a line is filled sector by sector") {
    Cache cache({4 * 128, 2, 128, 32, false});
    CHECK(cache.access(0, 4, false) == 1);
    CHECK(cache.access(28, 8, false) == 1);   // crosses into the second sector
    CHECK(cache.access(0, 128, false) == 2);  // the other two
    CHECK(cache.access(0, 128, true) == 0);
    CHECK(cache.dirty_sectors() == 4);
    CHECK(cache.access(2 * 128, 1, false) == 1);  // same set, second way
    CHECK(cache.access(4 * 128, 1, false) == 1);  // drops the line of address 0
    CHECK(cache.sectors_written_back() == 4);
    CHECK(cache.access(0, 1, false) == 1);
}

TEST_CASE("write-through passes stores on and allocates nothing") {
    Cache cache({1024, 2, 128, 32, true});
    CHECK(cache.access(0, 64, true) == 0);
    CHECK(cache.sectors_written_back() == 2);
    CHECK(cache.access(0, 64, false) == 2);
    CHECK(cache.dirty_sectors() == 0);
}

TEST_CASE("a cache without whole sets is refused") {
    CHECK_THROWS_AS(Cache({1000, 2, 128, 32, false}), BadInput);
    CHECK_THROWS_AS(Cache({1024, 2, 128, 48, false}), BadInput);
    CHECK_THROWS_AS(Cache({1024, 0, 128, 32, false}), BadInput);
}
