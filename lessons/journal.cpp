#include "lessons/journal.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

namespace lessons {
namespace fs = std::filesystem;

namespace {

bool is_bare(const std::string& text) {
    return text == "true" || text == "false" ||
           (!text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos);
}

void quoted(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
            out += c;
        }
    }
    out += '"';
}

void skip(std::string_view& s) { s.remove_prefix(std::min(s.find_first_not_of(" \t\r"), s.size())); }

bool take(std::string_view& s, char c) {
    skip(s);
    if (!s.starts_with(c)) return false;
    s.remove_prefix(1);
    return true;
}

bool text(std::string_view& s, std::string& out) {
    if (!take(s, '"')) return false;
    out.clear();
    while (!s.empty() && s[0] != '"') {
        if (s[0] == '\\') {
            if (s.size() < 2) return false;
            if (s[1] == 'u' && s.size() >= 6) {
                out += static_cast<char>(std::strtol(std::string(s.substr(2, 4)).c_str(), nullptr, 16));
                s.remove_prefix(6);
                continue;
            }
            s.remove_prefix(1);
        }
        out += s[0];
        s.remove_prefix(1);
    }
    return take(s, '"');
}

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

int number(const Record& r, const char* name) {
    const auto at = r.find(name);
    return at == r.end() ? -1 : std::atoi(at->second.c_str());
}
std::string word(const Record& r, const char* name) {
    const auto at = r.find(name);
    return at == r.end() ? std::string() : at->second;
}

}  // namespace

std::string to_json(const Record& record) {
    std::string out = "{";
    for (const auto& [name, value] : record) {
        if (out.size() > 1) out += ", ";
        quoted(out, name);
        out += ": ";
        if (is_bare(value)) {
            out += value;
        } else {
            quoted(out, value);
        }
    }
    return out + "}";
}

bool from_json(std::string_view line, Record& record) {
    record.clear();
    if (!take(line, '{')) return false;
    std::string name, value;
    do {
        if (!text(line, name) || !take(line, ':')) return false;
        skip(line);
        if (line.starts_with('"')) {
            if (!text(line, value)) return false;
        } else {
            const std::size_t end = std::min(line.find_first_of(",} "), line.size());
            value = std::string(line.substr(0, end));
            line.remove_prefix(end);
        }
        record[name] = value;
    } while (take(line, ','));
    if (!take(line, '}')) return false;
    skip(line);
    return line.empty();
}

fs::path state_folder() {
    if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state) return fs::path(state) / "memwall";
    if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".local/state/memwall";
    return {};
}

Journal::Journal(fs::path file) : file_(std::move(file)) {
    std::ifstream in(file_, std::ios::binary);
    Record record;
    for (std::string line; in && std::getline(in, line);)
        if (from_json(line, record)) records_.push_back(record);
}

std::string Journal::append(std::vector<Record> records) {
    if (records.empty()) return {};
    std::string lines;
    for (Record& r : records) {
        r["time"] = now();
        lines += to_json(r) + '\n';
        records_.push_back(std::move(r));
    }
    if (file_.empty()) return {};
    std::error_code error;
    fs::create_directories(file_.parent_path(), error);
    std::ofstream out(file_, std::ios::binary | std::ios::app);
    out << lines << std::flush;
    return out ? std::string() : "progress could not be written to " + file_.string();
}

std::string Journal::note(const Lesson& lesson, const LessonState& before, const LessonState& after) {
    std::vector<Record> records;
    const auto event = [&](const char* what, int step) {
        Record r{{"event", what}, {"lesson", lesson.id}, {"lang", std::string(to_string(lesson.language))}};
        r["step"] = std::to_string(step + 1);
        return r;
    };
    for (std::size_t i = 0; i < after.steps.size() && i < lesson.steps.size(); ++i) {
        const StepState& now_ = after.steps[i];
        const StepState was = i < before.steps.size() ? before.steps[i] : StepState{};
        if (!lesson.steps[i].question) continue;
        for (std::size_t a = was.given.size(); a < now_.given.size(); ++a) {
            Record r = event("answer", static_cast<int>(i));
            r["question"] = lesson.steps[i].question->id;
            r["answer"] = now_.given[a].text;
            r["right"] = now_.given[a].right ? "true" : "false";
            r["confidence"] = now_.given[a].unsure ? "low" : "high";
            r["tries"] = std::to_string(a + 1);
            records.push_back(std::move(r));
        }
        if (now_.shown && !was.shown) {
            Record r = event("shown", static_cast<int>(i));
            r["question"] = lesson.steps[i].question->id;
            records.push_back(std::move(r));
        }
    }
    if (after.step != before.step) records.push_back(event("step", after.step));
    if (after.finished && !before.finished) records.push_back(event("finished", after.step));
    return append(std::move(records));
}

std::string Journal::restart(const Lesson& lesson) { return append({{{"event", "restart"}, {"lesson", lesson.id}}}); }

bool Journal::knows(const Lesson& lesson) const {
    bool known = false;
    for (const Record& r : records_)
        if (word(r, "lesson") == lesson.id) known = word(r, "event") != "restart";
    return known;
}

LessonState Journal::state(const Lesson& lesson) const {
    LessonState s;
    s.steps.resize(lesson.steps.size());
    for (const Record& r : records_) {
        if (word(r, "lesson") != lesson.id) continue;
        const std::string event = word(r, "event");
        if (event == "restart") {
            s = {};
            s.steps.resize(lesson.steps.size());
            continue;
        }
        const int step = number(r, "step") - 1;
        if (step < 0 || step >= static_cast<int>(lesson.steps.size())) continue;
        StepState& at = s.steps[static_cast<std::size_t>(step)];
        const auto& question = lesson.steps[static_cast<std::size_t>(step)].question;
        const bool same = question && question->id == word(r, "question");  // else the lesson was rewritten since
        if (event == "answer" && same)
            at.given.push_back({word(r, "answer"), word(r, "right") == "true", word(r, "confidence") == "low"});
        if (event == "shown" && same) at.shown = true;
        if (event == "step") s.step = step;
        if (event == "finished") s.finished = true;
    }
    return s;
}

}  // namespace lessons
