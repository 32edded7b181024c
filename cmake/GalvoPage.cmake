# The page of `galvo view` and `galvo serve`, built of web/ and put into the rooms by output/page_embed.c.
set(GALVO_PAGE AUTO CACHE STRING
  "The page: AUTO (built if node is there), ON, OFF, or a folder that has page.js and page.css")

set(page_dir ${PROJECT_BINARY_DIR}/page)
set(page_files ${page_dir}/page.js ${page_dir}/page.css ${page_dir}/page.reason ${page_dir}/page.csp)
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
list(APPEND page_sources ${PROJECT_SOURCE_DIR}/tools/build-page
  ${PROJECT_SOURCE_DIR}/web/package-lock.json ${PROJECT_SOURCE_DIR}/web/build.mjs)
if(IS_DIRECTORY "${GALVO_PAGE}")
  list(APPEND page_sources ${GALVO_PAGE}/page.js ${GALVO_PAGE}/page.css)
endif()

add_custom_command(OUTPUT ${page_files}
  COMMAND ${PROJECT_SOURCE_DIR}/tools/embed-page ${page_dir} "${GALVO_PAGE}"
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/embed-page ${page_sources}
  COMMENT "Building the page" VERBATIM)
set_source_files_properties(src/output/page_embed.c PROPERTIES
  OBJECT_DEPENDS "${page_files}" COMPILE_DEFINITIONS "GALVO_PAGE_DIR=\"${page_dir}\"")
