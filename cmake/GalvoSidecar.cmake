# galvo-sidecar: the program in which the library samples on behalf of another, where that is asked for.
add_executable(galvo_sidecar ${PROJECT_SOURCE_DIR}/src/suite/sidecar_main.c)
target_link_libraries(galvo_sidecar PRIVATE galvo_rooms)
galvo_warnings(galvo_sidecar)
# Beside the library, where that looks first.
set_target_properties(galvo_sidecar PROPERTIES
  OUTPUT_NAME galvo-sidecar RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(GALVO_PORTABLE)
  target_link_options(galvo_sidecar PRIVATE -static-libgcc)
endif()
