#pragma once
// The operands of one operation on the GPU.

#include <string>
#include <vector>

#include "kernels/cuda/runtime.hpp"
#include "kernels/matrix.hpp"

namespace kernels::cuda {

/// A set of operands in GPU memory, laid out by itself: each starts on 256 bytes, as cudaMalloc would have it, with
/// guard bytes behind it.
class DeviceOperands {
public:
    /// Memory for the operands of `like`, filled with its values.
    DeviceOperands(const Runtime& r, const OperandSet& like);

    /// Bytes that a set of this operation takes.
    static sim::i64 bytes(const OperandSet& like);
    const Operands& operands() const { return operands_; }

    void upload(const OperandSet& from) const;
    /// poison_outputs(), on the GPU.
    void poison() const;
    /// Copies what the operation computes back.
    void download(OperandSet& to) const;
    /// What a kernel wrote that it should not have, against the set that was uploaded: "x" (an input changed), "beyond
    /// y" (a guard byte did); or empty.
    std::string overwritten(const OperandSet& uploaded) const;

    /// A matrix of which some element still is what poison() left, in outputs that hold no NaN; or empty.
    std::string unwritten(const OperandSet& downloaded) const;

private:
    struct Region {
        const char* name;
        const std::byte* host;  ///< in `like`
        sim::i64 offset, bytes;
    };
    static std::vector<Region> regions(const Operands& like, sim::i64 batch);

    Op op_;
    std::vector<Region> regions_;
    DeviceMemory memory_;
    Operands operands_;
};

/// Sets every byte of what the operation computes to 0xff, a NaN in every type; sums that it adds to stay.
void poison_outputs(OperandSet& set);

}  // namespace kernels::cuda
