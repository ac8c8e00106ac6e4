#include "gui/learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lessons/goal.hpp"
#include "lessons/messages.hpp"
#include "lessons/phrases.hpp"
#include "sim/text.hpp"

namespace gui {

namespace fs = std::filesystem;
using lessons::Lesson;
using lessons::StepKind;
using lessons::Walk;

namespace {

lessons::Language of(Language l) { return l == Language::zh ? lessons::Language::zh : lessons::Language::en; }

/// Gives the footnotes of a page their numbers, in the order in which they are met.
class Notes {
public:
    Notes(const Walk& walk, std::vector<lessons::Spans>& out) : walk_(walk), out_(out) {}

    void number(lessons::Spans& spans) {
        for (lessons::Span& s : spans) {
            if (s.kind != lessons::Span::footnote) continue;
            const auto at = std::find(marks_.begin(), marks_.end(), s.text);
            const std::size_t n = static_cast<std::size_t>(at - marks_.begin());
            if (at == marks_.end()) {
                marks_.push_back(s.text);
                const lessons::Footnote* note = walk_.lesson().footnote(s.text);
                out_.push_back(note ? walk_.filled(note->text) : lessons::Spans{});
            }
            s.text = std::to_string(n + 1);
        }
    }
    void number(lessons::Prose& prose) {
        for (lessons::Block& b : prose) {
            number(b.spans);
            for (lessons::Spans& cell : b.cells) number(cell);
        }
    }

private:
    const Walk& walk_;
    std::vector<lessons::Spans>& out_;
    std::vector<std::string> marks_;
};

/// The last step that may be gone to: up to the first question that has no answer.
int furthest(const Lesson& lesson, lessons::Model& model, const lessons::LessonState& state) {
    lessons::LessonState s = state;
    for (int i = 0; i < static_cast<int>(lesson.steps.size()); ++i) {
        s.step = i;
        if (!Walk(lesson, model, s).locked()) return std::max(i, state.step);
    }
    return static_cast<int>(lesson.steps.size()) - 1;
}

/// A challenge's goal, condition by condition, in a scene.
void judge_goal(Page& page, const Walk& walk, lessons::Model& model, const std::string& scene) {
    Walk trial = walk;
    const lessons::Language l = walk.lesson().language;
    try {
        const lessons::Feedback f = trial.answer(scene);
        const sim::Report& r = model.report(scene);
        if (!r.fit.ok()) {
            page.trouble = lessons::say(lessons::Phrase::does_not_fit, l, lessons::translated(r.fit.why, l));
            return;
        }
        page.reached = f.kind == lessons::Feedback::right;
        page.goals = lessons::conditions_of(walk.step().question->goal, walk.step().scene, scene, walk.lesson().scenes,
                                            model, l);
    } catch (const sim::BadInput& e) {
        std::string_view why = e.what();
        if (const std::string said = sim::quote(scene) + ": "; why.starts_with(said)) why.remove_prefix(said.size());
        page.trouble = lessons::translated(why, l);
    }
}

/// What was missed in the second half of the quiz, with its explanations.
std::vector<Page::Explained> explain(const Walk& walk, lessons::Model& model) {
    std::vector<Page::Explained> out;
    lessons::LessonState s = walk.state();
    for (std::size_t i = 0; i < s.steps.size(); ++i) {
        if (s.steps[i].given.empty() || s.steps[i].given[0].right) continue;
        s.step = static_cast<int>(i);
        const Walk one(walk.lesson(), model, s);
        out.push_back({fmt::format("{}. {}", i + 1, one.step().title), one.feedback()->lines});
    }
    return out;
}

fs::file_time_type newest(const std::string& path) {
    std::error_code error;
    fs::file_time_type stamp = fs::last_write_time(path, error);
    if (error) return {};
    for (const fs::path& folder : {fs::path(path), fs::path(path) / "en", fs::path(path) / "zh"})
        if (fs::is_directory(folder, error))
            for (const auto& entry : fs::directory_iterator(folder, error))
                if (entry.path().extension() == ".md")
                    stamp = std::max(stamp, fs::last_write_time(entry.path(), error));
    return stamp;
}

}  // namespace

Page Learning::turn(const Question& q, const Job&) {
    lessons::Model& model = *q.model;
    Walk walk(*q.lesson, model, q.state);
    Page page;
    try {
        switch (q.deed.kind) {
            case Deed::none: break;
            case Deed::answer:
                walk.answer(q.deed.text, q.deed.unsure);
                if (q.lesson->quiz) walk.advance();
                break;
            case Deed::show: walk.show(); break;
            case Deed::next: walk.advance(); break;
            case Deed::go: {
                lessons::LessonState there = walk.state();
                there.step = std::clamp(q.deed.step, 0, furthest(*q.lesson, model, there));
                walk = Walk(*q.lesson, model, there);
                break;
            }
        }
    } catch (const sim::BadInput& e) {
        page.refused = lessons::translated(e.what(), q.lesson->language);
    }
    page.state = walk.state();
    page.prose = walk.prose();
    page.choices = walk.choices();
    page.expected = walk.expected();
    page.covered = walk.hidden();
    page.locked = walk.locked();
    page.settled = walk.settled();
    page.last = walk.last();
    page.furthest = furthest(*q.lesson, model, page.state);
    page.first_right = walk.first_right();
    page.questions = walk.questions();
    try {
        if (!q.lesson->quiz) page.feedback = walk.feedback();
        if (walk.step().kind == StepKind::why) page.claim = walk.claim_text();
        if (q.lesson->quiz && walk.state().finished && walk.step().kind == StepKind::post)
            page.explained = explain(walk, model);
    } catch (const sim::BadInput& e) {  // a lesson being written may ask what has no answer
        page.refused = lessons::translated(e.what(), q.lesson->language);
    }
    if (const auto* fault = kernels::glass::find_fault(walk.step().fault)) try {
            page.comparison = std::make_shared<const kernels::glass::Comparison>(
                q.counts->compare(sim::parse_experiment(walk.step().scene, model.devices()), *fault));
        } catch (const std::exception& e) {  // no compiler here for a tile that was not built in
            page.refused = lessons::translated(e.what(), q.lesson->language);
        }
    Notes notes(walk, page.notes);
    notes.number(page.prose);
    for (lessons::Choice& c : page.choices) notes.number(c.text);
    if (page.feedback)
        for (lessons::Spans& line : page.feedback->lines) notes.number(line);
    if (walk.asks() && walk.step().question->kind == lessons::Question::reach && !q.scene.empty())
        judge_goal(page, walk, model, q.scene);
    return page;
}

Learning::Learning(Setup setup, Devices devices, std::function<void()> wake)
    : devices_(std::move(devices)),
      counts_(std::make_shared<kernels::glass::Counts>(*devices_)),
      journal_(std::move(setup.journal)),
      watched_(std::move(setup.lessons)),
      turns_(turn, wake),
      lints_([devices = devices_, counted = kernels::glass::counting(counts_)](
                 const Draft& d, const Job&) { return lessons::lint(d.files, *devices, counted); },
             wake) {}

void Learning::set_devices(Devices devices) {
    devices_ = std::move(devices);
    course_.reset();  // read anew when it is wanted; an open lesson keeps its own
    counts_ = std::make_shared<kernels::glass::Counts>(*devices_);
    model_.reset();
    listing_.reset();
    halves_.clear();
}

const lessons::Course* Learning::course() {
    if (!course_ && trouble_.empty()) read(nullptr);
    return course_.get();
}

void Learning::read(Document* document) {
    std::vector<lessons::CourseFile> files = lessons::builtin_files(), own;
    try {
        if (!watched_.empty()) {
            stamp_ = newest(watched_);
            own = lessons::read_files(watched_);
            for (const lessons::CourseFile& file : own) {
                const auto same = [&](const lessons::CourseFile& f) {
                    return fs::path(f.name).filename() == fs::path(file.name).filename() && f.language == file.language;
                };
                std::erase_if(files, same);
                files.push_back(file);
            }
            lints_.ask({own, ++drafts_});
        }
        course_ = std::make_shared<const lessons::Course>(files, *devices_);
        trouble_.clear();
    } catch (const sim::BadInput& e) {
        trouble_ = e.what();
        if (course_) return;  // the last one that could be read stays
        try {
            course_ = std::make_shared<const lessons::Course>(lessons::builtin_files(), *devices_);
        } catch (const sim::BadInput&) {
            return;
        }
    }
    halves_.clear();
    if (!model_) {
        model_ = std::make_shared<lessons::Model>(*devices_, kernels::glass::counting(counts_));
        listing_ = std::make_unique<lessons::Model>(*devices_, kernels::glass::counting(counts_));
    }
    if (!lesson_ || is_quiz() || !document) return;
    if (const Lesson* same = course_->find(lesson_->id, language_)) {
        const std::string before = step().scene;
        lesson_ = {course_, same};
        state_.steps.resize(same->steps.size());
        state_.step = std::min(state_.step, static_cast<int>(same->steps.size()) - 1);
        ++serial_;
        pending_ = false;
        if (step().scene != before) enter(*document);
    }
}

void Learning::edit(const std::string& path, Document& document) {
    watched_ = path;
    findings_.clear();
    read(&document);
    if (!course_ || !trouble_.empty()) return;
    const auto files = lessons::read_files(path);
    const auto first = std::find_if(files.begin(), files.end(), [](const auto& f) { return !lessons::is_glossary(f); });
    if (first == files.end()) return;
    if (const Lesson* l = course_->find(fs::path(first->name).stem().string(), first->language)) open(*l, document);
}

Learning::Progress Learning::progress(const Lesson& lesson) {
    if (const auto at = progress_.find(lesson.id); at != progress_.end()) return at->second;
    Progress p;
    course();
    if (!listing_) return p;
    const Walk walk(lesson, *listing_, journal_.state(lesson));
    p.begun = journal_.knows(lesson);
    p.finished = walk.state().finished;
    p.step = walk.state().step;
    p.first_right = walk.first_right();
    p.questions = walk.questions();
    return progress_[lesson.id] = p;
}

const Lesson* Learning::quiz(StepKind half) {
    const lessons::Course* c = course();
    const Lesson* whole = c ? c->quiz(language_) : nullptr;
    if (!whole) return nullptr;
    auto& kept = halves_[{language_, half}];
    if (!kept) kept = std::make_shared<const Lesson>(lessons::half_of(*whole, half));
    return kept.get();
}

std::optional<double> Learning::gain() {
    const Lesson *pre = quiz(StepKind::pre), *post = quiz(StepKind::post);
    if (!pre || !post) return {};
    const Progress a = progress(*pre), b = progress(*post);
    if (!a.finished || !b.finished) return {};
    return lessons::gain(a.first_right, b.first_right, b.questions);
}

std::string Learning::report() {
    const lessons::Course* c = course();
    return c ? lessons::report(*c, journal_, language_, *listing_) : std::string();
}

void Learning::start(std::shared_ptr<const Lesson> lesson, lessons::LessonState state, Document& document) {
    if (!lesson_) own_ = document.scene();
    lesson_ = std::move(lesson);
    state_ = std::move(state);
    state_.steps.resize(lesson_->steps.size());
    state_.step = std::clamp(state_.step, 0, static_cast<int>(lesson_->steps.size()) - 1);
    at_end_ = state_.finished;
    page_.reset();
    pending_ = false;
    ++serial_;
    document.set_view("learn");
    enter(document);
}

void Learning::open(const Lesson& lesson, Document& document) {
    if (!course()) return;
    std::shared_ptr<const Lesson> kept(course_, &lesson);
    for (const auto& [key, half] : halves_)
        if (half.get() == &lesson) kept = half;
    start(std::move(kept), journal_.state(lesson), document);
}

void Learning::open_at(const Lesson& lesson, int step, Document& document) {
    if (!course()) return;
    lessons::LessonState state;
    state.step = step;
    std::shared_ptr<const Lesson> kept(course_, &lesson);
    for (const auto& [key, half] : halves_)
        if (half.get() == &lesson) kept = half;
    start(std::move(kept), std::move(state), document);
}

void Learning::again(Document& document) {
    if (!lesson_) return;
    note_ = journal_.restart(*lesson_);
    progress_.clear();
    start(lesson_, {}, document);
}

void Learning::leave(Document& document, bool keep_scene) {
    if (!lesson_) return;
    if (!keep_scene && !is_quiz()) {
        own_.view = document.scene().view;
        document.take(own_);
    }
    lesson_.reset();
    page_.reset();
    at_end_ = pending_ = false;
    ++serial_;
    clear_picks();
}

void Learning::ask(Deed deed, std::string scene) {
    Question q;
    q.lesson = lesson_;
    q.model = model_;
    q.counts = counts_;
    q.state = state_;
    q.deed = std::move(deed);
    q.serial = serial_;
    q.scene = std::move(scene);
    turns_.ask(q);
}

void Learning::act(Deed deed) {
    if (!lesson_ || pending_) return;
    if (deed.kind == Deed::go) at_end_ = false;
    refused_.clear();
    pending_ = true;
    ++serial_;
    ask(std::move(deed), {});
}

bool Learning::covers(std::string_view figure) const {
    if (!lesson_ || figure.empty() || at_end_) return false;
    const auto has = [&](const std::vector<std::string>& ids) {
        return std::find(ids.begin(), ids.end(), figure) != ids.end();
    };
    return page_ ? has(page_->covered) : has(step().hide);
}

void Learning::clear_picks() {
    picked.clear();
    typed.fill('\0');
    unsure = false;
    refused_.clear();
}

void Learning::enter(Document& document) {
    clear_picks();
    focus_field = scroll_up = true;
    page_.reset();
    if (is_quiz() || step().scene.empty()) return;
    try {
        sim::Scene scene;
        scene.experiment = sim::parse_experiment(step().scene, *document.devices());
        if (!step().baseline.empty()) scene.baseline = sim::parse_experiment(step().baseline, *document.devices());
        scene.view = document.scene().view;
        document.take(std::move(scene));
    } catch (const sim::BadInput& e) {
        note_ = e.what();
    }
}

void Learning::take(const Page& page, Deed::Kind deed, Document& document) {
    const lessons::LessonState before = std::exchange(state_, page.state);
    if (!(before == state_)) {
        if (const std::string why = journal_.note(*lesson_, before, state_); !why.empty()) note_ = why;
        progress_.clear();
    }
    const bool answered = state_.step == before.step && !(before == state_);
    if (answered) picked.clear();
    scroll_to_feedback |= answered;
    focus_field |= answered && !page.settled;
    if (state_.finished && (!before.finished || (deed == Deed::next && page.last))) at_end_ = true;
    if (state_.step != before.step) enter(document);
    page_ = page;
}

void Learning::update(Document& document, Language language) {
    if (const lessons::Language l = of(language); l != language_) {
        language_ = l;
        progress_.clear();
        if (lesson_ && course()) {  // the same step in the other language
            const Lesson* same = is_quiz() ? quiz(lesson_->steps[0].kind) : course_->find(lesson_->id, l);
            if (same) {
                if (is_quiz())
                    lesson_ = halves_[{l, same->steps[0].kind}];
                else
                    lesson_ = {course_, same};
                state_.steps.resize(lesson_->steps.size());
                state_.step = std::min(state_.step, static_cast<int>(lesson_->steps.size()) - 1);
                ++serial_;
                pending_ = false;
                page_.reset();
            }
        }
    }
    if (!watched_.empty() && course_) {
        const auto now = std::chrono::steady_clock::now();
        if (now - looked_ > std::chrono::milliseconds(400)) {
            looked_ = now;
            if (newest(watched_) != stamp_) read(&document);
        }
    }
    if (const auto linted = lints_.latest(); linted && linted->question.serial == drafts_) {
        findings_.clear();
        for (const std::string& line : linted->answer) {  // FILE:LINE: WHAT
            Finding f{0, line};
            for (std::size_t at = line.find(".md:"); at != line.npos;) {
                const char* digits = line.c_str() + at + 4;
                const auto [end, error] = std::from_chars(digits, line.c_str() + line.size(), f.line);
                if (error == std::errc() && *end == ':')
                    f.text = line.substr(static_cast<std::size_t>(end - line.c_str()) + 2);
                break;
            }
            findings_.push_back(std::move(f));
        }
    }
    if (!lesson_) return;
    if (auto result = turns_.latest(); result != taken_) {
        taken_ = std::move(result);
        if (taken_->question.serial == serial_ && taken_->question.lesson == lesson_) {
            if (!taken_->error.empty()) refused_ = taken_->error;
            if (taken_->question.deed.kind != Deed::none) pending_ = false;
            if (!taken_->answer.refused.empty()) refused_ = taken_->answer.refused;
            if (taken_->error.empty()) take(taken_->answer, taken_->question.deed.kind, document);
        }
    }
    if (pending_) return;
    const auto& question = step().question;
    const bool reach = question && question->kind == lessons::Question::reach;
    ask({}, reach ? sim::to_string(document.experiment(), *devices_) : std::string());
}

}  // namespace gui
