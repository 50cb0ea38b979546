# Finds CVODES of SUNDIALS: CVODES_FOUND, CVODES_INCLUDE_DIRS, CVODES_LIBRARIES and the target CVODES::CVODES.

find_path(CVODES_INCLUDE_DIR cvodes/cvodes.h)
set(CVODES_INCLUDE_DIRS ${CVODES_INCLUDE_DIR})
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

# Version 7 has a library of what all parts share; where it was built with MPI (Debian 13), its headers include mpi.h.
find_library(CVODES_core_LIBRARY sundials_core)
mark_as_advanced(CVODES_core_LIBRARY)
if(CVODES_core_LIBRARY AND CVODES_INCLUDE_DIR)
  list(APPEND CVODES_LIBRARIES ${CVODES_core_LIBRARY})
  file(STRINGS ${CVODES_INCLUDE_DIR}/sundials/sundials_config.h cvodes_mpi REGEX "^#define SUNDIALS_MPI_ENABLED 1")
  if(cvodes_mpi)
    find_package(MPI REQUIRED COMPONENTS C)
    list(APPEND CVODES_INCLUDE_DIRS ${MPI_C_INCLUDE_DIRS})
    list(APPEND CVODES_LIBRARIES ${MPI_C_LIBRARIES})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CVODES REQUIRED_VARS ${cvodes_variables})

if(CVODES_FOUND AND NOT TARGET CVODES::CVODES)
  add_library(CVODES::CVODES INTERFACE IMPORTED)
  set_target_properties(CVODES::CVODES PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CVODES_INCLUDE_DIRS}"
                                                  INTERFACE_LINK_LIBRARIES "${CVODES_LIBRARIES}")
endif()
