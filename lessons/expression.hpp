#pragma once
// The little language in which lessons ask the model: quantities of a scene, changed by words in brackets, and
// arithmetic with units. `dram[tile 128x128x16] / dram`, `time[@plain] < time`, `need <= 48KiB and fits`.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/value.hpp"

namespace lessons {

/// What a name is worth, with the words in brackets after it ("" where there are none). Throws BadInput.
using Lookup = std::function<Value(std::string_view name, std::string_view edit)>;

class Expression {
public:
    Expression() = default;
    /// Reads one; BadInput names the place and what was expected there.
    static Expression parse(std::string_view text);

    /// Its value; BadInput where units or kinds do not go together, or a name is unknown.
    Value evaluate(const Lookup& lookup) const;
    const std::string& text() const { return text_; }
    bool empty() const { return !root_; }

    /// A name as it stands in the text.
    struct Name {
        std::string name, edit;
    };
    /// Every name, in order.
    std::vector<Name> names() const;
    /// The terms of a chain of `and`: the expression itself where there is none.
    std::vector<Expression> conditions() const;

    /// How the parts of an expression are put for a reader.
    struct Wording {
        std::function<std::string(const Name&)> name;         ///< a quantity
        std::function<std::string(const std::string&)> word;  ///< of "math"
        std::function<std::string(std::string_view sign, const std::string&, const std::string&)> compared;
    };
    /// The expression in words, numbers with their units apart; what is no arithmetic or comparison as it is written.
    std::string worded(const Wording& wording) const;

    struct Node;

private:
    std::string text_;
    std::shared_ptr<const Node> root_;
};

}  // namespace lessons
