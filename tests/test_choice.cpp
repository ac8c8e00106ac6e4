// Rank correlation and choice of a tile, on lists small enough to count by hand.

#include <doctest/doctest.h>

#include <cmath>

#include "sim/choice.hpp"

using namespace sim;

namespace {

Candidate candidate(i64 tile, double measured, double predicted, double null = 1) {
    return {{tile, tile, tile}, measured, predicted, null};
}

}  // namespace

TEST_CASE("rank correlations of orders that agree, oppose, or differ in one pair") {
    const std::vector<double> up = {1, 2, 3, 4}, down = {9, 7, 5, 3}, swapped = {1, 3, 2, 4}, flat = {5, 5, 5, 5};
    CHECK(spearman(up, up) == doctest::Approx(1));
    CHECK(kendall(up, up) == doctest::Approx(1));
    CHECK(spearman(up, down) == doctest::Approx(-1));
    CHECK(kendall(up, down) == doctest::Approx(-1));
    CHECK(spearman(up, swapped) == doctest::Approx(0.8));                         // 1 - 6 * 2 / (4 * 15)
    CHECK(kendall(up, swapped) == doctest::Approx(4.0 / 6));                      // 5 pairs agree, 1 does not
    CHECK(kendall(up, {1, 2, 2, 3}) == doctest::Approx(5 / std::sqrt(6 * 5.0)));  // one tie
    CHECK_FALSE(spearman(up, flat).has_value());
    CHECK_FALSE(kendall(up, flat).has_value());
}

TEST_CASE("one tile is no choice") {
    CHECK_FALSE(judge_choices({}).has_value());
    CHECK_FALSE(judge_choices({{candidate(64, 10, 10)}}).has_value());
}

TEST_CASE("what each rule would have cost") {
    // Shape one: the model takes 64, half as fast as the best; shape two: it takes the best.
    const std::vector<Choice> shapes = {{candidate(64, 20, 1, 3), candidate(128, 10, 2, 2)},
                                        {candidate(64, 10, 1, 1), candidate(128, 40, 9, 1)}};
    const ChoiceSummary c = *judge_choices(shapes);
    CHECK(c.shapes == 2);
    CHECK(c.tiles == 4);
    CHECK(c.model.mean == doctest::Approx(0.75));
    CHECK(c.model.worst == doctest::Approx(0.5));
    CHECK(c.null.mean == doctest::Approx((1 + 0.625) / 2));  // equals in shape two: a coin decides
    CHECK(c.random.mean == doctest::Approx((0.75 + 0.625) / 2));
    CHECK(c.random.worst == doctest::Approx(0.625));
    REQUIRE(c.fixed);
    CHECK(c.fixed->mean == doctest::Approx(0.75));  // 64: 0.5 and 1
    CHECK_FALSE(c.model.spearman.has_value());      // two tiles have no rank worth the name
}

TEST_CASE("a tile that few shapes ran is not the fixed tile") {
    const std::vector<Choice> shapes = {{candidate(1, 10, 1), candidate(2, 20, 2)},
                                        {candidate(3, 10, 1), candidate(2, 20, 2)},
                                        {candidate(4, 10, 1), candidate(2, 20, 2)}};
    CHECK(judge_choices(shapes)->fixed->mean == doctest::Approx(0.5));
}
