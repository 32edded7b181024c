# What is installed, and where: the program, the library with its doors, pages, completions.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/galvo)

if(TARGET galvo)
  install(TARGETS galvo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(TARGET galvo_shared)
  install(TARGETS galvo_shared EXPORT galvo LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS galvo_sidecar RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/galvo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
  install(EXPORT galvo NAMESPACE galvo:: FILE GalvoTargets.cmake DESTINATION ${package})
  # In this spelling it is found under any.
  configure_package_config_file(cmake/galvo-config.cmake.in ${PROJECT_BINARY_DIR}/galvo-config.cmake
    INSTALL_DESTINATION ${package})
  # Until 1.0 a new minor version may break the interface.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/galvo-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/galvo-config.cmake
    ${PROJECT_BINARY_DIR}/galvo-config-version.cmake DESTINATION ${package})
  # Relative to itself, so that the tree may be moved and `cmake --install --prefix` works.
  file(RELATIVE_PATH up /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
  configure_file(cmake/galvo.pc.in ${PROJECT_BINARY_DIR}/galvo.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/galvo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Those of section 3 are for programs that use the library.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.[1-9])
foreach(page IN LISTS pages)
  string(REGEX REPLACE ".*\\." "" section ${page})
  if(TARGET galvo_shared OR NOT section EQUAL 3)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()

install(FILES configs/example.pbtxt DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES examples/follow_run.c examples/full_system_profiling.c
  examples/full_system_profiling.cu examples/gemm_profiling.cu examples/read_run.c
  examples/regions.sh examples/system_only.c
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

foreach(place galvo.bash=bash-completion/completions _galvo=zsh/site-functions
    galvo.fish=fish/vendor_completions.d)
  string(REGEX REPLACE "=.*" "" file ${place})
  string(REGEX REPLACE ".*=" "" folder ${place})
  # bash looks for a completion by the name of the command alone.
  string(REGEX REPLACE "\\.bash$" "" name ${file})
  if(EXISTS ${PROJECT_SOURCE_DIR}/completions/${file})
    install(FILES completions/${file} RENAME ${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  endif()
endforeach()
