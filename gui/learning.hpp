#pragma once
// The course in the lab: the lesson and step a person is at, what they answered, and what is covered meanwhile. The
// engine in lessons/ decides all of it; whatever needs the model is done off the frame thread.

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gui/document.hpp"
#include "gui/latest.hpp"
#include "gui/theme.hpp"
#include "kernels/glass/faults.hpp"
#include "lessons/course.hpp"
#include "lessons/goal.hpp"
#include "lessons/journal.hpp"
#include "lessons/lint.hpp"

namespace gui {

/// What a person does in a step.
struct Deed {
    enum Kind { none, answer, show, next, go } kind = none;
    std::string text;     // answer: as lessons::Walk takes it
    bool unsure = false;  // answer
    int step = 0;         // go: to that step
    bool operator==(const Deed&) const = default;
};

/// A step as it is drawn: every number filled in, footnotes numbered.
struct Page {
    struct Explained {
        std::string title;
        std::vector<lessons::Spans> lines;
    };
    lessons::LessonState state;  // after what was done
    lessons::Prose prose;
    std::vector<lessons::Choice> choices;
    std::string expected;              // what may be typed
    std::vector<std::string> covered;  // figures
    std::optional<lessons::Feedback> feedback;
    std::vector<lessons::Spans> notes;  // footnotes in the order of their numbers
    std::string claim;                  // of the step that says why
    bool locked = true, settled = true, last = false;
    int furthest = 0;  // the last step that may be gone to
    int first_right = 0, questions = 0;
    std::string refused;      // why an answer could not be taken
    std::vector<lessons::Condition> goals;  // of a challenge, in the document's scene
    std::string trouble;      // why the document's scene can't be judged
    bool reached = false;
    std::vector<Explained> explained;                              // of a quiz that is over: what was missed
    std::shared_ptr<const kernels::glass::Comparison> comparison;  // of a drill's step
};

class Learning {
public:
    struct Setup {
        std::filesystem::path journal;  // empty: in memory only
        std::string lessons;            // a lesson or folder of one's own, read again whenever it changes
    };
    Learning(Setup setup, Devices devices, std::function<void()> wake);

    /// Takes in what was computed and asks what is needed next; once a frame.
    void update(Document& document, Language language);
    /// Blocks until nothing is left to compute.
    void wait() const { turns_.wait(), lints_.wait(); }
    /// Whether a file is watched, so that a frame is due now and then.
    bool watching() const { return !watched_.empty(); }
    void set_devices(Devices devices);

    /// The course in the language in use; null where it can't be read, and `trouble` says why.
    const lessons::Course* course();
    const std::string& trouble() const { return trouble_; }
    lessons::Language language() const { return language_; }
    /// Reads a lesson's file or a folder, and again whenever it changes.
    void edit(const std::string& path, Document& document);
    struct Finding {
        int line;
        std::string text;
    };
    /// What the checker says of the lesson being edited.
    const std::vector<Finding>& findings() const { return findings_; }

    struct Progress {
        bool begun = false, finished = false;
        int step = 0, first_right = 0, questions = 0;
    };
    Progress progress(const lessons::Lesson& lesson);
    /// One half of the quiz, or null where the course has none.
    const lessons::Lesson* quiz(lessons::StepKind half);
    /// What was gained between the halves of the quiz; nothing before both are done.
    std::optional<double> gain();
    /// All that was done, as Markdown.
    std::string report();

    /// Opens a lesson where it was left; its scene takes the place of the person's own, which is kept.
    void open(const lessons::Lesson& lesson, Document& document);
    void open_at(const lessons::Lesson& lesson, int step, Document& document);
    /// From its beginning, with no answers.
    void again(Document& document);
    /// Closes the lesson. The person's own scene comes back, unless the lesson's is kept.
    void leave(Document& document, bool keep_scene = false);
    void act(Deed deed);

    /// The lesson that is open; null: none.
    const lessons::Lesson* lesson() const { return lesson_.get(); }
    const lessons::Step& step() const { return lesson_->steps[static_cast<std::size_t>(state_.step)]; }
    const lessons::LessonState& state() const { return state_; }
    /// The step as computed; null until it is.
    const Page* page() const { return page_ ? &*page_ : nullptr; }
    /// The lesson is done and its last page is to be shown.
    bool at_end() const { return at_end_; }
    const std::string& refused() const { return refused_; }
    /// Whether a figure is covered until the answer is locked.
    bool covers(std::string_view figure) const;
    /// The scene to come back to at the next start: while a lesson is open, the person's own.
    sim::Scene own_scene(const Document& document) const { return lesson_ ? own_ : document.scene(); }
    /// One sentence where the journal could not be written, once.
    std::string take_note() { return std::exchange(note_, {}); }

    // What is picked and typed but not yet locked in.
    std::string picked;  // letters
    std::array<char, 96> typed{};
    bool unsure = false, focus_field = false, scroll_up = false, scroll_to_feedback = false;

private:
    struct Question {
        std::shared_ptr<const lessons::Lesson> lesson;
        std::shared_ptr<lessons::Model> model;  // the worker's alone
        std::shared_ptr<kernels::glass::Counts> counts;
        lessons::LessonState state;
        Deed deed;
        int serial = 0;
        std::string scene;  // the document's, for a challenge
        bool operator==(const Question&) const = default;
    };
    struct Draft {
        std::vector<lessons::CourseFile> files;
        int serial = 0;
        bool operator==(const Draft& o) const { return serial == o.serial; }
    };
    using Turns = Latest<Question, Page>;
    using Lints = Latest<Draft, std::vector<std::string>>;
    static Page turn(const Question&, const Job&);

    void read(Document* document);
    void take(const Page& page, Deed::Kind deed, Document& document);
    void start(std::shared_ptr<const lessons::Lesson> lesson, lessons::LessonState state, Document& document);
    void enter(Document& document);
    void ask(Deed deed, std::string scene);
    void clear_picks();
    bool is_quiz() const { return lesson_ && lesson_->quiz; }

    Devices devices_;
    lessons::Language language_ = lessons::Language::en;
    std::shared_ptr<const lessons::Course> course_;
    std::shared_ptr<kernels::glass::Counts> counts_;
    std::shared_ptr<lessons::Model> model_;    // the worker's
    std::unique_ptr<lessons::Model> listing_;  // the frame's, for progress
    std::string trouble_, note_, refused_;
    lessons::Journal journal_;
    std::map<std::string, Progress, std::less<>> progress_;  // by lesson; emptied by every event
    std::map<std::pair<lessons::Language, lessons::StepKind>, std::shared_ptr<const lessons::Lesson>> halves_;

    std::shared_ptr<const lessons::Lesson> lesson_;
    lessons::LessonState state_;
    sim::Scene own_;
    std::optional<Page> page_;
    bool at_end_ = false, pending_ = false;
    int serial_ = 0;

    std::string watched_;
    std::filesystem::file_time_type stamp_{};
    std::chrono::steady_clock::time_point looked_{};
    std::vector<Finding> findings_;
    int drafts_ = 0;

    std::shared_ptr<const Turns::Result> taken_;
    Turns turns_;
    Lints lints_;
};

}  // namespace gui
