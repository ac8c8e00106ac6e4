// memwall_fuzz [--seconds N] [--seed S] [--target NAME]: damages valid texts and gives them to the readers until the
// time is up. The first finding is printed as a string literal and ends the run with exit code 1.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "tests/fuzz.hpp"

extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace {

constexpr unsigned longest_case = 20;  // s, sanitizers included: more is a hang

// The case at hand, for those that end the process rather than throw.
std::string current_text;
std::string_view current_target;

void print_case(const char* what) {
    const std::string text = fuzz::escaped(current_text);
    std::fprintf(stderr, "fuzz: FINDING in %.*s: %s\nfuzz: input: %s\n", static_cast<int>(current_target.size()),
                 current_target.data(), what, text.c_str());
    std::fflush(stderr);
}

void on_signal(int signal) {
    print_case(signal == SIGALRM ? "takes too long" : strsignal(signal));
    _exit(1);
}

[[noreturn]] void usage(const char* why) {
    std::fprintf(stderr, "fuzz: %s; usage: memwall_fuzz [--seconds N] [--seed S] [--target NAME]\n", why);
    std::exit(2);
}

std::uint64_t number(const char* text) {
    char* end = nullptr;
    const unsigned long long value = text ? std::strtoull(text, &end, 10) : 0;
    if (!text || end == text || *end) usage("a number was expected");
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    using Clock = std::chrono::steady_clock;
    double seconds = 10;
    std::uint64_t seed = std::random_device{}();
    std::string only;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--seconds") {
            seconds = static_cast<double>(number(argv[i + 1]));
        } else if (option == "--seed") {
            seed = number(argv[i + 1]);
        } else if (option == "--target" && argv[i + 1]) {
            only = argv[i + 1];
        } else {
            usage("an option is not known");
        }
    }
    std::printf("fuzz: seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback([] { print_case("a sanitizer's report, above"); });
        std::signal(SIGALRM, on_signal);
    } else {
        for (const int s : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGALRM}) std::signal(s, on_signal);
    }

    struct Tally {
        long long cases = 0, accepted = 0;
    };
    std::vector<const fuzz::Target*> chosen;
    for (const fuzz::Target& t : fuzz::targets())
        if (only.empty() || t.name == only) chosen.push_back(&t);
    if (chosen.empty()) usage("no target has that name");
    std::vector<Tally> tallies(chosen.size());

    const auto run = [&](std::size_t t, std::string text, bool must_be_read) {
        current_target = chosen[t]->name;
        current_text = std::move(text);
        bool accepted = false;
        std::string wrong;
        alarm(longest_case);
        try {
            wrong = chosen[t]->check(current_text, accepted);
        } catch (const std::exception& e) {
            wrong = std::string("an exception that is no BadInput: ") + e.what();
        }
        alarm(0);
        ++tallies[t].cases;
        tallies[t].accepted += accepted;
        if (wrong.empty() && must_be_read && !accepted) wrong = "a valid text was refused";
        if (wrong.empty()) return true;
        print_case(wrong.c_str());
        return false;
    };

    for (std::size_t t = 0; t < chosen.size(); ++t)
        for (const std::string& text : chosen[t]->corpus)
            if (!run(t, text, true)) return 1;
    const auto start = Clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    for (std::uint64_t i = 0; elapsed() < seconds; ++i)
        for (std::size_t t = 0; t < chosen.size(); ++t) {
            // The same case whichever targets are chosen.
            const auto place = static_cast<std::uint64_t>(chosen[t] - fuzz::targets().data());
            fuzz::Random random(seed + i * fuzz::targets().size() + place);
            if (!run(t, fuzz::mutate(chosen[t]->corpus, random), false)) {
                std::fprintf(stderr, "fuzz: seed %llu, round %llu\n", static_cast<unsigned long long>(seed),
                             static_cast<unsigned long long>(i));
                return 1;
            }
        }
    long long cases = 0;
    for (std::size_t t = 0; t < chosen.size(); ++t) {
        cases += tallies[t].cases;
        std::printf("fuzz: %-12.*s %9lld cases, %5.1f %% accepted\n", static_cast<int>(chosen[t]->name.size()),
                    chosen[t]->name.data(), tallies[t].cases,
                    100.0 * static_cast<double>(tallies[t].accepted) / static_cast<double>(tallies[t].cases));
    }
    std::printf("fuzz: no finding in %lld cases, %.0f cases/s, seed %llu\n", cases,
                static_cast<double>(cases) / elapsed(), static_cast<unsigned long long>(seed));
    return 0;
}
