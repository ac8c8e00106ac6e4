// Runs the test cases and closes with one line that counts them: `N passed, N failed, N skipped`.
// Cases that take more than about a second belong to TEST_SUITE("slow"): the sanitizer build leaves them out
// (--test-suite-exclude=slow). Those that take minutes belong to TEST_SUITE("nightly"), which only `memwall_tests --all`
// runs, or one that names it.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/skips.hpp"

namespace {

/// Keeps what doctest counted; it prints nothing itself.
struct Counts : doctest::IReporter {
    static inline doctest::TestRunStats run = {};
    explicit Counts(const doctest::ContextOptions&) {}
    void test_run_end(const doctest::TestRunStats& stats) override { run = stats; }
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("counts", 1, Counts);

}  // namespace

#ifdef __SANITIZE_ADDRESS__
/// Keeps every library that a test opens (OpenGL drivers, NVRTC): once unloaded, what its globals hold looks leaked.
extern "C" int dlclose(void*) { return 0; }
#endif

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    const std::vector<std::string> words(argv + 1, argv + argc);
    const bool all = words == std::vector<std::string>{"--all"};
    if (!all && std::none_of(words.begin(), words.end(),
                             [](const std::string& w) { return w.find("nightly") != std::string::npos; }))
        context.addFilter("test-suite-exclude", "nightly");
    int exit_code = context.run();
    if (context.shouldExit()) return exit_code;

    const auto& run = Counts::run;
    int failed = static_cast<int>(run.numTestCasesFailed);
    const int passed = static_cast<int>(run.numTestCasesPassingFilters) - failed - skips::skipped();
    const bool full = words.empty() || all;
    if (const std::string lines = full ? skips::disagreement() : ""; !lines.empty()) {
        std::fputs(lines.c_str(), stdout);
        ++failed;
        exit_code = 1;
    }
    std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skips::skipped());
    return exit_code;
}
