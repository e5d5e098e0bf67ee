# heed_component(NAME SOURCES ... LINKS ...): one folder, one target, one include root.
#
# The include root holds a single symlink, heed/NAME, to the folder. A target sees the roots of what it links
# and no others, so a lower folder that includes a higher one does not compile.
function(heed_component name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(root ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root}/heed)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/heed/${name} SYMBOLIC)
  add_library(heed_${name} ${ARG_SOURCES})
  add_library(heed::${name} ALIAS heed_${name})
  target_include_directories(heed_${name} PUBLIC $<BUILD_INTERFACE:${root}>)
  target_link_libraries(heed_${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  target_compile_features(heed_${name} PUBLIC cxx_std_20)
  set_target_properties(heed_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  heed_compile_options(heed_${name})
endfunction()

# What every target of ours is compiled with. -fno-math-errno and -fno-trapping-math (no errno, no floating-point
# exception flags) let loops over exp and choices vectorize; infinities and NaN keep their meaning, as masks need
# them (never -ffast-math).
function(heed_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                           -fno-math-errno -fno-trapping-math ${HEED_ARCH_FLAGS})
  if(HEED_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
