"""What every table counts with: sizes in bits, the numbering of tiles, and the kernels of an experiment."""
from collections import namedtuple

BITS = {"f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8}
F32 = 32  # partial sums are f32


def trips(size, tile):
    return -(-size // tile)


def extent(size, tile, index):
    """Edge tiles are clipped."""
    return min(tile, size - index * tile)


def to_bytes(bits):
    """An operand's total is counted in bits and rounded up once."""
    return -(-bits // 8)


def tile_at(raster, tm, tn, i):
    """Tile number i -> (row, col) of a tm x tn grid."""
    if raster == "along_n":
        return i // tn, i % tn
    if raster == "along_m":
        return i % tm, i // tm
    group = int(raster.removeprefix("grouped:"))  # groups of G tile rows, each walked column by column
    r, first = i % (group * tn), i // (group * tn) * group
    rows = min(tm - first, group)
    return first + r % rows, r // rows


def walk_raster(raster, tm, tn):
    """The same order as nested loops: the check on tile_at."""
    if raster == "along_n":
        return [(r, c) for r in range(tm) for c in range(tn)]
    if raster == "along_m":
        return [(r, c) for c in range(tn) for r in range(tm)]
    group = int(raster.removeprefix("grouped:"))
    return [(r, c) for first in range(0, tm, group) for c in range(tn) for r in range(first, min(first + group, tm))]


# A matmul's dims, tile and axes are in its own letters: m rows, n columns, k reduction.
# A tensor is (operand, bits an element, tag): the tag parts two tensors that are reported under one operand.

Case = namedtuple("Case", "pass_ fusion residual drelu batch m n k dtype out tiles")
Tensor = namedtuple("Tensor", "operand bits tag", defaults=[""])
Matmul = namedtuple("Matmul", "name dims tile loads epilogue writes")  # loads: (Tensor, axes of its rows and columns)
Pass = namedtuple("Pass", "name dims tile reads writes")  # elementwise, over a (rows, cols) matrix

#            own dims      left operand        right operand       output
SHAPES = {
    "forward": ("mnk", ("x", "mk"), ("w", "kn"), "y"),   # Y(m,n)  = X(m,k) W(k,n)
    "dgrad":   ("mkn", ("dz", "mk"), ("w", "nk"), "dx"),  # dX(m,k) = dZ(m,n) W(k,n)^T
    "wgrad":   ("knm", ("x", "km"), ("dz", "kn"), "dw"),  # dW(k,n) = X(m,k)^T dZ(m,n)
}


def own_dims(pass_, m, n, k):
    return tuple({"m": m, "n": n, "k": k}[letter] for letter in SHAPES[pass_][0])


def kernels(case):
    """The kernels of an experiment in the order they run."""
    d, o = BITS[case.dtype], BITS[case.out]
    # X, W, dX, dW have the dtype; Z, Y, dY, dZ the out dtype
    t = {name: Tensor(name, d) for name in ("x", "w", "dx", "dw")} | {name: Tensor(name, o) for name in
                                                                     ("z", "y", "dy", "dz")}
    residual = Tensor("mask", 1) if case.residual == "mask" else t["y"]

    def matmul(name, fusion):
        _, left, right, out = SHAPES[name]
        loads = []
        for operand, axes in (left, right):
            if operand == "dz" and fusion == "fused":  # the residual comes with every load of a dy tile
                loads += [(t["dy"], axes), (residual, axes)]
            else:
                loads.append((t[operand], axes))
        # drelu: dgrad's epilogue masks dX by X > 0, reading x or its bits once
        epilogue = [Tensor("mask", 1, "of x") if case.residual == "mask" else t["x"]] \
            if name == "dgrad" and case.drelu else []
        writes = [t[out]]
        if name == "forward" and fusion in ("none", "unfused"):
            writes = [t["z"]]
        elif name == "forward" and case.residual == "mask":
            writes.append(residual)  # the mask after its y
        return Matmul(name, own_dims(name, case.m, case.n, case.k), case.tiles[name], loads, epilogue, writes)

    def relu():
        bm, bn, _ = case.tiles["forward"]
        return Pass("relu", (case.m, case.n), (bm, bn), [t["z"]], [t["y"]])

    def mask():
        """On the tiles in which the first matmul after it reads dz."""
        reader = "wgrad" if case.pass_ == "wgrad" else "dgrad"
        bm, bn, bk = case.tiles[reader]
        tile = (bk, bn) if reader == "wgrad" else (bm, bk)
        return Pass("mask", (case.m, case.n), tile, [t["dy"], residual], [t["dz"]])

    run = []
    if case.pass_ in ("forward", "train"):  # a layer's own forward inside train upstream is fused
        run.append(matmul("forward", "fused" if case.fusion == "upstream" else case.fusion))
        if case.fusion == "unfused":
            run.append(relu())
    if case.pass_ != "forward" and case.fusion == "unfused":  # one mask pass, whose dz both matmuls read
        run.append(mask())
    return run + [matmul(name, case.fusion) for name in ("dgrad", "wgrad") if case.pass_ in (name, "train")]
