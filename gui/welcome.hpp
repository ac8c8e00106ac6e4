#pragma once
// What meets a person at the first start, and the report for a teacher.

namespace gui {

class Lab;

/// The card with three doors: Learn, Explore, Measure; where asked for.
void draw_welcome(Lab&);
/// Where to write what was learnt; where asked for.
void draw_report(Lab&);

}  // namespace gui
