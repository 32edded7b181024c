# libgalvo.so: the rooms behind the symbols of src/libgalvo.map.
set(map ${PROJECT_SOURCE_DIR}/src/libgalvo.map)

add_library(galvo_shared SHARED)
add_library(galvo::galvo ALIAS galvo_shared)
target_link_libraries(galvo_shared PRIVATE galvo_rooms)
target_link_options(galvo_shared PRIVATE -Wl,--version-script=${map})
target_include_directories(galvo_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
add_dependencies(galvo_shared galvo_sidecar)
set_target_properties(galvo_shared PROPERTIES
  OUTPUT_NAME galvo EXPORT_NAME galvo VERSION ${PROJECT_VERSION} SOVERSION 0
  LINKER_LANGUAGE C LINK_DEPENDS ${map} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
