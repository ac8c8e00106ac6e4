#pragma once
// One experiment as a value and as one line of text: what the command line, lessons, tests and the clipboard share.
// parse(to_string(e)) == e for every e that parse can return.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/device.hpp"
#include "sim/tiling.hpp"

namespace sim {

enum class Precision { standard, high, highest };
enum class L2Start { cold, warm };
std::string_view to_string(Precision);
std::string_view to_string(L2Start);
std::string_view to_string(Pitch);

struct Schedule {
    enum Kind { data_parallel, persistent, split_k, stream_k };
    Kind kind = data_parallel;
    int splits = 1;  ///< S of split_k:S
    bool operator==(const Schedule&) const = default;
};

/// Device + layer + pass + fusion + rung + tiling + schedule. Every field holds its resolved value: what a line leaves
/// out got the usual value for the device kind and dtype when it was parsed. Fields that do not apply to the device's
/// kind keep the value given here.
struct Experiment {
    std::string device;
    Dense dense;
    Pass pass = Pass::forward;
    Fusion fusion = Fusion::none;
    Residual residual = Residual::y;
    bool accumulate = false;                     ///< wgrad adds to an f32 dW
    bool drelu = false;                          ///< upstream dgrad masks dX by X > 0 for the layer below
    bool in_place = false;                       ///< an elementwise pass overwrites its input
    Tile tile;                                   ///< of the pass; of forward under train
    std::optional<Tile> tile_dgrad, tile_wgrad;  ///< train only; nullopt = the best

    std::string rung;  ///< empty: none named
    Engine engine = Engine::simt;
    Pipeline pipeline = Pipeline::none;
    Consumers consumers = Consumers::cooperative;
    int warps = 0;        ///< warps a CTA; 0 = from the tile
    Shape2 warp, thread;  ///< warp tile, thread tile
    int stages = 1;
    Shape2 cluster{1, 1};
    int ctas = 0;  ///< resident CTAs an SM; 0 = the occupancy rules
    Raster raster;
    Order order = Order::mnk;
    Schedule schedule;
    int sms = 0;      ///< SMs used; 0 = all
    int buffers = 0;  ///< copies of each tile in VMEM; 0 = auto
    i64 vmem = 0;     ///< bytes of scoped VMEM; 0 = the device's default
    Precision precision = Precision::standard;
    int threads = 0;  ///< CPU threads; 0 = all cores
    L2Start l2 = L2Start::cold;
    std::map<std::string, std::string> traits;  ///< physics beyond the other words (facts of a recorded row)

    bool operator==(const Experiment&) const = default;
};

/// Reads the text form; word order is free after the device. Throws BadInput naming the offending word and what was
/// expected there: unknown word or device, a size outside 1..2^31-1, a word said twice or one that does not apply to
/// the device kind or pass, a rung that clashes with its engine, work beyond 2^63 operations or bytes.
Experiment parse_experiment(std::string_view text, const Catalogue& devices);

/// The canonical line: words that have their usual value are left out (the tile never is).
std::string to_string(const Experiment& e, const Catalogue& devices);

/// The usual experiment for a device: what a line of just "DEVICE MxNxK DTYPE PASS FUSION" means.
Experiment usual_experiment(const Device& device, const Dense& dense, Pass pass, Fusion fusion);

/// The experiment of one pass of `e` (forward, dgrad or wgrad) with that pass's tile. Not for train's own tile_*
/// "best".
Experiment single_pass(const Experiment& e, Pass pass);

/// An experiment and what is being looked at: "EXPERIMENT | step 12 select y 3 4 view explore vs (EXPERIMENT)".
struct Scene {
    Experiment experiment;
    i64 step = 0;
    struct Selection {
        std::string operand;   ///< x w y …; empty = nothing selected
        i64 row = 0, col = 0;  ///< tile indices
        bool operator==(const Selection&) const = default;
    } select;
    std::string view = "explore";  ///< learn, explore or measure
    std::optional<Experiment> baseline;
    bool operator==(const Scene&) const = default;
};
Scene parse_scene(std::string_view text, const Catalogue& devices);
std::string to_string(const Scene& s, const Catalogue& devices);

}  // namespace sim
