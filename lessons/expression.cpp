#include "lessons/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/error.hpp"
#include "sim/text.hpp"

namespace lessons {

struct Expression::Node {
    enum Kind {
        constant,
        name,
        negate,
        invert,
        arithmetic,
        comparison,
        conjunction,
        disjunction,
        call
    } kind = constant;
    Value value;                     ///< constant
    std::string word, edit;          ///< name and its brackets; function; operator of arithmetic
    std::vector<std::string> signs;  ///< comparison: one between each two parts
    std::vector<std::shared_ptr<const Node>> parts;
    std::string text;  ///< as written
};

namespace {

using Node = Expression::Node;
using Part = std::shared_ptr<const Node>;

struct Function {
    std::string_view name;
    std::size_t least, most;
    double (*of)(const std::vector<double>&);
    bool keeps_unit;  ///< of arguments of one unit; else of plain numbers
};
const Function functions[] = {
    {"min", 2, 9, [](const auto& a) { return *std::min_element(a.begin(), a.end()); }, true},
    {"max", 2, 9, [](const auto& a) { return *std::max_element(a.begin(), a.end()); }, true},
    {"abs", 1, 1, [](const auto& a) { return std::fabs(a[0]); }, true},
    {"ceil", 1, 1, [](const auto& a) { return std::ceil(a[0]); }, false},
    {"floor", 1, 1, [](const auto& a) { return std::floor(a[0]); }, false},
    {"round", 1, 1, [](const auto& a) { return std::round(a[0]); }, false},
    {"sqrt", 1, 1, [](const auto& a) { return std::sqrt(a[0]); }, false},
    {"log2", 1, 1, [](const auto& a) { return std::log2(a[0]); }, false},
};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Part whole() {
        Part root = any();
        space();
        if (at_ < text_.size()) expected("an operator or the end");
        return root;
    }

private:
    [[noreturn]] void expected(std::string_view what) const {
        throw sim::BadInput(fmt::format("{} at {}: expected {}", sim::quote(text_),
                                        at_ < text_.size() ? sim::quote(text_.substr(at_, 12)) : "its end", what));
    }
    void space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }
    static bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
    bool take(std::string_view sign) {
        space();
        if (!text_.substr(at_).starts_with(sign)) return false;
        const char after = at_ + sign.size() < text_.size() ? text_[at_ + sign.size()] : ' ';
        if (letter(sign.back()) && letter(after)) return false;  // "or" of "order"
        at_ += sign.size();
        return true;
    }
    Part node(Node n, std::size_t from) const {
        std::size_t begin = from;
        while (begin < at_ && text_[begin] == ' ') ++begin;
        n.text = std::string(text_.substr(begin, at_ - begin));
        return std::make_shared<const Node>(std::move(n));
    }
    Part chain(Node::Kind kind, std::string_view word, Part (Parser::*next)()) {
        const std::size_t from = at_;
        std::vector<Part> parts = {(this->*next)()};
        while (take(word)) parts.push_back((this->*next)());
        if (parts.size() == 1) return parts[0];
        Node n;
        n.kind = kind;
        n.parts = std::move(parts);
        return node(std::move(n), from);
    }
    Part any() { return chain(Node::disjunction, "or", &Parser::all); }
    Part all() { return chain(Node::conjunction, "and", &Parser::inverse); }
    Part inverse() {
        const std::size_t from = at_;
        if (!take("not")) return compared();
        Node n;
        n.kind = Node::invert;
        n.parts = {inverse()};
        return node(std::move(n), from);
    }
    Part compared() {
        const std::size_t from = at_;
        Node n;
        n.kind = Node::comparison;
        n.parts = {sum()};
        for (bool more = true; more;) {
            more = false;
            for (const std::string_view sign : {"<=", ">=", "==", "!=", "<", ">"})
                if (take(sign)) {
                    n.signs.emplace_back(sign);
                    n.parts.push_back(sum());
                    more = true;
                    break;
                }
        }
        return n.signs.empty() ? n.parts[0] : node(std::move(n), from);
    }
    Part binary(std::initializer_list<std::string_view> signs, Part (Parser::*next)()) {
        const std::size_t from = at_;
        Part left = (this->*next)();
        for (bool more = true; more;) {
            more = false;
            for (const std::string_view sign : signs)
                if (take(sign)) {
                    Node n;
                    n.kind = Node::arithmetic;
                    n.word = sign;
                    n.parts = {left, (this->*next)()};
                    left = node(std::move(n), from);
                    more = true;
                    break;
                }
        }
        return left;
    }
    Part sum() { return binary({"+", "-"}, &Parser::product); }
    Part product() { return binary({"*", "/"}, &Parser::factor); }
    Part factor() {
        const std::size_t from = at_;
        if (take("-")) {
            Node n;
            n.kind = Node::negate;
            n.parts = {factor()};
            return node(std::move(n), from);
        }
        if (take("(")) {
            Part inside = any();
            if (!take(")")) expected("a closing )");
            return inside;
        }
        space();
        if (at_ >= text_.size()) expected("a number, a quantity, \"a word\" or (");
        const char c = text_[at_];
        if (c == '"') return word();
        if (std::isdigit(static_cast<unsigned char>(c))) return constant();
        if (std::isalpha(static_cast<unsigned char>(c))) return name();
        expected("a number, a quantity, \"a word\" or (");
    }
    Part word() {
        const std::size_t from = at_++, end = text_.find('"', at_);
        if (end == text_.npos) expected("a closing \"");
        Node n;
        n.value.is = std::string(text_.substr(at_, end - at_));
        at_ = end + 1;
        return node(std::move(n), from);
    }
    Part constant() {
        const std::size_t from = at_;
        double value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc()) expected("a number");
        at_ = static_cast<std::size_t>(end - text_.data());
        // The longest unit that stands right after it ("GB/s" before "GB", "ms" before "m").
        std::size_t length = 0;
        Node n;
        n.value.is = value;
        for (std::size_t l = 1; l <= 8 && at_ + l <= text_.size(); ++l) {
            const Value* unit = find_unit(text_.substr(at_, l));
            const char after = at_ + l < text_.size() ? text_[at_ + l] : ' ';
            if (!unit || (std::isalpha(static_cast<unsigned char>(text_[at_ + l - 1])) && letter(after))) continue;
            length = l;
            n.value = {value * std::get<double>(unit->is), unit->unit};
        }
        at_ += length;
        if (at_ < text_.size() && letter(text_[at_])) expected("a unit such as MB, KiB, ms, TFLOP/s or %");
        return node(std::move(n), from);
    }
    Part name() {
        const std::size_t from = at_;
        Node n;
        n.kind = Node::name;
        while (at_ < text_.size() && letter(text_[at_])) n.word += text_[at_++];
        if (n.word == "true" || n.word == "false") {
            n.kind = Node::constant;
            n.value.is = n.word == "true";
        } else if (take("(")) {
            const auto f = std::find_if(std::begin(functions), std::end(functions),
                                        [&](const Function& row) { return row.name == n.word; });
            if (f == std::end(functions)) {
                at_ = from;
                expected("a function: min max abs ceil floor round sqrt log2");
            }
            n.kind = Node::call;
            do n.parts.push_back(any());
            while (take(","));
            if (!take(")")) expected("a closing )");
            if (n.parts.size() < f->least || n.parts.size() > f->most)
                expected(fmt::format("{} to {} arguments of {}", f->least, f->most, f->name));
        } else if (at_ < text_.size() && text_[at_] == '[') {
            const std::size_t end = text_.find(']', ++at_);
            if (end == text_.npos) expected("a closing ]");
            n.edit = std::string(text_.substr(at_, end - at_));
            at_ = end + 1;
        }
        return node(std::move(n), from);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void same_unit(const Value& a, const Value& b, std::string_view text) {
    if (!(a.unit == b.unit))
        throw sim::BadInput(
            fmt::format("{}: {} and {} have different units", sim::quote(text), to_text(a), to_text(b)));
}

bool compare(const Value& a, std::string_view sign, const Value& b, std::string_view text) {
    if (a.is_number() && b.is_number()) {
        same_unit(a, b, text);
        const double x = a.number(), y = b.number();
        return sign == "<"    ? x < y
               : sign == ">"  ? x > y
               : sign == "<=" ? x <= y
               : sign == ">=" ? x >= y
               : sign == "==" ? x == y
                              : x != y;
    }
    if (a.is.index() != b.is.index() || (sign != "==" && sign != "!="))
        throw sim::BadInput(
            fmt::format("{}: {} and {} cannot be compared so", sim::quote(text), to_text(a), to_text(b)));
    return (a.is == b.is) == (sign == "==");
}

Value evaluate(const Node& n, const Lookup& lookup) {
    const auto part = [&](std::size_t i) { return evaluate(*n.parts[i], lookup); };
    switch (n.kind) {
        case Node::constant: return n.value;
        case Node::name: return lookup(n.word, n.edit);
        case Node::negate: {
            Value v = part(0);
            v.is = -v.number();
            return v;
        }
        case Node::invert: return {!part(0).truth(), plain};
        case Node::arithmetic: {
            const Value a = part(0), b = part(1);
            const double x = a.number(), y = b.number();
            if (n.word == "+" || n.word == "-") {
                same_unit(a, b, n.text);
                return {n.word == "+" ? x + y : x - y, a.unit};
            }
            const int sign = n.word == "*" ? 1 : -1;
            const Unit unit{a.unit.bytes + sign * b.unit.bytes, a.unit.seconds + sign * b.unit.seconds,
                            a.unit.flops + sign * b.unit.flops};
            if (sign < 0 && y == 0) throw sim::BadInput(fmt::format("{} divides by 0", sim::quote(n.text)));
            return {sign > 0 ? x * y : x / y, unit};
        }
        case Node::comparison:
            for (std::size_t i = 0; i < n.signs.size(); ++i)
                if (!compare(part(i), n.signs[i], part(i + 1), n.text)) return {false, plain};
            return {true, plain};
        case Node::conjunction:
            for (std::size_t i = 0; i < n.parts.size(); ++i)
                if (!part(i).truth()) return {false, plain};
            return {true, plain};
        case Node::disjunction:
            for (std::size_t i = 0; i < n.parts.size(); ++i)
                if (part(i).truth()) return {true, plain};
            return {false, plain};
        case Node::call: {
            const auto f = std::find_if(std::begin(functions), std::end(functions),
                                        [&](const Function& row) { return row.name == n.word; });
            std::vector<double> arguments;
            Unit unit;
            for (std::size_t i = 0; i < n.parts.size(); ++i) {
                const Value v = part(i);
                if (i && !(v.unit == unit)) same_unit(v, {arguments[0], unit}, n.text);
                unit = v.unit;
                arguments.push_back(v.number());
            }
            if (!f->keeps_unit && !(unit == plain))
                throw sim::BadInput(fmt::format("{}: expected a number without a unit", sim::quote(n.text)));
            return {f->of(arguments), unit};
        }
    }
    return {};
}

void collect(const Node& n, std::vector<Expression::Name>& out) {
    if (n.kind == Node::name) out.push_back({n.word, n.edit});
    for (const Part& p : n.parts) collect(*p, out);
}

/// "8ms" as it is read: "8 ms".
std::string number_apart(const std::string& text) {
    const std::size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string name = text.substr(unit);
    if (name.empty() || name == "x") return text;
    return text.substr(0, unit) + ' ' + (name == "us" ? "µs" : name);
}

std::string worded(const Node& n, const Expression::Wording& w) {
    const auto part = [&](std::size_t i) { return worded(*n.parts[i], w); };
    switch (n.kind) {
        case Node::constant:
            if (const std::string* word = std::get_if<std::string>(&n.value.is)) return w.word(*word);
            return n.value.is_number() ? number_apart(n.text) : n.text;
        case Node::name: return w.name({n.word, n.edit});
        case Node::arithmetic: {
            const auto sum = [](const Node& p) {
                return p.kind == Node::arithmetic && (p.word == "+" || p.word == "-");
            };
            if (!sum(n) && (sum(*n.parts[0]) || sum(*n.parts[1]))) return n.text;  // it would need its brackets
            return fmt::format("{} {} {}", part(0), n.word == "*" ? "×" : n.word, part(1));
        }
        case Node::comparison: return n.parts.size() == 2 ? w.compared(n.signs[0], part(0), part(1)) : n.text;
        default: return n.text;
    }
}

}  // namespace

Expression Expression::parse(std::string_view text) {
    constexpr std::size_t longest = 1000;  // what is nested deeper than the stack is no expression of a lesson
    if (text.size() > longest)
        throw sim::BadInput(fmt::format("{}: expected at most {} characters", sim::quote(text), longest));
    Expression e;
    e.text_ = std::string(text);
    e.root_ = Parser(e.text_).whole();
    return e;
}

Value Expression::evaluate(const Lookup& lookup) const {
    if (!root_) throw sim::BadInput("an empty expression has no value");
    return lessons::evaluate(*root_, lookup);
}

std::vector<Expression::Name> Expression::names() const {
    std::vector<Name> out;
    if (root_) collect(*root_, out);
    return out;
}

std::string Expression::worded(const Wording& wording) const {
    return root_ ? lessons::worded(*root_, wording) : std::string();
}

std::vector<Expression> Expression::conditions() const {
    if (!root_ || root_->kind != Node::conjunction) return {*this};
    std::vector<Expression> out;
    for (const Part& p : root_->parts) {
        Expression e;
        e.text_ = p->text;
        e.root_ = p;
        out.push_back(std::move(e));
    }
    return out;
}

}  // namespace lessons
