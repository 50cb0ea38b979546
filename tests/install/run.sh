# Installs into a temporary folder and builds a consumer by pkg-config and by find_package, with the shared and the
# static library. Environment: SRC, BUILD, CMAKE, CC, LIBDIR, VERSION, SOVERSION (set by CTest).
set -eu

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix
consumer=$SRC/tests/install

expect() { # what, got, wanted (default: the version)
  if [ "$2" != "${3-$VERSION}" ]; then
    echo "$1: expected '${3-$VERSION}', got '$2'" >&2
    exit 1
  fi
}

"$CMAKE" --install "$BUILD" --prefix "$prefix" >"$tmp/install.log" || { cat "$tmp/install.log"; exit 1; }
lib=$prefix/$LIBDIR
export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# both libraries; the shared one has its name, and shows the public functions alone
test -f "$lib/libmbgrad.a"
expect "soname" "$(readelf -d "$lib/libmbgrad.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" "libmbgrad.so.$SOVERSION"
nm -D --defined-only "$lib/libmbgrad.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort >"$tmp/shown"
cat "$prefix"/include/mbgrad/*.h | grep -o '\bmbg_[a-z0-9_]*(' | tr -d '(' | sort -u >"$tmp/declared"
expect "symbols shown but not declared" "$(comm -23 "$tmp/shown" "$tmp/declared")" ""
expect "symbols declared but not shown" "$(comm -13 "$tmp/shown" "$tmp/declared")" ""

# pkg-config; the prefix is the one of this installation
export PKG_CONFIG_PATH=$lib/pkgconfig
expect "pkg-config --modversion" "$(pkg-config --modversion mbgrad)"
pc() { pkg-config --define-variable=prefix="$prefix" "$@" mbgrad; }
# shellcheck disable=SC2046
"$CC" -std=c17 -Wall -Wextra -Wpedantic -Werror $(pc --cflags) "$consumer/consumer.c" -o "$tmp/pc-shared" $(pc --libs)
expect "pkg-config" "$("$tmp/pc-shared")"
# shellcheck disable=SC2046
"$CC" -std=c17 $(pc --cflags) "$consumer/consumer.c" -o "$tmp/pc-static" \
  $(pc --static --libs | sed 's/-lmbgrad/-l:libmbgrad.a/')
expect "pkg-config --static" "$("$tmp/pc-static")"

# find_package
"$CMAKE" -S "$consumer" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$prefix" -DVERSION="$VERSION" >"$tmp/cmake.log" 2>&1 &&
  "$CMAKE" --build "$tmp/build" >>"$tmp/cmake.log" 2>&1 || { cat "$tmp/cmake.log"; exit 1; }
expect "find_package" "$("$tmp/build/by-shared")"
expect "find_package, static" "$("$tmp/build/by-static")"

# program and gallery
if [ -x "$BUILD/mbgrad" ]; then
  test -x "$prefix/bin/mbgrad"
fi
if [ -d "$SRC/gallery" ]; then
  test -d "$prefix/share/mbgrad/gallery"
fi
