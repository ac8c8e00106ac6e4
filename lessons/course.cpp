#include "lessons/course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sim/embedded.hpp"
#include "sim/text.hpp"

namespace lessons {
namespace fs = std::filesystem;

namespace {

CourseFile read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw sim::BadInput(fmt::format("cannot read {}; expected a lesson's file", sim::quote(path.string())));
    const bool zh = path.parent_path().filename() == "zh";
    return {path.string(), text, zh ? Language::zh : Language::en};
}

/// "12-model-against-machine" of "zh/12-model-against-machine.md".
std::string stem(const std::string& name) { return fs::path(name).stem().string(); }

}  // namespace

std::vector<CourseFile> builtin_files() {
    std::vector<CourseFile> out;
    for (const sim::EmbeddedFile& f : sim::embedded_lessons_en())
        out.push_back({fmt::format("lessons/en/{}", f.name), std::string(f.text), Language::en});
    for (const sim::EmbeddedFile& f : sim::embedded_lessons_zh())
        out.push_back({fmt::format("lessons/zh/{}", f.name), std::string(f.text), Language::zh});
    return out;
}

std::vector<CourseFile> read_files(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return {read_file(path)};
    std::vector<fs::path> found;
    for (const fs::path& folder : {fs::path(path), fs::path(path) / "en", fs::path(path) / "zh"}) {
        if (!fs::is_directory(folder, error)) continue;
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".md" && entry.path().filename() != "README.md")
                found.push_back(entry.path());
    }
    if (found.empty())
        throw sim::BadInput(fmt::format("the folder {} has no lesson; expected en/*.md and zh/*.md", sim::quote(path)));
    std::sort(found.begin(), found.end());
    std::vector<CourseFile> out;
    for (const fs::path& p : found) out.push_back(read_file(p));
    return out;
}

bool is_glossary(const CourseFile& file) { return stem(file.name) == "glossary"; }

std::map<std::string, Prose> parse_glossary(const CourseFile& file) {
    std::map<std::string, Prose> out;
    std::string term;
    std::vector<Line> lines;
    const auto flush = [&] {
        if (!term.empty()) out[term] = parse_prose(lines, file.name);
        lines.clear();
    };
    std::string_view text = file.text;
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.starts_with("## ")) {
            flush();
            term = std::string(line.substr(3));
        } else {
            lines.push_back({number, line});
        }
    }
    flush();
    return out;
}

Lesson parse_lesson(const CourseFile& file, const sim::Catalogue& devices) {
    Lesson lesson = parse_lesson(file.text, file.name, file.language, devices);
    const std::string name = stem(file.name);
    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) lesson.number = std::atoi(name.c_str());
    return lesson;
}

Course::Course(const std::vector<CourseFile>& files, const sim::Catalogue& devices) {
    for (const CourseFile& file : files) {
        if (is_glossary(file)) {
            glossary_[static_cast<int>(file.language)] = parse_glossary(file);
        } else {
            lessons_.push_back(parse_lesson(file, devices));
        }
    }
    std::stable_sort(lessons_.begin(), lessons_.end(),
                     [](const Lesson& a, const Lesson& b) { return a.number < b.number; });
}

std::vector<const Lesson*> Course::lessons(Language l) const {
    std::vector<const Lesson*> out;
    for (const Lesson& lesson : lessons_)
        if (lesson.language == l && !lesson.quiz && !lesson.drill) out.push_back(&lesson);
    return out;
}

std::vector<const Lesson*> Course::listed(Language l) const {
    std::vector<const Lesson*> out = lessons(l);
    const Lesson* last = drill(l);
    if (!last) return out;
    const auto needed = std::find_if(out.rbegin(), out.rend(), [&](const Lesson* one) {
        return std::find(last->needs.begin(), last->needs.end(), one->id) != last->needs.end();
    });
    out.insert(needed == out.rend() ? out.end() : needed.base(), last);
    return out;
}

const Lesson* Course::find(std::string_view id, Language l) const {
    for (const Lesson& lesson : lessons_)
        if (lesson.language == l && !lesson.quiz &&
            (lesson.id == id || stem(lesson.file) == id || (lesson.number > 0 && std::to_string(lesson.number) == id)))
            return &lesson;
    return nullptr;
}

const Lesson* Course::drill(Language l) const {
    for (const Lesson& lesson : lessons_)
        if (lesson.language == l && lesson.drill) return &lesson;
    return nullptr;
}

const Lesson* Course::quiz(Language l) const {
    for (const Lesson& lesson : lessons_)
        if (lesson.language == l && lesson.quiz) return &lesson;
    return nullptr;
}

const Prose* Course::meaning(std::string_view term, Language l) const {
    const auto& terms = glossary_[static_cast<int>(l)];
    const auto at = terms.find(std::string(term));
    return at == terms.end() ? nullptr : &at->second;
}

}  // namespace lessons
