#include "gui/run.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "gui/autosave.hpp"
#include "gui/headless.hpp"
#include "gui/lab.hpp"
#include "gui/settings.hpp"
#include "gui/state_files.hpp"
#include "gui/views.hpp"
#include "gui/window.hpp"
#include "lessons/journal.hpp"
#include "sim/text.hpp"

namespace gui {
namespace {

sim::Scene read_scene(std::string_view asked, std::string_view last, const sim::Catalogue& devices, std::string& note) {
    if (!asked.empty()) return sim::parse_scene(asked, devices);
    if (!last.empty()) try {
            return sim::parse_scene(last, devices);
        } catch (const sim::BadInput& e) {  // its device file may be gone
            note = std::string("the last scene can't be read: ") + e.what();
        }
    return sim::parse_scene(first_scene, devices);
}

/// Opens a lesson at a step, counted from 1. BadInput where there is none.
void open_lesson(Lab& lab, const std::string& id, int step) {
    lab.learning.update(lab.document, lab.appearance.language);  // takes the language
    if (id.ends_with(".md")) {
        lab.learning.edit(id, lab.document);
        if (!lab.learning.trouble().empty()) throw sim::BadInput(lab.learning.trouble());
    }
    const lessons::Course* course = lab.learning.course();
    if (!course) throw sim::BadInput(lab.learning.trouble());
    const std::string name = id.ends_with(".md") ? std::filesystem::path(id).stem().string() : id;
    const lessons::Lesson* lesson = course->find(name, lab.learning.language());
    if (!lesson && name == "quiz") lesson = lab.learning.quiz(lessons::StepKind::pre);
    if (!lesson) {
        std::vector<std::string_view> ids;
        for (const lessons::Lesson* one : course->lessons(lab.learning.language())) ids.push_back(one->id);
        throw sim::BadInput(fmt::format("lesson {}: expected a number, a file ending in .md, or one of {}",
                                        sim::quote(id), sim::listed(ids)));
    }
    const auto steps = static_cast<int>(lesson->steps.size());
    if (step < 1 || step > steps)
        throw sim::BadInput(fmt::format("step {} of lesson {}: expected 1 to {}", step, lesson->id, steps));
    lab.learning.open_at(*lesson, step - 1, lab.document);
}

}  // namespace

int run_lab(const LabOptions& options, const sim::Catalogue& devices, std::string& why) {
    const auto folder = lessons::state_folder();
    const char* own_lessons = std::getenv("MEMWALL_LESSONS");
    const std::string lessons = options.lessons.empty() && own_lessons ? own_lessons : options.lessons;
    std::string note;
    Settings saved = folder.empty() ? Settings{} : load_settings(folder / "settings", note);
    sim::Scene scene = read_scene(options.scene, saved.scene, devices, note);

    Window window("Memwall", options.width, options.height, why);
    if (!why.empty()) return 1;
    if (note.empty() && saved.appearance.language == Language::zh) note = window.fonts().problem;
    Lab lab({std::make_shared<const sim::Catalogue>(devices),
             std::move(scene),
             saved.appearance,
             note,
             &Window::wake,
             {folder.empty() ? folder : folder / "lessons.jsonl", lessons}});
    lab.show_welcome = !saved.welcomed;
    if (const auto layout = folder.empty() ? std::nullopt : read_whole(folder / "layout.ini")) {
        ImGui::LoadIniSettingsFromMemory(layout->data(), layout->size());
        lab.rebuild_layout = lab.laid_out == "learn";
    }
    apply(lab.appearance, window.dpi());

    float dpi = window.dpi();
    Autosave autosave(folder, std::move(saved), window.now());
    for (int frame = 0; (options.frames == 0 || frame < options.frames) && window.begin_frame(); ++frame) {
        for (const std::string& path : window.dropped()) lab.load(path);
        const Appearance before = lab.appearance;
        lab.draw();
        window.end_frame();
        if (lab.quit) window.close();
        if (!(lab.appearance == before) || dpi != window.dpi()) {
            dpi = window.dpi();
            apply(lab.appearance, dpi);
            window.redraw().data();
        }
        if (const auto soon = lab.next_frame()) window.redraw().at(window.now() + *soon);
        if (const auto soon = autosave.frame(lab, window.now())) window.redraw().at(*soon);
    }
    autosave.save(lab);
    return 0;
}

Shot screenshot(std::string_view scene, const ShotOptions& options, const sim::Catalogue& devices) {
    constexpr int least = 64, most = 16384;
    if (options.width < least || options.width > most || options.height < least || options.height > most)
        throw sim::BadInput(fmt::format("size {}x{}: expected WxH of {} to {} pixels each", options.width,
                                        options.height, least, most));
    std::string note;
    sim::Scene read = read_scene(scene, {}, devices, note);
    const sim::i64 asked_step = read.step;
    std::optional<std::size_t> alone;
    for (std::size_t i = 0; i < views().size(); ++i)
        if (name_of(views()[i]) == options.view && options.view != "measure") alone = i;
    if (!options.view.empty() && !alone) read.view = options.view;
    std::unique_ptr<Lab> lab;
    Headless screen(options.width, options.height, options.appearance, [&] { lab->draw(); });
    lab = std::make_unique<Lab>(Lab::Setup{
        std::make_shared<const sim::Catalogue>(devices), std::move(read), options.appearance, {}, [] {}, {}});
    lab->show_welcome = options.welcome;
    for (const std::string& path : options.rows) lab->load(path);
    if (!options.lesson.empty()) open_lesson(*lab, options.lesson, options.step);
    lab->alone = alone;
    lab->finish_work();            // before the first frame: what glyphs are met first decides how their pixels round
    for (int i = 0; i < 2; ++i) {  // what some views and lessons ask for follows from what others were told
        screen.frames(2);
        lab->finish_work();
        screen.settle();
    }
    std::string problem = options.appearance.language == Language::zh ? screen.fonts().problem : std::string();
    if (lab->is_current() && asked_step > lab->analysis()->steps)
        problem =
            fmt::format("step {}: this scene ends at step {}, which is shown", asked_step, lab->analysis()->steps);
    return {encode_png(screen.image()), to_lines(screen.texts()), problem};
}

}  // namespace gui
