#pragma once
// A challenge's goal for a reader: `time < 0.9 * time[@start]` as "predicted time below 0.9 × predicted time at the start".

#include "lessons/lesson.hpp"

namespace lessons {

/// One condition of a goal in a scene.
struct Condition {
    std::string text;  ///< "predicted time below 8 ms"
    std::string now;   ///< "35.1 ms": what it speaks of, in the goal's own units
    bool met = false;
};
/// The conditions of a goal that was set in the scene `start`, in another scene. BadInput where they have no value.
std::vector<Condition> conditions_of(const Expression& goal, const std::string& start, const std::string& scene,
                                     const Scenes& scenes, Model& model, Language l);
/// The goal in one line.
std::string goal_text(const Expression& goal, const std::string& start, const Scenes& scenes, const Model& model,
                      Language l);

}  // namespace lessons
