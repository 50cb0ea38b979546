# Finds CVODES of SUNDIALS: CVODES_FOUND, CVODES_INCLUDE_DIR, CVODES_LIBRARIES and the target CVODES::CVODES.

find_path(CVODES_INCLUDE_DIR cvodes/cvodes.h)
set(CVODES_LIBRARIES "")
set(cvodes_variables CVODES_INCLUDE_DIR)
foreach(library IN ITEMS cvodes nvecserial sunmatrixdense sunlinsoldense
                       sunnonlinsolfixedpoint)
  find_library(CVODES_${library}_LIBRARY sundials_${library})
  mark_as_advanced(CVODES_${library}_LIBRARY)
  list(APPEND CVODES_LIBRARIES ${CVODES_${library}_LIBRARY})
  list(APPEND cvodes_variables CVODES_${library}_LIBRARY)
endforeach()
mark_as_advanced(CVODES_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CVODES REQUIRED_VARS ${cvodes_variables})

if(CVODES_FOUND AND NOT TARGET CVODES::CVODES)
  add_library(CVODES::CVODES INTERFACE IMPORTED)
  set_target_properties(CVODES::CVODES PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CVODES_INCLUDE_DIR}"
                                                  INTERFACE_LINK_LIBRARIES "${CVODES_LIBRARIES}")
endif()
