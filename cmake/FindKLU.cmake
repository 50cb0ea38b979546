# Finds KLU of SuiteSparse: KLU_FOUND, KLU_INCLUDE_DIR, KLU_LIBRARIES and the target KLU::KLU.

find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
set(KLU_LIBRARIES "")
set(klu_variables KLU_INCLUDE_DIR)
foreach(library IN ITEMS klu amd colamd btf suitesparseconfig)
  find_library(KLU_${library}_LIBRARY ${library})
  mark_as_advanced(KLU_${library}_LIBRARY)
  list(APPEND KLU_LIBRARIES ${KLU_${library}_LIBRARY})
  list(APPEND klu_variables KLU_${library}_LIBRARY)
endforeach()
mark_as_advanced(KLU_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KLU REQUIRED_VARS ${klu_variables})

if(KLU_FOUND AND NOT TARGET KLU::KLU)
  add_library(KLU::KLU INTERFACE IMPORTED)
  set_target_properties(KLU::KLU PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${KLU_INCLUDE_DIR}"
                                            INTERFACE_LINK_LIBRARIES "${KLU_LIBRARIES}")
endif()
