// The program: the terminal it finds, and the lab where no verb is given.

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "cli/cli.hpp"
#include "sim/build_info.hpp"

#if MEMWALL_HAS_GUI
#include "gui/run.hpp"
#endif

namespace {

/// Columns to wrap prose to: the terminal's, within what reads well; 80 where the output is no terminal.
int columns() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return std::clamp<int>(size.ws_col, 60, 120);
}

/// Whether stdout is a pipe that nobody reads any more.
bool reader_left() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/// The window; where there is none, a line that says why and the same as text.
int open_lab(cli::Session& session) {
    std::string why;
#if MEMWALL_HAS_GUI
    if (gui::can_open(why)) {
        session.add_calibrated_cpu();
        const int exit = gui::run_lab({}, session.devices(), why);
        if (why.empty()) return exit;
    }
#else
    why = sim::build_info().window.why;
#endif
    session.err() << "memwall: no window here (" << why << "); this is `memwall explain` of the same scene\n";
    return cli::explain_default(session);
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough is no fault: writing fails and the program ends
    const cli::Terminal terminal{.out = std::cout,
                                 .err = std::cerr,
                                 .width = columns(),
                                 .progress = isatty(STDERR_FILENO) != 0,
                                 .interactive = true};
    const int exit = cli::main({argv + 1, argv + argc}, terminal, open_lab);
    if (std::cout.flush() || exit != cli::done || reader_left()) return exit;
    std::cerr << "memwall: the output could not be written\n";
    return cli::our_fault;
}
