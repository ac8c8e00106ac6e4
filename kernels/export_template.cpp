#include "kernels/export_template.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace kernels {
namespace {

const std::string& value_of(const Values& values, std::string_view name) {
    const auto at = values.find(name);
    if (at == values.end()) throw std::logic_error("a template asks for " + std::string(name) + ", which has no value");
    return at->second;
}

std::string fill_line(std::string_view line, const Values& values) {
    std::string out;
    while (!line.empty()) {
        const std::size_t open = line.find('@');
        const std::size_t close = open == std::string_view::npos ? open : line.find('@', open + 1);
        const std::string_view name =
            close == std::string_view::npos ? std::string_view() : line.substr(open + 1, close - open - 1);
        const bool hole = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
            return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
        if (!hole) {  // Python's decorators and matrix products are no holes
            const std::size_t end = open == std::string_view::npos ? line.size() : open + 1;
            out += line.substr(0, end);
            line.remove_prefix(end);
            continue;
        }
        out += line.substr(0, open);
        out += value_of(values, name);
        line.remove_prefix(close + 1);
    }
    return out;
}

}  // namespace

std::string fill_template(std::string_view text, const Values& values) {
    std::string out;
    std::vector<bool> open;  // of the %if around a line, whether it stays
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.starts_with("%if ")) {
            std::string_view name = line.substr(4);
            const bool negated = name.starts_with("not ");
            if (negated) name.remove_prefix(4);
            open.push_back(value_of(values, name).empty() == negated);
        } else if (line == "%end") {
            if (open.empty()) throw std::logic_error("a template has an %end without its %if");
            open.pop_back();
        } else if (std::find(open.begin(), open.end(), false) == open.end()) {
            out += fill_line(line, values) + '\n';
        }
    }
    if (!open.empty()) throw std::logic_error("a template has an %if without its %end");
    return out;
}

}  // namespace kernels
