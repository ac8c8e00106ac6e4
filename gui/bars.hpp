#pragma once
// What surrounds the views: menus, keys, the scene as a line, the headline numbers, the status line.

namespace gui {

class Lab;

/// Acts on the keys of the action table.
void handle_keys(Lab&);
void draw_menu_bar(Lab&);
/// The experiment as text, to be edited in place, with undo, redo and copy.
void draw_line(Lab&);
/// The experiment's line and under it bound, predicted and measured time.
void draw_scene_bar(Lab&);
/// Bound, predicted and measured time in one line, or in three where it is narrow.
void draw_headline(Lab&);
/// The newest message, else what the model leaves out.
void draw_status_bar(Lab&);
/// The list of keys and the list of what is not modelled, where asked for.
void draw_popups(Lab&);

}  // namespace gui
