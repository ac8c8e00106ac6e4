#include "sim/csv.hpp"

#include <fmt/format.h>

namespace sim {

std::vector<CsvRecord> parse_csv(std::string_view text, std::string_view file_name) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::vector<CsvRecord> records;
    CsvRecord record{1, {}};
    std::string field;
    int line = 1;
    bool quoted = false, was_quoted = false;
    const auto end_field = [&] {
        record.fields.push_back(std::move(field));
        field.clear();
        was_quoted = false;
    };
    const auto end_record = [&] {
        const bool blank = record.fields.empty() && field.empty() && !was_quoted;
        end_field();
        if (!blank) records.push_back(std::move(record));
        record = {line, {}};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') ++line;
        if (quoted) {
            if (c != '"') {
                field += c;
            } else if (i + 1 < text.size() && text[i + 1] == '"') {
                field += '"';
                ++i;
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            if (!field.empty() || was_quoted)
                throw BadInput(fmt::format(
                    "{}:{}: a quote inside a field: expected the whole field in quotes, quotes in it doubled",
                    file_name, line));
            quoted = was_quoted = true;
        } else if (c == ',') {
            end_field();
        } else if (c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n')) {
            if (c == '\r') {
                ++i;
                ++line;
            }
            end_record();
        } else {
            if (was_quoted)
                throw BadInput(fmt::format("{}:{}: text after a closing quote: expected a comma or the end of the line",
                                           file_name, line));
            field += c;
        }
    }
    if (quoted)
        throw BadInput(fmt::format("{}:{}: a quote that is not closed: expected \" before the end of the file",
                                   file_name, record.line));
    if (!record.fields.empty() || !field.empty() || was_quoted) end_record();
    return records;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
    std::string out = "\"";
    for (char c : text) {
        out += c;
        if (c == '"') out += '"';
    }
    return out + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string out;
    for (std::size_t i = 0; i < fields.size(); ++i) out += (i ? "," : "") + csv_field(fields[i]);
    return out + '\n';
}

}  // namespace sim
