#include <doctest/doctest.h>

#include "gui/redraw.hpp"

using gui::Redraw;

namespace {

/// Draws whatever is due from `now` on, without sleeping, and says how many frames that was.
int frames_due(Redraw& r, double now) {
    int n = 0;
    for (; r.due(now) && n < 100; ++n) r.drawn(now);
    return n;
}

}  // namespace

TEST_CASE("when nothing happens no frame is ever due") {
    Redraw r;
    CHECK(frames_due(r, 0) == 3);  // the first frames lay the windows out
    CHECK_FALSE(r.due(1));
    CHECK_FALSE(r.due(1e9));
    CHECK(r.wait(1) == Redraw::never);
}

TEST_CASE("input draws until the widgets have settled, and once more for a tooltip") {
    Redraw r;
    frames_due(r, 0);
    r.input(10);
    CHECK(r.wait(10) == 0);
    CHECK(frames_due(r, 10) == 3);
    CHECK(r.wait(10) == doctest::Approx(0.5));
    CHECK_FALSE(r.due(10.4));
    CHECK(frames_due(r, 10.6) == 1);
    CHECK(r.wait(10.6) == Redraw::never);
}

TEST_CASE("new data is drawn at once and then rests") {
    Redraw r;
    frames_due(r, 0);
    r.data();
    CHECK(frames_due(r, 5) == 2);
    CHECK(r.wait(5) == Redraw::never);
}

TEST_CASE("motion draws at its own pace and the earliest alarm wins") {
    Redraw r;
    frames_due(r, 0);
    r.at(2);
    r.at(1);
    CHECK(r.wait(0.25) == doctest::Approx(0.75));
    CHECK_FALSE(r.due(0.999));
    CHECK(r.due(1));
    r.drawn(1);
    CHECK(r.wait(1) == Redraw::never);
}
