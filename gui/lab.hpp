#pragma once
// The lab: one document, what is computed from it, and one frame of all views.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gui/analysis.hpp"
#include "gui/computed.hpp"
#include "gui/document.hpp"
#include "gui/fonts.hpp"
#include "gui/learning.hpp"
#include "gui/measured.hpp"
#include "gui/runner.hpp"
#include "gui/theme.hpp"
#include "kernels/cpu/calibrate.hpp"

namespace gui {

/// Playing through the steps. It pauses by itself at the walk's marks.
struct Play {
    bool on = false;
    double rate = 1;   // times the middle speed
    double carry = 0;  // part of a step not yet taken
};

class Lab {
public:
    struct Setup {
        Devices devices;
        sim::Scene scene;
        Appearance appearance;
        std::string note;            // one sentence to show at the start; empty for none
        std::function<void()> wake;  // called from workers when there is something new to draw
        Learning::Setup learning = {};
    };
    explicit Lab(Setup setup);

    /// All widgets of one frame. Takes in what the workers have finished and asks them what the scene needs next.
    void draw();
    /// Blocks until no worker has anything left to do: for pictures and tests.
    void finish_work();
    /// Seconds until the next frame is wanted though nobody does anything; nothing when that is never.
    std::optional<double> next_frame() const;

    // ---- what the views share ----

    Document document;
    Appearance appearance;
    MeasuredRows measured;
    Runner runner;
    Computations computed;
    Play play;
    Learning learning;
    std::array<char, 1024> line{};  // the experiment as text, while it is edited
    bool line_is_edited = false;
    bool quit = false, show_limits = false, show_keys = false, show_welcome = false, show_report = false;
    bool show_formulas = false;
    std::array<bool, 32> open{};  // by row of the view table
    std::string term;             // of the glossary: the one looked up last
    std::string laid_out;         // the view that the windows stand for
    bool wants_sweep = true;      // something on screen shows it
    Sweep::Axes sweep_axes = {sim::SweepWord::bm, sim::SweepWord::bn};
    bool rebuild_layout = true;
    std::optional<std::size_t> alone;            // the one view shown, by row of the view table; none: all of them
    std::size_t in_focus = 0;                    // the view that had the keyboard or a click last
    std::optional<sim::Experiment> under_glass;  // the one whose kernel was asked to run there
    int formula = -1;                            // which number's formula is asked for

    /// The newest analysis; null before the first. `is_current` says whether it is of the scene as it stands.
    const Analysis* analysis() const { return analysis_ ? &analysis_->answer : nullptr; }
    bool is_current() const;
    /// Why the newest question has no analysis; empty when it has.
    const std::string& analysis_error() const;
    const sim::StepState* step() const { return step_ ? &step_->answer : nullptr; }
    const Sweep* sweep() const { return sweep_ && sweep_->error.empty() ? &sweep_->answer : nullptr; }
    /// Why there is no sweep; empty when there is one.
    std::string sweep_error() const { return sweep_ ? sweep_->error : std::string(); }
    bool sweeping() const { return sweeps_.busy(); }
    double sweep_progress() const { return sweeps_.progress(); }

    /// The operand under the mouse or the keyboard: every view lights it.
    std::optional<sim::Operand> lit() const { return lit_; }
    void light(sim::Operand operand) { lit_next_ = operand; }
    /// How strongly to draw an operand: all alike while none is lit.
    float strength(sim::Operand operand) const { return !lit_ || *lit_ == operand ? 1.0f : 0.25f; }

    /// Changes words of the experiment; what can't be done is said in the status line.
    void change(std::span<const Word> words, unsigned gesture = 0);
    void change(std::initializer_list<Word> words, unsigned gesture = 0) {
        change(std::span(words.begin(), words.size()), gesture);
    }
    void take_tile(const sim::Tile& tile, unsigned gesture = 0);
    /// Takes a line of text as the scene.
    void paste(std::string_view scene);
    /// Adds the measured rows of a file; says how many, or what is wrong with it.
    void load(const std::string& path);
    /// Makes the cpu of this machine the device, probing it first where that was never done (a second or two).
    void use_this_machine();
    bool calibrating() const { return calibrations_.busy(); }
    double calibration_progress() const { return calibrations_.progress(); }
    /// The baseline becomes the scene's experiment and the other way round: one entry of history.
    void swap_baseline();
    /// Opens the glossary, at a term where one is given.
    void look_up(const std::string& term);
    void set_step(sim::i64 step);
    /// To the next (+1) or previous (-1) output tile; on a GPU, by one k-step of all the CTAs at work.
    void step_tile(int direction);
    /// To the next (+1) or previous (-1) wave; on a sequential machine, trip of the outermost loop.
    void step_wave(int direction);
    /// Takes the numbers (tsv: to the clipboard; csv) or the picture (svg, png) of a view, at the next frame.
    enum class Take { none, tsv, csv, svg, png };
    void take(Take what, std::size_t view);
    /// What a view asks of a worker: the scene's experiment, or its walk at the step it is at.
    Computations::Question question(bool with_step = false) const;
    /// One sentence for the status line, until the next change or a click on it.
    struct Message {
        std::string text;
        bool is_error = false;
    };
    Message message;

private:
    void ask();
    void take_answers();
    void advance();
    void draw_view(std::size_t row);
    void finish_taking();
    /// A sentence that is not empty is an error to show; an empty one ends the error shown.
    void report(std::string sentence);

    std::function<void()> wake_;
    Latest<Analysis::Question, Analysis> analyses_;
    Latest<Stepping::Question, sim::StepState> steps_;
    Latest<Sweep::Question, Sweep> sweeps_;
    Latest<int, kernels::cpu::CpuDevice> calibrations_;
    std::shared_ptr<const Latest<Analysis::Question, Analysis>::Result> analysis_;
    std::shared_ptr<const Latest<Stepping::Question, sim::StepState>::Result> step_;
    std::shared_ptr<const Latest<Sweep::Question, Sweep>::Result> sweep_;
    std::shared_ptr<const Latest<int, kernels::cpu::CpuDevice>::Result> calibration_;
    std::optional<sim::Operand> lit_, lit_next_;
    struct {
        Take what = Take::none;
        std::size_t view = 0;
        int frames = 0;  // until the view is drawn with edges that a file can hold
    } taking_;
    int raise_in_ = 0;  // frames until the windows of a new layout exist and can be brought to the front
};

}  // namespace gui
