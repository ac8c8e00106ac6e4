#pragma once
// The ladder of CPU kernels and one way to run any of them.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/cpu/matmul.hpp"
#include "kernels/matrix.hpp"
#include "kernels/op.hpp"
#include "sim/error.hpp"
#include "sim/tiling.hpp"

namespace kernels::cpu {

/// A kernel family. Its source is the file of that name.
struct Rung {
    std::string_view id, idea;
    bool tiled;     ///< the tile matters
    bool threaded;  ///< runs on more than one thread
    std::span<const sim::Pass> passes;
    std::span<const sim::Fusion> fusions;
    std::span<const sim::Dtype> dtypes;
    void (*matmul)(const Matmul&, const Context&);
};

/// Every rung, in reading order.
std::span<const Rung> rungs();
/// The rung of that id, or null.
const Rung* find_rung(std::string_view id);

/// How an operation is run.
struct Config {
    const Rung* rung = &rungs().back();
    sim::Tile tile{};  ///< of the operation's pass, of forward under train; zeros = usual_tile
    std::optional<sim::Tile> tile_dgrad{}, tile_wgrad{};  ///< under train; none = usual_tile
    int threads = 0;                                      ///< 0 = every core the rung can use
    const Isa* instructions = &isa();

    int resolved_threads() const;
    /// The tile that runs in `pass` of an operation: where the rung asks for whole register tiles, rounded up to them.
    sim::Tile resolved_tile(const Op& op, sim::Pass pass) const;
};

/// How an experiment asks for it: its rung (the last where none is named), tiles and threads.
Config config_of(const sim::Experiment& e);

/// The tile that suits packed matmuls on most processors: b (bk,bn) in the last-level cache, a (bm,bk) in a core's own.
sim::Tile usual_tile();

/// Whether a rung can run the operation here.
sim::Fit fits(const Op& op, const Config& config);

/// Most bytes a run allocates beside its operands: packed tiles, partial sums.
double scratch_bytes(const Op& op, const Config& config);

/// One kernel of a run by its name in the design (matmul relu mask dgrad wgrad) and the time it took.
struct KernelTime {
    std::string_view name;
    double seconds = 0;
};

/// Runs the operation once on operands that hold what it needs (OperandSet(op) does) and returns its kernels in order.
/// What was stopped midway leaves its outputs unfinished.
std::vector<KernelTime> execute(const Op& op, const Operands& operands, const Config& config, Control& control);

/// Multiply-adds of the operation, the unit of Control::advance.
double multiply_adds(const Op& op);

}  // namespace kernels::cpu
