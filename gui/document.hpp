#pragma once
// The one document of the lab: a Scene with its history. Every view reads it; every change goes through it.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/experiment.hpp"

namespace gui {

using Devices = std::shared_ptr<const sim::Catalogue>;

/// A word of the text form and what it shall say; an empty value leaves it out, so that the usual one holds. The words
/// without a name of their own are called device, shape, dtype, pass and fusion.
using Word = std::pair<std::string_view, std::string>;

/// The line of an experiment with some words changed.
std::string with_words(const std::string& line, std::span<const Word> words);

class Document {
public:
    Document(Devices devices, sim::Scene scene);

    const sim::Scene& scene() const { return scene_; }
    const sim::Experiment& experiment() const { return scene_.experiment; }
    const sim::Device& device() const { return devices_->at(scene_.experiment.device); }
    const Devices& devices() const { return devices_; }
    /// Takes another catalogue; it must know every device of the scene and its history.
    void set_devices(Devices devices) { devices_ = std::move(devices); }

    /// Changes words of the experiment: one entry of history. Changes of the same gesture (not 0) in a row, as a drag
    /// makes, are one entry. Words that no longer apply give way to the usual ones. Returns one sentence when even then
    /// it can't be done, else an empty string.
    std::string change(std::span<const Word> words, unsigned gesture = 0);
    std::string change(std::initializer_list<Word> words, unsigned gesture = 0) {
        return change(std::span(words.begin(), words.size()), gesture);
    }
    /// Puts another scene in place: one entry of history.
    void take(sim::Scene scene) { record(std::move(scene), 0); }
    void set_baseline(std::optional<sim::Experiment> baseline);
    /// What is looked at: no history.
    void look(sim::i64 step, const sim::Scene::Selection& select);
    void set_view(std::string view) { scene_.view = std::move(view); }
    /// Ends a gesture: the next change is an entry of its own.
    void end_gesture() { gesture_ = 0; }

    bool can_undo() const { return at_ > 0; }
    bool can_redo() const { return at_ + 1 < history_.size(); }
    void undo() { go(-1); }
    void redo() { go(+1); }

    /// The scene as one line.
    std::string text() const { return sim::to_string(scene_, *devices_); }
    /// Takes a line; returns one sentence when it can't be read, and then changes nothing.
    std::string paste(std::string_view line);
    /// Why a line can't be read; empty when it can.
    std::string refuses(std::string_view line) const;

private:
    void record(sim::Scene next, unsigned gesture);
    void go(int entries);

    Devices devices_;
    sim::Scene scene_;
    std::vector<sim::Scene> history_;
    std::size_t at_ = 0;
    unsigned gesture_ = 0;
};

}  // namespace gui
