# Finds IPOPT with its C interface: IPOPT_FOUND, IPOPT_INCLUDE_DIR, IPOPT_LIBRARIES, IPOPT_BOOL (the type of its
# callbacks' results: int before version
# 3.14, then bool) and the target IPOPT::IPOPT.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_IPOPT QUIET ipopt)
endif()
find_path(IPOPT_INCLUDE_DIR IpStdCInterface.h HINTS ${PC_IPOPT_INCLUDE_DIRS} PATH_SUFFIXES coin-or coin)
find_library(IPOPT_LIBRARY ipopt HINTS ${PC_IPOPT_LIBRARY_DIRS})
mark_as_advanced(IPOPT_INCLUDE_DIR IPOPT_LIBRARY)
set(IPOPT_LIBRARIES ${IPOPT_LIBRARY})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(IPOPT REQUIRED_VARS IPOPT_INCLUDE_DIR IPOPT_LIBRARY VERSION_VAR PC_IPOPT_VERSION)

if(IPOPT_FOUND AND NOT TARGET IPOPT::IPOPT)
  set(IPOPT_BOOL int)
  if(PC_IPOPT_VERSION VERSION_GREATER_EQUAL 3.14)
    set(IPOPT_BOOL bool)
  endif()
  add_library(IPOPT::IPOPT INTERFACE IMPORTED)
  set_target_properties(IPOPT::IPOPT PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${IPOPT_INCLUDE_DIR}"
                                                INTERFACE_COMPILE_DEFINITIONS "MBG_IPOPT_BOOL=${IPOPT_BOOL}"
                                                INTERFACE_LINK_LIBRARIES "${IPOPT_LIBRARIES}")
endif()
