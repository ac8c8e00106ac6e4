# What Memwall links: an installed copy first, else the pinned upstream source. What is optional and cannot be had leaves
# a reason behind, never an error: MEMWALL_NO_WINDOW is empty exactly where the window is built.

# memwall_fetch(NAME REPOSITORY REVISION): the sources in ${NAME}_SOURCE_DIR, left empty after at most two minutes.
# (FetchContent stops the whole configuration when a host cannot be reached.)
function(memwall_fetch name repository revision)
    set(${name}_SOURCE_DIR "" PARENT_SCOPE)
    set(directory "${PROJECT_BINARY_DIR}/_deps/${name}-${revision}")
    if(NOT EXISTS "${directory}/.complete")
        find_package(Git QUIET)
        if(NOT GIT_FOUND)
            return()
        endif()
        set(url "https://github.com/${repository}")
        set(ENV{GIT_TERMINAL_PROMPT} 0)
        execute_process(COMMAND "${GIT_EXECUTABLE}" ls-remote --quiet "${url}" HEAD
            TIMEOUT 10 RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(failed)
            message(STATUS "Memwall: ${name} is not installed and its upstream cannot be reached")
            return()
        endif()
        message(STATUS "Memwall: fetching ${name} ${revision}")
        file(REMOVE_RECURSE "${directory}")
        execute_process(
            COMMAND "${GIT_EXECUTABLE}" init --quiet "${directory}"
            COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${directory}" fetch --quiet --depth 1 "${url}" "${revision}"
            TIMEOUT 120 RESULT_VARIABLE failed)
        if(NOT failed)
            execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${directory}" checkout --quiet FETCH_HEAD
                RESULT_VARIABLE failed)
        endif()
        if(failed)
            message(STATUS "Memwall: fetching ${name} failed")
            return()
        endif()
        file(TOUCH "${directory}/.complete")
    endif()
    set(${name}_SOURCE_DIR "${directory}" PARENT_SCOPE)
endfunction()

# memwall_dependency(PACKAGE TARGET REPOSITORY TAG): afterwards TARGET exists, unless it could not be had.
function(memwall_dependency package target repository tag)
    find_package(${package} CONFIG QUIET GLOBAL)
    if(TARGET ${target})
        return()
    endif()
    memwall_fetch(${package} ${repository} ${tag})
    if(NOT ${package}_SOURCE_DIR)
        return()
    endif()
    set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
    set(CMAKE_POLICY_VERSION_MINIMUM 3.5)
    foreach(switch IN ITEMS CLI11_BUILD_TESTS CLI11_BUILD_EXAMPLES DOCTEST_WITH_TESTS JSON_BuildTests
                            BENCHMARK_ENABLE_TESTING BENCHMARK_ENABLE_WERROR BENCHMARK_ENABLE_INSTALL
                            GLFW_BUILD_EXAMPLES GLFW_BUILD_TESTS GLFW_BUILD_DOCS GLFW_BUILD_WAYLAND)
        set(${switch} OFF CACHE INTERNAL "")
    endforeach()
    add_subdirectory("${${package}_SOURCE_DIR}" "${${package}_SOURCE_DIR}-build" EXCLUDE_FROM_ALL SYSTEM)
endfunction()

find_package(Threads REQUIRED)

foreach(row IN ITEMS
        "fmt           fmt::fmt                      fmtlib/fmt           9.1.0"
        "CLI11         CLI11::CLI11                  CLIUtils/CLI11       v2.1.2"
        "nlohmann_json nlohmann_json::nlohmann_json  nlohmann/json        v3.11.2"
        "tomlplusplus  tomlplusplus::tomlplusplus    marzer/tomlplusplus  v3.3.0")
    string(REGEX REPLACE " +" ";" row "${row}")
    memwall_dependency(${row})
    list(GET row 1 target)
    if(NOT TARGET ${target})
        list(GET row 0 package)
        message(FATAL_ERROR "Memwall needs ${package}: ./lab installs it, or see the package list in lab")
    endif()
endforeach()
if(MEMWALL_TESTS)
    memwall_dependency(doctest doctest::doctest doctest/doctest v2.4.9)
    memwall_dependency(benchmark benchmark::benchmark_main google/benchmark v1.7.1)
endif()

set(MEMWALL_NO_WINDOW "built with MEMWALL_GUI=OFF")
if(MEMWALL_GUI)
    find_package(DearImGui QUIET)
    set(MEMWALL_NO_WINDOW "${DearImGui_NOT_FOUND_MESSAGE}")
endif()

# CUDA is opened at run time, where it is. Only tests look at NVIDIA's headers, to hold our declarations to them.
if(MEMWALL_TESTS)
    find_path(MEMWALL_CUDA_HEADERS cuda_runtime_api.h
        HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include)
    mark_as_advanced(MEMWALL_CUDA_HEADERS)
endif()

# The commit that goes into recorded measurements; configured again when HEAD moves.
set(git_commit "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
    execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" rev-parse --short=12 HEAD
        OUTPUT_VARIABLE git_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
        set(git_commit "")
    endif()
    execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" rev-parse --git-path logs/HEAD
        OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    cmake_path(ABSOLUTE_PATH head_log BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    if(EXISTS "${head_log}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${head_log}")
    endif()
endif()
configure_file(cmake/build_info.cpp.in build_info.cpp @ONLY)
