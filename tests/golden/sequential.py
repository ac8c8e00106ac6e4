"""Sequential machines: one held tile an operand, walked and in closed form."""
import itertools
import math
from collections import Counter

from counting import F32, SHAPES, Case, Pass, extent, kernels, to_bytes, trips


def sequential_walk(kernel, order):
    """Bits moved while the grid is walked in `order` and one tile of each operand is held."""
    bits, size, tile = Counter(), dict(zip("mnk", kernel.dims)), dict(zip("mnk", kernel.tile))
    count = {a: trips(size[a], tile[a]) for a in "mnk"}
    held, visited, reduced = {}, set(), Counter()

    def area(axes, at):
        return math.prod(extent(size[a], tile[a], at[a]) for a in axes)

    def leave_output():
        """A tile whose reduction is not complete leaves as an f32 partial sum."""
        at = held["output"]
        done = reduced[at] == count["k"]
        for tensor in kernel.writes if done else kernel.writes[:1]:
            bits[tensor.operand, "write"] += area("mn", dict(zip("mn", at))) * (tensor.bits if done else F32)
        if done:
            for tensor in kernel.epilogue:
                bits[tensor.operand, "read"] += area("mn", dict(zip("mn", at))) * tensor.bits

    for point in itertools.product(*(range(count[a]) for a in order)):
        at = dict(zip(order, point))
        for tensor, axes in kernel.loads:  # fetched when its index differs from the one held
            index = at[axes[0]], at[axes[1]]
            if held.get(tensor) != index:
                bits[tensor.operand, "read"] += area(axes, at) * tensor.bits
                held[tensor] = index
        index = at["m"], at["n"]
        if held.get("output") != index:
            if "output" in held:
                leave_output()
            held["output"] = index
            if index in visited:  # the first visit reads nothing
                bits[kernel.writes[0].operand, "read"] += area("mn", at) * F32
            visited.add(index)
        reduced[index] += 1
    leave_output()
    return bits


def sequential_closed_form(kernel, order):
    bits, size = Counter(), dict(zip("mnk", kernel.dims))
    count = {a: trips(s, t) for a, s, t in zip("mnk", kernel.dims, kernel.tile)}
    loops = [a for a in order if count[a] > 1]  # a dimension of one trip is no loop

    def times(axes):
        """Trips of every foreign loop outside the innermost own loop; with no own loop left: once."""
        innermost = max((i for i, a in enumerate(loops) if a in axes), default=0)
        return math.prod(count[a] for a in loops[:innermost] if a not in axes)

    for tensor, axes in kernel.loads:
        bits[tensor.operand, "read"] += size[axes[0]] * size[axes[1]] * tensor.bits * times(axes)
    area, again = size["m"] * size["n"], times("mn") - 1
    bits[kernel.writes[0].operand, "write"] += area * F32 * again
    bits[kernel.writes[0].operand, "read"] += area * F32 * again
    for tensor in kernel.writes:
        bits[tensor.operand, "write"] += area * tensor.bits
    for tensor in kernel.epilogue:
        bits[tensor.operand, "read"] += area * tensor.bits
    return bits


def elementwise_bits(kernel):
    """A second pass over the matrix: each input read once, each output written once."""
    area = kernel.dims[0] * kernel.dims[1]
    return Counter({(t.operand, "read"): area * t.bits for t in kernel.reads}) + \
        Counter({(t.operand, "write"): area * t.bits for t in kernel.writes})


def text(case, order):
    words = ["scratchpad"] + [f"batch {case.batch}"] * (case.batch > 1) + [f"{case.m}x{case.n}x{case.k}", case.dtype]
    words += [f"out {case.out}"] * (case.out != default_out(case.dtype)) + [case.pass_, case.fusion]
    words += [f"residual {case.residual}"] * bool(case.residual)
    if case.fusion == "upstream" and case.pass_ != "wgrad":
        words.append("drelu " + ("yes" if case.drelu else "no"))
    tile = {name: "x".join(map(str, t)) for name, t in case.tiles.items()}
    words += [f"tile {tile['forward']} tile.dgrad {tile['dgrad']} tile.wgrad {tile['wgrad']}"
              if case.pass_ == "train" else f"tile {tile[case.pass_]}"]
    return " ".join(words + [f"order {order}"])


