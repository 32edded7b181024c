# galvo_proto(target name…): compiles proto/NAME.proto with protoc-c into the target.
find_program(PROTOC_C protoc-c REQUIRED)

function(galvo_proto target)
  galvo_proto_from(${target} ${PROJECT_SOURCE_DIR}/proto ${ARGN})
endfunction()

# The same for .proto files of another folder.
function(galvo_proto_from target folder)
  set(out ${PROJECT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  foreach(name IN LISTS ARGN)
    add_custom_command(
      OUTPUT ${out}/${name}.pb-c.c ${out}/${name}.pb-c.h
      COMMAND ${PROTOC_C} --proto_path=${folder} --c_out=${out} ${name}.proto
      DEPENDS ${folder}/${name}.proto
      VERBATIM)
    target_sources(${target} PRIVATE ${out}/${name}.pb-c.c ${out}/${name}.pb-c.h)
    # Generated code is held to its generator's standard, not ours.
    set_source_files_properties(${out}/${name}.pb-c.c PROPERTIES COMPILE_OPTIONS "-w")
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${out})
endfunction()
