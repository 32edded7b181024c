# The full warning set, for a target. -Werror comes from presets, never to users.
function(galvo_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wformat=2 -Wundef -Wvla -Wwrite-strings -Wcast-qual
    -Wimplicit-fallthrough)
endfunction()
