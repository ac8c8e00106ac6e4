// The fault drill: every planted bug is really there, is told by the counts that it should be told by and by no others,
// and is asked about in both languages.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "kernels/glass/faults.hpp"
#include "kernels/ladder.hpp"
#include "lessons/course.hpp"
#include "sim/error.hpp"
#include "sim/experiment.hpp"

using namespace kernels;
using glass::Counted;
using glass::Fault;

namespace {

const sim::Catalogue& devices() { return sim::Catalogue::builtin(); }
glass::Counts& counts() {
    static glass::Counts all(devices());
    return all;
}
const lessons::Lesson& drill(lessons::Language l = lessons::Language::en) {
    static const lessons::Course course(lessons::builtin_files(), devices());
    return *course.drill(l);
}
sim::Experiment scene_of(std::string_view fault) {
    for (const lessons::Step& s : drill().steps)
        if (s.fault == fault) return sim::parse_experiment(s.scene, devices());
    FAIL("no step asks about " << fault);
    return {};
}
/// The sound run and the faulty one of the step that asks about a fault.
struct Pair {
    const Counted &sound, &faulty;
    explicit Pair(std::string_view fault)
        : sound(counts().of(scene_of(fault))), faulty(counts().of(scene_of(fault), fault)) {
        CHECK(sound.ok());
        CHECK(sound.max_error < 1e-2);
    }
};

}  // namespace

TEST_CASE("drill: every planted bug changes one line of a rung and is asked about once, in both languages") {
    for (const lessons::Language l : {lessons::Language::en, lessons::Language::zh}) {
        std::multiset<std::string_view> asked;
        for (const lessons::Step& s : drill(l).steps)
            if (!s.fault.empty()) asked.insert(s.fault);
        CHECK(asked.size() == glass::faults().size());
        for (const Fault& f : glass::faults()) CHECK_MESSAGE(asked.count(f.id) == 1, f.id);
    }
    for (const Fault& f : glass::faults()) {
        CAPTURE(f.id);
        const auto changed = changed_lines(f);
        REQUIRE(changed.size() == 1);
        CHECK(changed[0].was != changed[0].becomes);
    }
}

TEST_CASE("drill: what a step runs was built in, so that it needs no compiler") {
    for (const Fault& f : glass::faults()) {
        CAPTURE(f.id);
        for (const DeviceKernel& k : kernels_of(resolved(scene_of(f.id)))) {
            Instance wanted = instance_of(k);
            wanted.epilogue = device::decided_at_run_time;
            CHECK(wanted == f.built.instance);
        }
    }
}

TEST_CASE("drill: a lost barrier races, by line, and its counts are the sound ones") {
    const Pair run("lost-barrier");
    const int barrier = changed_lines(*glass::find_fault("lost-barrier"))[0].line;
    CHECK_FALSE(run.faulty.findings.empty());
    for (const glass::Finding& f : run.faulty.findings) {
        CHECK(f.kind == glass::Finding::race);
        CHECK_FALSE(f.unfilled);
        CHECK(f.here.name() == "kernels/device/03_shared_tile.cuh");
        CHECK(std::max(f.here.line, f.there.line) < barrier);  // within the step that ends there
    }
    CHECK(run.faulty.sectors == run.sound.sectors);
    CHECK(run.faulty.wavefronts == run.sound.wavefronts);
    CHECK(run.faulty.sram == run.sound.sram);
}

TEST_CASE("drill: a wait that is too short reads what a copy may not have filled, and is right this time") {
    const Pair run("early-read");
    CHECK_FALSE(run.faulty.findings.empty());
    for (const glass::Finding& f : run.faulty.findings) CHECK(f.unfilled);
    CHECK(run.faulty.first_wrong.empty());
    CHECK(run.faulty.max_error == run.sound.max_error);
}

TEST_CASE("drill: the wrong swizzle costs wavefronts, on the lines that read fragments, and nothing else") {
    const Pair run("wrong-swizzle");
    CHECK(run.faulty.ok());
    CHECK(run.sound.wavefronts == run.sound.ideal_wavefronts);
    CHECK(run.faulty.wavefronts > 2 * run.faulty.ideal_wavefronts);
    CHECK(run.faulty.ideal_wavefronts == run.sound.ideal_wavefronts);
    CHECK(run.faulty.sectors == run.sound.sectors);
    CHECK(run.faulty.max_error == run.sound.max_error);
    int worse = 0;
    for (const glass::LineCount& l : run.faulty.lines) worse += l.wavefronts > l.ideal_wavefronts;
    CHECK(worse == 2);
}

TEST_CASE("drill: swapped lanes cost sectors and nothing else") {
    const Pair run("swapped-lanes");
    CHECK(run.faulty.ok());
    CHECK(run.faulty.sectors > 2 * run.sound.sectors);
    CHECK(run.faulty.max_error == run.sound.max_error);
}

TEST_CASE("drill: a step of K short is wrong everywhere by little work, without a race") {
    const Pair run("short-k");
    CHECK(run.faulty.findings.empty());
    CHECK_FALSE(run.faulty.first_wrong.empty());
    CHECK(run.faulty.l2.read_bytes < run.sound.l2.read_bytes);
    CHECK(run.faulty.l2.write_bytes == run.sound.l2.write_bytes);
}

TEST_CASE("drill: a mask that is not applied is wrong with every byte from L2 in place") {
    const Pair run("lost-mask");
    CHECK(run.faulty.findings.empty());
    CHECK_FALSE(run.faulty.first_wrong.empty());
    CHECK(run.faulty.l2 == run.sound.l2);
    CHECK(run.faulty.sram.read_bytes < run.sound.sram.read_bytes);
}

TEST_CASE("drill: a comparison tells what differs and keeps what does not") {
    const Fault& f = *glass::find_fault("wrong-swizzle");
    const glass::Comparison c = counts().compare(scene_of(f.id), f);
    CHECK(c.file == "kernels/device/async_operand.cuh");
    CHECK(std::count_if(c.lines.begin(), c.lines.end(), [](const auto& l) { return l.differs; }) == 2);
    for (const auto& l : c.lines) {
        CHECK_FALSE(l.source.empty());
        CHECK((l.wavefronts.find(" → ") != std::string::npos) == l.differs);
    }
    for (const auto& t : c.totals) CHECK((t.sound == t.faulty) == (t.name != "wavefronts"));
    CHECK_THROWS_AS(counts().of(scene_of(f.id), "lost-marbles"), sim::BadInput);
    CHECK_FALSE(counts().number(scene_of(f.id), "marbles").has_value());
}
