# Finds NLopt with its C interface: NLopt_FOUND, NLOPT_INCLUDE_DIR, NLOPT_LIBRARIES and the target NLopt::NLopt.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_NLOPT QUIET nlopt)
endif()
find_path(NLOPT_INCLUDE_DIR nlopt.h HINTS ${PC_NLOPT_INCLUDE_DIRS})
find_library(NLOPT_LIBRARY nlopt HINTS ${PC_NLOPT_LIBRARY_DIRS})
mark_as_advanced(NLOPT_INCLUDE_DIR NLOPT_LIBRARY)
set(NLOPT_LIBRARIES ${NLOPT_LIBRARY})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NLopt REQUIRED_VARS NLOPT_INCLUDE_DIR NLOPT_LIBRARY VERSION_VAR PC_NLOPT_VERSION)

if(NLopt_FOUND AND NOT TARGET NLopt::NLopt)
  add_library(NLopt::NLopt INTERFACE IMPORTED)
  set_target_properties(NLopt::NLopt PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${NLOPT_INCLUDE_DIR}"
                                                INTERFACE_LINK_LIBRARIES "${NLOPT_LIBRARIES}")
endif()
