# cmake -DOUT=FILE.cpp -DFUNCTION=NAME "-DFILES=a;b" -P write_embedded.cmake
# Each file becomes raw string literals of at most 12 KB (compilers may refuse a literal above 64 KiB), cut at line ends.
# Line ends become \n.
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
    file(READ "${file}" text)
    get_filename_component(name "${file}" NAME)
    string(APPEND rows "    {\"${name}\",\n")
    string(LENGTH "${text}" left)
    while(left GREATER 0)
        string(SUBSTRING "${text}" 0 12000 piece)
        if(left GREATER 12000)
            string(FIND "${piece}" "\n" cut REVERSE)
            math(EXPR cut "${cut} + 1")
            if(cut GREATER 0)
                string(SUBSTRING "${piece}" 0 ${cut} piece)
            endif()
        endif()
        string(LENGTH "${piece}" used)
        string(SUBSTRING "${text}" ${used} -1 text)
        string(LENGTH "${text}" left)
        string(APPEND rows "     R\"memwall~(${piece})memwall~\"\n")
    endwhile()
    string(APPEND rows "     \"\"},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUT}" "#include <array>

#include \"sim/embedded.hpp\"

namespace sim {

static constexpr std::array<EmbeddedFile, ${count}> files{{
${rows}}};

std::span<const EmbeddedFile> ${FUNCTION}() { return files; }

}  // namespace sim
")
