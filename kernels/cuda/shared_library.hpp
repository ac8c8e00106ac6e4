#pragma once
// NVIDIA's libraries, found when they are first asked for: the program is built and starts where none is.

#include <string>
#include <string_view>

namespace kernels::cuda {

/// A shared library, kept open until the program ends; or the reason why there is none.
class SharedLibrary {
public:
    /// Opens lib`name`.so of the newest version that is here: a toolkit's ($CUDA_HOME, $CUDA_PATH), one the system's
    /// loader knows, one in the usual folders, one that came as a Python wheel.
    static SharedLibrary open(std::string_view name);

    explicit operator bool() const { return handle_ != nullptr; }
    /// "libnvrtc.so was not found: …", or empty.
    const std::string& why() const { return why_; }
    /// The file that was opened, as the loader was asked for it.
    const std::string& path() const { return path_; }
    /// Sets `function` to the symbol of that name; false where there is none.
    template <class F>
    bool get(const char* symbol, F*& function) const {
        function = reinterpret_cast<F*>(address(symbol));
        return function != nullptr;
    }

private:
    void* address(const char* symbol) const;

    void* handle_ = nullptr;
    std::string path_, why_;
};

}  // namespace kernels::cuda
