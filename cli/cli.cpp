#include "cli/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <iostream>
#include <new>

#include "cli/text.hpp"
#include "kernels/cuda/compile.hpp"
#include "kernels/cuda/runtime.hpp"
#include "sim/build_info.hpp"
#include "sim/text.hpp"

namespace cli {

const std::string* Arguments::value(std::string_view option) const {
    const auto at = options.find(std::string(option));
    return at == options.end() ? nullptr : &at->second;
}

std::optional<int> Arguments::count(std::string_view option) const {
    const std::string* text = value(option);
    if (!text) return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size() || number < 1)
        throw sim::BadInput(
            fmt::format("{} {} is no count; expected a whole number from 1 to 2147483647", option, sim::quote(*text)));
    return number;
}

namespace {

const Verb* const verbs[] = {&explain_verb, &predict_verb, &compare_verb, &sweep_verb,  &run_verb,     &validate_verb,
                             &devices_verb, &kernels_verb, &train_verb,   &export_verb, &lint_verb,    &screenshot_verb,
                             &lessons_verb, &lesson_verb,  &drill_verb,   &quiz_verb,   &glossary_verb};

const std::vector<Option> common_options = {
    {"--device-dir", "DIR", "add the device files (*.toml) of a folder; may be given more than once"},
    {"--help", "", "say what there is, and end"},
};

std::string option_text(const Option& o) {
    return std::string(o.name) + (o.value.empty() ? "" : " ") + std::string(o.value);
}

std::string options_help(std::vector<Option> options, int width) {
    options.insert(options.end(), common_options.begin(), common_options.end());
    Table table("ll");
    for (const Option& o : options) table.row({option_text(o), std::string(o.what)});
    return table.text(2, width);
}

std::string usage(const Verb& verb) {
    std::string line = fmt::format("memwall {}", verb.name);
    if (!verb.operands.empty()) line += fmt::format(" {}", verb.operands);
    for (const Option& o : verb.options) line += fmt::format(" [{}]", option_text(o));
    return line;
}

std::string help(const Verb& verb, int width) {
    return wrap(usage(verb), width, 0, 8) + wrap(verb.what, width) + '\n' + options_help(verb.options, width);
}

std::string help(int width) {
    std::string out = "memwall - move a tile; watch the bytes\n\n";
    Table table("ll");
    table.row({"memwall", "open the lab (a window); with no display, explain a known case as text"});
    for (const Verb* v : verbs) table.row({fmt::format("memwall {}", v->name), std::string(v->what)});
    out += table.text(0, width) + "\nEvery verb takes\n" + options_help({}, width);
    out += "\nAn experiment is one line of words:\n";
    out += fmt::format("  memwall explain \"{}\"\n", default_experiment);
    out += wrap("`memwall VERB --help` lists the options of one verb; `memwall devices` the machines to ask about.",
                width);
    return out + "\nExit codes: 0 done, 1 our fault, 2 bad input, 3 does not fit, 4 not here.\n";
}

std::string version() {
    const sim::BuildInfo& b = sim::build_info();
    const auto part = [](const sim::Fit& f) { return f.ok() ? std::string("yes") : "no (" + f.why + ")"; };
    return fmt::format("memwall {}{}{}, {}\nwindow: {}\nCUDA compiler: {}\nNVIDIA GPU: {}\n", b.version,
                       b.git.empty() ? "" : " ", b.git, b.compiler, part(b.window),
                       part(kernels::cuda::compiler_available()), part(kernels::cuda::available()));
}

/// What CLI11 read: the verb, or null where none was named.
struct Command {
    const Verb* verb = nullptr;
    Arguments arguments;
    std::vector<std::string> device_folders;
    bool help = false, version = false;
};

/// The verb that `word` names; BadInput for a word that is none.
const Verb& find_verb(const std::string& word) {
    std::vector<std::string_view> names;
    for (const Verb* v : verbs) {
        if (v->name == word) return *v;
        names.push_back(v->name);
    }
    throw sim::BadInput(fmt::format("{} is no verb of memwall (see `memwall --help`){}", sim::quote(word),
                                    sim::did_you_mean(word, names)));
}

/// Reads the options that a verb (or no verb) takes. CLI11 splits "--a=b", joins values to their options and sorts out
/// what is left; its errors are put in words of ours by the caller.
Command read(const std::vector<std::string>& words) {
    Command command;
    // The verb is the first word that is neither an option nor the value of --device-dir.
    std::size_t at = 0;
    while (at < words.size() && words[at].starts_with("-")) at += words[at] == "--device-dir" ? 2 : 1;
    if (at < words.size()) command.verb = &find_verb(words[at]);

    CLI::App app;
    app.set_help_flag();
    app.add_flag("-h,--help", command.help);
    app.add_option("--device-dir", command.device_folders)->type_size(1)->allow_extra_args(false);
    if (!command.verb) {
        app.add_flag("--version", command.version);
    } else {
        app.add_option("WORDS", command.arguments.words);
    }
    std::map<std::string, std::vector<std::string>> values;
    if (command.verb) {
        for (const Option& o : command.verb->options) {
            const std::string name(o.name);
            if (o.value.empty()) {
                app.add_flag_callback(name, [&command, name] { command.arguments.options[name] = ""; });
            } else {
                app.add_option(name, values[name])->type_size(1)->allow_extra_args(false);
            }
        }
    }
    std::vector<std::string> rest = words;
    if (command.verb) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
    std::reverse(rest.begin(), rest.end());  // as CLI11 wants them
    const std::string place = command.verb ? fmt::format("memwall {}", command.verb->name) : "memwall";
    try {
        app.parse(rest);
    } catch (const CLI::ExtrasError&) {
        const auto unknown = std::find_if(words.begin(), words.end(), [&](const std::string& w) {
            return w.starts_with("-") && !app.get_option_no_throw(w.substr(0, w.find('=')));
        });
        throw sim::BadInput(fmt::format("{} is no option of `{}`; `{} --help` lists them",
                                        sim::quote(unknown == words.end() ? words.back() : *unknown), place, place));
    } catch (const CLI::ArgumentMismatch& e) {
        std::string name = e.what();
        name = name.substr(0, name.find_first_of(": "));
        throw sim::BadInput(fmt::format("{} needs a value; see `{} --help`", name, place));
    } catch (const CLI::ParseError& e) {
        std::string line = e.what();
        std::replace(line.begin(), line.end(), '\n', ' ');
        throw sim::BadInput(fmt::format("{}; see `{} --help`", line, place));
    }
    for (const auto& [name, said] : values) {
        if (said.empty()) continue;
        if (said.size() > 1)
            throw sim::BadInput(fmt::format("{} was said {} times; once is enough", name, said.size()));
        command.arguments.options[name] = said[0];
    }
    return command;
}

/// Joins a sentence typed without quotes, and holds the verb to the operands it takes.
void check_operands(const Verb& verb, Arguments& arguments) {
    auto& words = arguments.words;
    if (verb.joins && words.size() > 1) {
        std::string sentence = words[0];
        for (std::size_t i = 1; i < words.size(); ++i) sentence += ' ' + words[i];
        words = {sentence};
    }
    if (words.size() < verb.least)
        throw sim::BadInput(fmt::format("{} needs {}; usage: {}", verb.name, verb.operands, usage(verb)));
    if (words.size() > verb.most)
        throw sim::BadInput(
            fmt::format("{} is one word too many; usage: {}", sim::quote(words[verb.most]), usage(verb)));
}

int run(const std::vector<std::string>& words, const Terminal& terminal, const std::function<int(Session&)>& lab) {
    Command command = read(words);
    if (command.help) {
        terminal.out << (command.verb ? help(*command.verb, terminal.width) : help(terminal.width));
        return done;
    }
    if (command.version) {
        terminal.out << version();
        return done;
    }
    if (command.verb) check_operands(*command.verb, command.arguments);
    Session session(terminal, command.device_folders);
    return command.verb ? command.verb->run(command.arguments, session) : lab(session);
}

/// Any error as the one line it must be.
std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return "memwall: " + text + '\n';
}

}  // namespace

int main(const std::vector<std::string>& words, const Terminal& terminal, const std::function<int(Session&)>& lab) {
    try {
        return run(words, terminal, lab);
    } catch (const sim::BadInput& e) {
        terminal.err << one_line(e.what());
        return bad_input;
    } catch (const NotAvailable& e) {
        terminal.err << one_line(e.what());
        return not_available;
    } catch (const std::bad_alloc&) {
        terminal.err << "memwall: not enough memory for this\n";
        return our_fault;
    } catch (const std::exception& e) {
        terminal.err << one_line(fmt::format("a fault of memwall itself: {}", e.what()));
        return our_fault;
    }
}

int main(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
    return main(words, Terminal{out, err}, explain_default);
}

}  // namespace cli
