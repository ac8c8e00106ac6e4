#pragma once
// The course: every lesson in both languages, the quiz and the glossary, as they travel inside the binary or lie in a
// folder.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/lesson.hpp"

namespace lessons {

/// A file of the course: "en/03-fusion.md".
struct CourseFile {
    std::string name, text;
    Language language = Language::en;
};

/// Those compiled in: lessons/en/*.md and lessons/zh/*.md.
std::vector<CourseFile> builtin_files();
/// A file, or the *.md of a folder and of its en and zh; the language is the folder's name (en where it is neither).
/// BadInput where there is none.
std::vector<CourseFile> read_files(const std::string& path);

bool is_glossary(const CourseFile& file);
/// The words a glossary explains: "## term", then its text.
std::map<std::string, Prose> parse_glossary(const CourseFile& file);
/// A lesson's or the quiz's file, read. BadInput as parse_lesson says.
Lesson parse_lesson(const CourseFile& file, const sim::Catalogue& devices);

class Course {
public:
    /// Reads every file. BadInput at the first that cannot be read.
    Course(const std::vector<CourseFile>& files, const sim::Catalogue& devices);

    /// The lessons of a language, in the course's order (without the quiz and the drill).
    std::vector<const Lesson*> lessons(Language) const;
    /// The same with the drill, which stands after the last lesson that it needs.
    std::vector<const Lesson*> listed(Language) const;
    /// A lesson or the drill by id, by number ("4") or by the name of its file; null where there is none.
    const Lesson* find(std::string_view id, Language) const;
    /// The fault drill, or null.
    const Lesson* drill(Language) const;
    /// The quiz, or null.
    const Lesson* quiz(Language) const;
    /// Every word that the glossary of a language explains.
    const std::map<std::string, Prose>& glossary(Language l) const { return glossary_[static_cast<int>(l)]; }
    /// What a word means, or null.
    const Prose* meaning(std::string_view term, Language) const;

private:
    std::vector<Lesson> lessons_;
    std::map<std::string, Prose> glossary_[2];
};

}  // namespace lessons
