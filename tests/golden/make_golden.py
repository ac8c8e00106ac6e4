#!/usr/bin/env python3
"""Golden tables for orders, bytes, mask layout and lower bounds, derived from the counting rules alone.

Shares no code with sim/, so that an error there cannot cancel here. `make_golden.py` writes the tables beside itself;
`make_golden.py --check` regenerates them in memory, fails on a difference and also confirms tests/data/lru-misses.csv.
Weights are counted in bits, because an element of a mask is one bit.
"""
import csv
import itertools
import math
import struct
import sys
from collections import Counter, OrderedDict
from pathlib import Path

sys.dont_write_bytecode = True

from counting import BITS, Case, own_dims, tile_at, to_bytes, trips, walk_raster  # noqa: E402
from gpu import gpu  # noqa: E402
from sequential import sequential  # noqa: E402
from stream_k import stream_k  # noqa: E402

HERE = Path(__file__).parent


# ---- Orders ---------------------------------------------------------------------------------------------------------

def orders():
    yield "raster tm tn index row col".split()
    grids = [(1, 1), (1, 7), (7, 1), (3, 4), (5, 3), (6, 6), (9, 4), (10, 3)]
    for raster in "along_n along_m grouped:1 grouped:2 grouped:3 grouped:8".split():
        for tm, tn in grids:
            walk = [tile_at(raster, tm, tn, i) for i in range(tm * tn)]
            assert walk == walk_raster(raster, tm, tn)
            for i, (row, col) in enumerate(walk):
                yield [raster, tm, tn, i, row, col]


# ---- Mask layout ----------------------------------------------------------------------------------------------------

def positive(bits):
    """Y > 0 from the stored f32: sign clear, not zero, not NaN; a denormal is positive."""
    return 0 < bits <= 0x7F800000


