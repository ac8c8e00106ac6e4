#include "sim/choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace sim {

namespace {

double mean(const std::vector<double>& v) {
    return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

/// Places in ascending order, ties sharing their mean place.
std::vector<double> ranks(const std::vector<double>& v) {
    std::vector<double> out;
    for (double x : v) {
        double below = 0, same = 0;
        for (double y : v) {
            below += y < x;
            same += y == x;
        }
        out.push_back(below + (same - 1) / 2);
    }
    return out;
}

std::vector<double> column(const Choice& c, double Candidate::*of) {
    std::vector<double> out;
    for (const Candidate& x : c) out.push_back(x.*of);
    return out;
}

double best_us(const Choice& c) {
    const auto v = column(c, &Candidate::measured_us);
    return *std::min_element(v.begin(), v.end());
}

Chooser of_efficiencies(const std::vector<double>& v) {
    return {mean(v), *std::min_element(v.begin(), v.end()), {}, {}};
}

/// Takes the tile with the least `score` of each shape; among equals a coin is thrown.
Chooser by_score(const std::vector<const Choice*>& shapes, double Candidate::*score) {
    std::vector<double> taken, rho, tau;
    for (const Choice* c : shapes) {
        const auto scores = column(*c, score), measured = column(*c, &Candidate::measured_us);
        const double least = *std::min_element(scores.begin(), scores.end());
        std::vector<double> equals;
        for (std::size_t i = 0; i < scores.size(); ++i)
            if (scores[i] == least) equals.push_back(best_us(*c) / measured[i]);
        taken.push_back(mean(equals));
        if (c->size() < 3) continue;
        if (const auto r = spearman(measured, scores)) rho.push_back(*r);
        if (const auto t = kendall(measured, scores)) tau.push_back(*t);
    }
    Chooser out = of_efficiencies(taken);
    if (!rho.empty()) out.spearman = mean(rho);
    if (!tau.empty()) out.kendall = mean(tau);
    return out;
}

}  // namespace

std::optional<double> spearman(const std::vector<double>& a, const std::vector<double>& b) {
    const auto x = ranks(a), y = ranks(b);
    const double mx = mean(x), my = mean(y);
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
    }
    if (xx == 0 || yy == 0) return std::nullopt;
    return xy / std::sqrt(xx * yy);
}

std::optional<double> kendall(const std::vector<double>& a, const std::vector<double>& b) {
    double same = 0, opposite = 0, tied_a = 0, tied_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = i + 1; j < a.size(); ++j) {
            const double product = (a[i] - a[j]) * (b[i] - b[j]);
            same += product > 0;
            opposite += product < 0;
            tied_a += a[i] == a[j];
            tied_b += b[i] == b[j];
        }
    const double pairs = static_cast<double>(a.size()) * (static_cast<double>(a.size()) - 1) / 2;
    const double scale = (pairs - tied_a) * (pairs - tied_b);
    if (scale <= 0) return std::nullopt;
    return (same - opposite) / std::sqrt(scale);
}

std::optional<ChoiceSummary> judge_choices(const std::vector<Choice>& shapes) {
    std::vector<const Choice*> several;
    for (const Choice& c : shapes)
        if (c.size() > 1) several.push_back(&c);
    if (several.empty()) return std::nullopt;
    ChoiceSummary s;
    s.shapes = static_cast<int>(several.size());
    s.model = by_score(several, &Candidate::predicted_us);
    s.null = by_score(several, &Candidate::null_score);
    std::vector<double> anyhow;
    std::map<std::tuple<i64, i64, i64>, std::vector<double>> fixed;
    for (const Choice* c : several) {
        s.tiles += static_cast<int>(c->size());
        std::vector<double> each;
        for (const Candidate& x : *c) {
            each.push_back(best_us(*c) / x.measured_us);
            fixed[x.tile].push_back(each.back());
        }
        anyhow.push_back(mean(each));
    }
    s.random = of_efficiencies(anyhow);
    for (const auto& [tile, efficiency] : fixed)
        if (2 * efficiency.size() >= several.size() && (!s.fixed || mean(efficiency) > s.fixed->mean))
            s.fixed = of_efficiencies(efficiency);
    return s;
}

}  // namespace sim
