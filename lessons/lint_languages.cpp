// Whether the two languages of a lesson say the same: scenes, questions and every number; the words are each its own.

#include <fmt/format.h>

#include <algorithm>

#include "lessons/lint.hpp"

namespace lessons {
namespace {

/// What the model fills into a step, sorted.
std::vector<std::string> numbers(const Step& s) {
    std::vector<std::string> out;
    const auto add = [&](const Spans& spans) {
        for (const Span& x : spans)
            if (x.kind == Span::live) out.push_back(x.expression.text() + "|" + x.format);
    };
    for (const Block& b : s.prose) {
        add(b.spans);
        for (const Spans& cell : b.cells) add(cell);
    }
    if (s.question)
        for (const Option& o : s.question->options) {
            add(o.text);
            add(o.because);
        }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace

std::vector<std::string> differences(const Lesson& en, const Lesson& zh) {
    std::vector<std::string> found;
    const auto differ = [&](int line, std::string_view what) {
        found.push_back(fmt::format("{}:{}: {} differs from {}", zh.file, line, what, en.file));
    };
    if (en.scene != zh.scene || en.also != zh.also || en.scenes != zh.scenes || en.minutes != zh.minutes ||
        en.needs != zh.needs || en.claim.model.text() != zh.claim.model.text() ||
        en.claim.measured.text() != zh.claim.measured.text())
        differ(1, "the head");
    if (en.steps.size() != zh.steps.size()) {
        differ(1, fmt::format("the number of steps ({}, {})", zh.steps.size(), en.steps.size()));
        return found;
    }
    for (std::size_t i = 0; i < en.steps.size(); ++i) {
        const Step &a = en.steps[i], &b = zh.steps[i];
        if (a.kind != b.kind) {
            differ(b.line, fmt::format("the kind of step {}", i + 1));
            continue;
        }
        if (a.scene != b.scene || a.baseline != b.baseline || a.hide != b.hide || a.show != b.show ||
            a.also != b.also || a.fault != b.fault)
            differ(b.line, "the settings of this step");
        if (numbers(a) != numbers(b)) differ(b.line, "what the model fills in here");
        if (a.question.has_value() != b.question.has_value()) {
            differ(b.line, "whether something is asked");
            continue;
        }
        if (!a.question) continue;
        const Question &p = *a.question, &q = *b.question;
        std::vector<std::string> codes[2];
        for (const Option& o : p.options) codes[0].push_back(o.code);
        for (const Option& o : q.options) codes[1].push_back(o.code);
        if (p.id != q.id || p.kind != q.kind || p.expect.text() != q.expect.text() || p.goal.text() != q.goal.text() ||
            p.may != q.may || p.tolerance != q.tolerance || p.unit != q.unit || p.figure != q.figure ||
            p.measured.text() != q.measured.text() || codes[0] != codes[1])
            differ(q.line, fmt::format("question {}", q.id));
    }
    return found;
}

}  // namespace lessons
