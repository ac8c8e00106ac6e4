#pragma once
// A tab-separated golden table with a header line.

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tables {

using Row = std::map<std::string, std::string>;

/// Every row of tests/golden/NAME by column; fails the test where the file is missing or a row is short.
inline std::vector<Row> read(const std::string& name) {
    std::ifstream in(std::string(MEMWALL_SOURCE_DIR) + "/tests/golden/" + name);
    REQUIRE_MESSAGE(in.good(), "tests/golden/" << name);
    const auto split = [](const std::string& line) {
        std::vector<std::string> cells;
        std::stringstream stream(line);
        for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
        return cells;
    };
    std::string line;
    std::getline(in, line);
    const auto head = split(line);
    std::vector<Row> rows;
    while (std::getline(in, line)) {
        const auto cells = split(line);
        REQUIRE(cells.size() == head.size());
        Row row;
        for (std::size_t i = 0; i < head.size(); ++i) row[head[i]] = cells[i];
        rows.push_back(row);
    }
    REQUIRE(!rows.empty());
    return rows;
}

}  // namespace tables
