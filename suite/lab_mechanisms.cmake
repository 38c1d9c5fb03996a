# SPDX-License-Identifier: Apache-2.0
# The mechanisms that a lab's kadenz.toml names, by their calls: KDZ_LAB_CHANNEL, … have the names,
# and macros of the same names the rows for bench/vocabulary.h.
foreach(kind CHANNEL NOTIFY LOCK TIMER MEMORY)
    set(rows "")
    foreach(name IN LISTS KDZ_LAB_${kind})
        string(REPLACE "-" "_" ident ${name})
        string(APPEND rows " X(${ident}, \"${name}\")")
    endforeach()
    if(rows)
        target_compile_options(kadenz-suite PRIVATE "-DKDZ_LAB_${kind}(X)=${rows}")
    endif()
endforeach()
