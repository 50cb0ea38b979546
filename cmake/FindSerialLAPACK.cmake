# Finds LAPACK and BLAS without threads: SerialLAPACK_FOUND, SerialLAPACK_LIBRARIES, SerialLAPACK_DIR and the target
# SerialLAPACK::SerialLAPACK. Threads would make small factorizations slower and the last digits of results depend on
# the environment, and OpenBLAS with threads takes 100 MB and more of address space when it is loaded.
#
# First comes the serial OpenBLAS of Debian and Ubuntu (package libopenblas-serial-dev), in a folder of its own:
# SerialLAPACK_DIR, which may be given. A program that links the target loads these libraries before any other library
# asks for BLAS, so that IPOPT and MUMPS use them too. Without that folder it is the system's LAPACK; a warning says
# when that one has threads.

set(serial_lapack_files libopenblas.so.0 libblas.so.3 liblapack.so.3)
if(NOT SerialLAPACK_DIR)
  foreach(prefix IN LISTS CMAKE_PREFIX_PATH CMAKE_SYSTEM_PREFIX_PATH)
    foreach(folder IN ITEMS lib/${CMAKE_LIBRARY_ARCHITECTURE} lib64 lib)
      if(NOT serial_lapack_found AND EXISTS ${prefix}/${folder}/openblas-serial/libopenblas.so.0)
        set(serial_lapack_found ${prefix}/${folder}/openblas-serial)
      endif()
    endforeach()
  endforeach()
  set(SerialLAPACK_DIR "${serial_lapack_found}"
      CACHE PATH "Folder of a LAPACK without threads; empty: the system's" FORCE)
endif()
mark_as_advanced(SerialLAPACK_DIR)

if(SerialLAPACK_DIR)
  # One item, which CMake cannot take apart: all of them become needed libraries. Whoever links them sets a run path.
  list(TRANSFORM serial_lapack_files PREPEND ${SerialLAPACK_DIR}/)
  list(JOIN serial_lapack_files "," serial_lapack_files)
  set(SerialLAPACK_LIBRARIES "-Wl,--push-state,--no-as-needed,${serial_lapack_files},--pop-state")
else()
  find_package(LAPACK)
  if(LAPACK_FOUND)
    set(SerialLAPACK_LIBRARIES LAPACK::LAPACK)
    if(NOT CMAKE_CROSSCOMPILING AND NOT DEFINED SerialLAPACK_ONE_THREAD)
      include(CheckCSourceRuns)
      set(CMAKE_REQUIRED_LIBRARIES LAPACK::LAPACK)
      set(CMAKE_REQUIRED_QUIET ON)
      check_c_source_runs("
        void dgetrf_(const int *, const int *, double *, const int *, int *, int *);
        int openblas_get_parallel(void) __attribute__((weak));
        int main(void) {
          const int n = 0, ld = 1;
          int info;
          dgetrf_(&n, &n, 0, &ld, 0, &info); /* keeps the library */
          return openblas_get_parallel ? openblas_get_parallel() : 0;
        }" SerialLAPACK_ONE_THREAD)
      unset(CMAKE_REQUIRED_LIBRARIES)
      unset(CMAKE_REQUIRED_QUIET)
    endif()
    if(NOT CMAKE_CROSSCOMPILING AND NOT SerialLAPACK_ONE_THREAD)
      message(WARNING "LAPACK (${LAPACK_LIBRARIES}) works in threads: the last digits of large models may depend on "
                      "OPENBLAS_NUM_THREADS. Install libopenblas-serial-dev (Debian, Ubuntu), or give the folder of "
                      "another LAPACK with -DSerialLAPACK_DIR=FOLDER, and configure again.")
    endif()
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SerialLAPACK REQUIRED_VARS SerialLAPACK_LIBRARIES)

if(SerialLAPACK_FOUND AND NOT TARGET SerialLAPACK::SerialLAPACK)
  add_library(SerialLAPACK::SerialLAPACK INTERFACE IMPORTED)
  set_target_properties(SerialLAPACK::SerialLAPACK PROPERTIES INTERFACE_LINK_LIBRARIES "${SerialLAPACK_LIBRARIES}")
endif()
