#pragma once
// Comma-separated text as RFC 4180 has it: quoted fields may hold commas, doubled quotes and line breaks.

#include <string>
#include <string_view>
#include <vector>

#include "sim/error.hpp"

namespace sim {

/// One record and the line (1-based) it begins on.
struct CsvRecord {
    int line = 0;
    std::vector<std::string> fields;
};

/// Reads all records; empty lines and a byte-order mark are skipped. Throws BadInput naming file and line on a quote
/// that is not closed or stands inside an unquoted field.
std::vector<CsvRecord> parse_csv(std::string_view text, std::string_view file_name);

/// One field, quoted where it must be.
std::string csv_field(std::string_view text);

/// Fields with commas between, and a line break.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace sim
