#include "gui/document.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace gui {
namespace {

constexpr std::size_t longest_history = 1000;

using Words = std::vector<std::pair<std::string, std::string>>;

/// An experiment's line as (word, value) pairs in their order.
Words split(const std::string& line) {
    static constexpr std::array unnamed = {"device", "shape", "dtype", "pass", "fusion"};
    std::istringstream in(line);
    Words words;
    std::size_t next = 0;
    for (std::string token; in >> token;) {
        const bool named = next == unnamed.size() || token == "batch" || token == "out";
        if (named && in >> std::ws) {
            std::string value;
            in >> value;
            words.emplace_back(token, value);
        } else {
            words.emplace_back(unnamed[next++], token);
        }
    }
    return words;
}

bool is_unnamed(std::string_view word) {
    return word == "device" || word == "shape" || word == "dtype" || word == "pass" || word == "fusion";
}

std::string join(const Words& words) {
    std::string line;
    for (const auto& [word, value] : words)
        line += (line.empty() ? "" : " ") + (is_unnamed(word) ? "" : word + " ") + value;
    return line;
}

}  // namespace

std::string with_words(const std::string& line, std::span<const Word> changes) {
    Words words = split(line);
    for (const auto& [name, value] : changes) {
        const auto at = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == name; });
        if (at == words.end() && !value.empty())
            words.emplace_back(name, value);
        else if (at != words.end() && value.empty())
            words.erase(at);
        else if (at != words.end())
            at->second = value;
    }
    return join(words);
}

Document::Document(Devices devices, sim::Scene scene)
    : devices_(std::move(devices)), scene_(std::move(scene)), history_{scene_} {}

void Document::record(sim::Scene next, unsigned gesture) {
    if (next == scene_) return;
    const bool continues = gesture != 0 && gesture == gesture_ && at_ > 0;
    scene_ = std::move(next);
    gesture_ = gesture;
    history_.resize(at_ + 1);
    if (continues) {
        history_[at_] = scene_;
        return;
    }
    history_.push_back(scene_);
    if (history_.size() > longest_history) history_.erase(history_.begin());
    at_ = history_.size() - 1;
}

std::string Document::change(std::span<const Word> changes, unsigned gesture) {
    const sim::Experiment& now = scene_.experiment;
    const auto says = [&](std::string_view word) {
        const auto at = std::find_if(changes.begin(), changes.end(), [&](const Word& w) { return w.first == word; });
        return at == changes.end() ? std::string() : at->second;
    };
    std::string line = sim::to_string(now, *devices_);
    // A tile that is the usual one follows the device and the dtype; one that was chosen stays.
    const sim::Experiment usual = sim::usual_experiment(device(), now.dense, now.pass, now.fusion);
    const bool tile_hangs_on_it = !says("device").empty() || !says("dtype").empty();
    if (tile_hangs_on_it && now.tile == usual.tile) line = with_words(line, std::array{Word{"tile", ""}});
    const std::string wanted = with_words(line, changes);

    // What is tried, in turn: every word kept; the chosen tile kept; only the layer kept.
    Words bare;
    const bool to_another_kind =
        !says("device").empty() && devices_->find(says("device")) && devices_->at(says("device")).kind != device().kind;
    for (const auto& w : split(wanted))
        if (is_unnamed(w.first) || w.first == "batch" || !says(w.first).empty()) bare.push_back(w);
    Words with_tile = bare;
    for (const auto& w : split(wanted))
        if (w.first == "tile" && says("tile").empty()) with_tile.push_back(w);
    std::vector<std::string> tries = {wanted, join(with_tile), join(bare)};
    if (to_another_kind) tries = {join(bare)};

    std::string why;
    for (const std::string& attempt : tries) try {
            sim::Scene scene = scene_;
            scene.experiment = sim::parse_experiment(attempt, *devices_);
            record(std::move(scene), gesture);
            return {};
        } catch (const sim::BadInput& e) {
            if (why.empty()) why = e.what();
        }
    return why;
}

void Document::set_baseline(std::optional<sim::Experiment> baseline) {
    sim::Scene scene = scene_;
    scene.baseline = std::move(baseline);
    record(std::move(scene), 0);
}

void Document::look(sim::i64 step, const sim::Scene::Selection& select) {
    scene_.step = step;
    scene_.select = select;
}

void Document::go(int entries) {
    if (entries < 0 ? !can_undo() : !can_redo()) return;
    at_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at_) + entries);
    std::string view = std::move(scene_.view);  // where one looks from is no history
    scene_ = history_[at_];
    scene_.view = std::move(view);
    gesture_ = 0;
}

std::string Document::paste(std::string_view line) {
    try {
        record(sim::parse_scene(line, *devices_), 0);
        return {};
    } catch (const sim::BadInput& e) {
        return e.what();
    }
}

std::string Document::refuses(std::string_view line) const {
    try {
        sim::parse_experiment(line, *devices_);
        return {};
    } catch (const sim::BadInput& e) {
        return e.what();
    }
}

}  // namespace gui
