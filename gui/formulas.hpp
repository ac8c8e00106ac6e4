#pragma once
// "How was this computed?": the dialog that every headline number opens.

#include "sim/formula.hpp"

namespace gui {

class Lab;

/// The dialog, where asked for: a number a heading, its formula with the scene's values, the metric that checks it.
void draw_formulas(Lab& lab);
/// A click on the item before asks how that number came about.
void asks_formula(Lab& lab, sim::Formula::Number number);

}  // namespace gui
