#pragma once
// What can be done by menu and by key, as a table: the menus, the keys and the list of keys are all read from it.

#include <imgui.h>

#include <span>

#include "gui/i18n.hpp"

namespace gui {

class Lab;

enum class Menu { file, edit, view, step, learn, help };

struct Action {
    Menu menu;
    Str name;
    ImGuiKeyChord key;  // 0: menu only
    const char* shown;  // the key as written; null: menu only
    void (*act)(Lab&);
    bool (*enabled)(const Lab&) = nullptr;  // null: always
    bool (*checked)(const Lab&) = nullptr;  // null: no tick
    bool repeats = false;                   // held down
    bool while_typing = false;              // also while the keyboard goes to a text field
    bool line_before = false;               // a line above it in the menu
};
std::span<const Action> actions();

}  // namespace gui