def default_out(dtype):
    return "bf16" if dtype == "e4m3" else dtype


def sequential_cases():
    """(case, order): all trip counts 1..3 for the simplest and the richest run of a pass, a few for the others."""
    every = list(itertools.product((1, 2, 3), repeat=3))
    few = [(2, 2, 2), (1, 2, 3), (2, 1, 3), (2, 3, 1), (3, 2, 3)]
    tile = 16, 24, 8  # of the pass's own matmul
    runs = {  # pass: (fusion, residual, drelu, trips)
        "forward": [("none", "", False, every), ("unfused", "", False, few), ("fused", "", False, few),
                    ("fused", "mask", False, few)],
        "dgrad": [("none", "", False, few), ("unfused", "y", False, few), ("unfused", "mask", False, few),
                  ("fused", "y", False, few), ("fused", "mask", False, every), ("upstream", "", False, few[:1]),
                  ("upstream", "y", True, few), ("upstream", "mask", True, few)],
        "wgrad": [("none", "", False, few), ("unfused", "y", False, few), ("unfused", "mask", False, few),
                  ("fused", "y", False, few), ("fused", "mask", False, every), ("upstream", "", False, few[:1])],
    }
    types = [("f32", "f32"), ("f32", "f32"), ("bf16", "bf16"), ("bf16", "f32"), ("e4m3", "bf16")]
    number = 0
    for pass_, rows in runs.items():
        for fusion, residual, drelu, counts in rows:
            for count in counts:
                ragged = number % 2
                dims = [c * t - cut * ragged for c, t, cut in zip(count, tile, (5, 7, 3))]
                size = dict(zip(SHAPES[pass_][0], dims))
                dtype, out = types[number % 5]
                case = Case(pass_, fusion, residual, drelu, 1, size["m"], size["n"], size["k"], dtype, out,
                            {pass_: tile})
                number += 1
                for order in map("".join, itertools.permutations("mnk")):
                    yield case, order
    tilings = [{"forward": (16, 24, 8), "dgrad": (16, 8, 24), "wgrad": (8, 24, 16)},
               {"forward": (32, 16, 16), "dgrad": (16, 40, 32), "wgrad": (24, 16, 64)}]
    for fusion, residual, drelu in [("unfused", "y", False), ("unfused", "mask", False), ("fused", "y", False),
                                    ("fused", "mask", False), ("upstream", "", False), ("upstream", "y", True),
                                    ("upstream", "mask", True)]:
        for tiles, (m, n, k) in zip(tilings, [(48, 48, 24), (61, 55, 37)]):
            for order in ("mnk", "nkm", "kmn", "knm"):
                yield Case("train", fusion, residual, drelu, 1, m, n, k, "f32", "f32", tiles), order
                yield Case("train", fusion, residual, drelu, 1, m, n, k, "bf16", "bf16", tiles), order
    for pass_, fusion, residual in [("forward", "unfused", ""), ("forward", "fused", "mask"), ("wgrad", "fused", "y")]:
        for order in ("mnk", "kmn"):  # independent problems: bytes x batch
            yield Case(pass_, fusion, residual, False, 3, 48, 40, 24, "f32", "f32", {pass_: (16, 24, 8)}), order


def sequential():
    yield "experiment operand level read_bytes write_bytes".split()
    for case, order in sequential_cases():
        total = Counter()
        for kernel in kernels(case):
            if isinstance(kernel, Pass):
                bits = elementwise_bits(kernel)
            else:
                bits = sequential_walk(kernel, order)
                assert +bits == +sequential_closed_form(kernel, order), (text(case, order), kernel.name)
            total += bits
        for operand in sorted({operand for operand, _ in total}):
            yield [text(case, order), operand, "dram"] + \
                [to_bytes(case.batch * total[operand, way]) for way in ("read", "write")]