def mask_row(row):
    """Bit j of a row is byte j / 8, bit j % 8 (least significant first); rows are padded to 128 bits."""
    out = bytearray(trips(len(row), 128) * 16)
    for j, bits in enumerate(row):
        assert positive(bits) == (struct.unpack(">f", bits.to_bytes(4, "big"))[0] > 0)
        out[j // 8] |= positive(bits) << j % 8
    assert int.from_bytes(out, "little") == sum(positive(bits) << j for j, bits in enumerate(row))
    return out.hex()


def mask():
    yield "name rows cols y_f32_hex mask_hex".split()
    special = [0x3F800000, 0x00000000, 0x80000000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7F800000, 0xFF800000,
               0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0xBF800000, 0x7F7FFFFF, 0xFFFFFFFF, 0x40490FDB]

    def pick(rows, cols, step):
        return [[special[(i * 5 + j * step + j // 16) % 16] for j in range(cols)] for i in range(rows)]

    one, zero = 0x3F800000, 0
    cases = {"one": [[one]], "special": [special], "first": [[one] + [zero] * 15], "eighth": [[zero] * 7 + [one, one]],
             "row_of_127": pick(1, 127, 1), "row_of_128": pick(1, 128, 3), "row_of_129": pick(2, 129, 1),
             "ragged": pick(3, 21, 7), "column": pick(5, 1, 1), "all": [[one] * 130] * 2, "nothing": [[zero] * 9] * 2}
    for name, y in cases.items():
        yield [name, len(y), len(y[0]), "".join(f"{bits:08x}" for row in y for bits in row),
               "".join(map(mask_row, y))]


# ---- Lower bounds ---------------------------------------------------------------------------------------------------

def compulsory(case):
    """The operation's own operands, whatever the fusion; Z, dZ and partials are never compulsory."""
    d, o = BITS[case.dtype], BITS[case.out]
    x, w, y = case.m * case.k * d, case.k * case.n * d, case.m * case.n * o
    residual = {"": 0, "y": y, "mask": case.m * case.n}[case.residual]
    bits = {"forward": [x, w, y], "dgrad": [y, residual, w, x], "wgrad": [x, y, residual, w],
            "train": [x, w, y, y, x, w]}[case.pass_]  # train: X W dY in, Y dX dW out, each once
    return case.batch * sum(map(to_bytes, bits))


def bounds():
    yield "pass residual batch m n k dtype out fast_elements compulsory_bytes io_bytes bound_bytes".split()
    cases = [  # pass, residual, (m, n, k), dtype, out, S
        ("forward", "", size, "bf16", "bf16", s)
        for size in [(8192, 8192, 8192), (4096, 4096, 128), (1024, 65536, 1), (1, 1, 1), (333, 257, 129)]
        for s in (1 << 8, 1 << 16, 40_000_000)] + [
        ("forward", "", (8192, 8192, 8192), "f32", "f32", 28_000_000),
        ("forward", "", (512, 512, 512), "f32", "f32", 1 << 24),
        ("forward", "", (4096, 4096, 4096), "e4m3", "bf16", 50_000_000),
        ("forward", "", (4096, 4096, 4096), "bf16", "f32", 1 << 20),
        ("forward", "", (2048, 2048, 8192), "f16", "f16", 114_688),
        ("forward", "mask", (2048, 2048, 2048), "bf16", "bf16", 1 << 30)] + [
        (pass_, residual, (2000, 3000, 1000), "bf16", "bf16", s)
        for pass_ in ("dgrad", "wgrad") for residual in ("y", "mask") for s in (1 << 14, 1 << 30)] + [
        ("dgrad", "mask", (33, 17, 9), "f32", "f32", 64), ("wgrad", "mask", (33, 17, 9), "bf16", "f32", 64)]
    cases = [(Case(pass_, "", residual, False, 1, *size, dtype, out, {}), fast)
             for pass_, residual, size, dtype, out, fast in cases]
    cases.append((Case("forward", "", "", False, 5, 512, 256, 128, "bf16", "bf16", {}), 1 << 12))
    for case, fast in cases:
        rows, cols, red = own_dims(case.pass_, case.m, case.n, case.k)
        element = min(BITS[case.dtype], BITS[case.out]) // 8  # bytes of the narrowest operand
        io = case.batch * element * (2 * rows * cols * red / math.sqrt(fast) + rows * cols)
        must = compulsory(case)
        assert must >= element * case.batch * (rows * cols + cols * red + rows * red)
        yield [case.pass_, case.residual or "-", case.batch, case.m, case.n, case.k, case.dtype, case.out, fast,
               must, f"{io:.3f}", f"{max(must, io):.3f}"]


# ---- Recorded cache misses ------------------------------------------------------------------------------------------

def touches(m, n, k, bm, bn, bk, order, inner):
    """(matrix, element, is a store) of a tiled C += A B: the stream that tests/data/README.md describes."""
    size, tile = {"m": m, "n": n, "k": k}, {"m": bm, "n": bn, "k": bk}
    for origin in itertools.product(*(range(0, size[a], tile[a]) for a in order)):
        span = {a: range(o, min(o + tile[a], size[a])) for a, o in zip(order, origin)}
        if inner == "ikj":
            for i in span["m"]:
                for kk in span["k"]:
                    yield 0, i * k + kk, False
                    for j in span["n"]:
                        yield 1, kk * n + j, False
                        yield 2, i * n + j, False
                        yield 2, i * n + j, True
        else:
            for i in span["m"]:
                for j in span["n"]:
                    yield 2, i * n + j, False
                    for kk in span["k"]:
                        yield 0, i * k + kk, False
                        yield 1, kk * n + j, False
                    yield 2, i * n + j, True


def lru_misses(row):
    """A true-LRU, write-allocate, write-back, set-associative cache on the stream: the columns it must reproduce."""
    m, n, k, bm, bn, bk = (int(row[name]) for name in "M N K BM BN BK".split())
    size, ways, line = map(int, row["D1"].split("/"))
    base, starts = 0x200000000, []
    for elements in (m * k, k * n, m * n):  # A, B, C one after another, each from a page boundary
        starts.append(base)
        base += trips(elements * 4, 4096) * 4096
    sets = [OrderedDict() for _ in range(size // ways // line)]  # line -> dirty, least recent first
    misses, counts = [0, 0, 0], Counter()
    for matrix, element, store in touches(m, n, k, bm, bn, bk, row["order"], row["inner"]):
        number = (starts[matrix] + element * 4) // line
        lines = sets[number % len(sets)]
        counts["stores" if store else "loads"] += 1
        if number in lines:
            lines.move_to_end(number)
            if store:
                lines[number] = True
            continue
        misses[matrix] += 1
        if len(lines) == ways:
            counts["lru_writebacks"] += lines.popitem(last=False)[1]
        lines[number] = store
    counts |= {f"lru_misses_{name}": count for name, count in zip("abc", misses)}
    counts |= {"lru_misses": sum(misses), "lru_dirty_left": sum(sum(lines.values()) for lines in sets)}
    return counts


def check_lru():
    with open(HERE.parent / "data" / "lru-misses.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["id"] == "cg01":
                for column, count in lru_misses(row).items():
                    assert count == int(row[column]), (row["id"], column, count, row[column])


# ---- Tables ---------------------------------------------------------------------------------------------------------

TABLES = {"orders": orders, "sequential": sequential, "gpu": gpu, "stream_k": stream_k, "mask": mask, "bounds": bounds}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: make_golden.py [--check]")
    stale = []
    for name, table in TABLES.items():
        content = "".join("\t".join(map(str, row)) + "\n" for row in table())
        path = HERE / f"{name}.tsv"
        if not check:
            path.write_text(content)
        elif not path.exists() or path.read_text() != content:
            stale.append(path.name)
    if stale:
        sys.exit("differ from the rules: " + " ".join(stale))
    if check:
        check_lru()


if __name__ == "__main__":
    main()
