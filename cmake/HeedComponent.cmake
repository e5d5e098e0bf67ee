# heed_component(NAME SOURCES ... LINKS ... PRIVATE_LINKS ...): one folder, one target, one include root.
#
# The include root holds a single symlink, heed/NAME, to the folder. A target sees the roots of what it links
# and no others, so a lower folder that includes a higher one does not compile. Installed, all share one root;
# headers in a folder called internal stay behind.
function(heed_component name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(root ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root}/heed)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/heed/${name} SYMBOLIC)
  add_library(heed_${name} ${ARG_SOURCES})
  add_library(heed::${name} ALIAS heed_${name})
  target_include_directories(heed_${name} PUBLIC $<BUILD_INTERFACE:${root}>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(heed_${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  target_compile_features(heed_${name} PUBLIC cxx_std_20)
  # A shared library finds the others beside it, wherever the folder is moved, and oneDNN where it was found.
  set_target_properties(heed_${name} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    POSITION_INDEPENDENT_CODE ON DEFINE_SYMBOL "" INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  heed_compile_options(heed_${name})
  install(TARGETS heed_${name} EXPORT heed)
  install(DIRECTORY . DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed/${name}
          FILES_MATCHING PATTERN "*.h" PATTERN internal EXCLUDE)
endfunction()

# What every target of ours is compiled with. -fno-math-errno and -fno-trapping-math (no errno, no floating-point
# exception flags) let loops over exp and choices vectorize; infinities and NaN keep their meaning, as masks need
# them (never -ffast-math). Two answers to GCC 12: -Wrestrict is off because it sees overlaps in std::string where
# none are (its bug 105651), and straight-line code is not vectorized because with AVX-512 that has turned the
# constant {a, a, 0, 0} into {a, a, a, a}; loops are what counts here.
function(heed_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-restrict
    -fno-math-errno -fno-trapping-math -fno-tree-slp-vectorize ${HEED_ARCH_FLAGS})
  if(HEED_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# What `find_package(heed)` needs.
function(heed_install_package)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heedConfig.cmake.in heedConfig.cmake
                                INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(EXPORT heed NAMESPACE heed:: FILE heedTargets.cmake DESTINATION ${folder})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heedConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/heedConfigVersion.cmake
          DESTINATION ${folder})
endfunction()
