# Finds cairo with PNG and PDF: Cairo_FOUND, CAIRO_INCLUDE_DIR, CAIRO_LIBRARY and the target Cairo::Cairo.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_CAIRO QUIET cairo)
endif()
find_path(CAIRO_INCLUDE_DIR cairo-pdf.h HINTS ${PC_CAIRO_INCLUDE_DIRS} PATH_SUFFIXES cairo)
find_library(CAIRO_LIBRARY cairo HINTS ${PC_CAIRO_LIBRARY_DIRS})
mark_as_advanced(CAIRO_INCLUDE_DIR CAIRO_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cairo REQUIRED_VARS CAIRO_LIBRARY CAIRO_INCLUDE_DIR VERSION_VAR PC_CAIRO_VERSION)

if(Cairo_FOUND AND NOT TARGET Cairo::Cairo)
  add_library(Cairo::Cairo INTERFACE IMPORTED)
  set_target_properties(Cairo::Cairo PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CAIRO_INCLUDE_DIR}"
                                                INTERFACE_LINK_LIBRARIES "${CAIRO_LIBRARY}")
endif()
