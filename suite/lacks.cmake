# SPDX-License-Identifier: Apache-2.0
# What a port says under [lacks] in its kernel.toml, as the table kdz_lacking of mechanism.h. Every
# line of that part is  "name" = "sentence"  in plain characters (kadenz/config/kernel.py checks it).
function(kdz_lacks toml generated)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${toml})
    set(rows "")
    set(inside FALSE)
    if(EXISTS ${toml})
        file(STRINGS ${toml} lines)
    endif()
    foreach(line IN LISTS lines)
        if(line MATCHES "^\\[")
            string(COMPARE EQUAL "${line}" "[lacks]" inside)
        elseif(inside AND line MATCHES "^\"([^\"]+)\" = \"([^\"]+)\"")
            string(APPEND rows "    {\"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_2}\"},\n")
        endif()
    endforeach()
    file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT
"#include \"kadenz/mechanism.h\"

const struct kdz_lacking kdz_lacking[] = {
${rows}    {NULL, NULL},
};
")
endfunction()
