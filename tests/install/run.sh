# Installs into a temporary folder and builds a consumer by pkg-config and by find_package.
# Environment: SRC, BUILD, CMAKE, CC, LIBDIR, VERSION (set by CTest).
set -eu

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix
consumer=$SRC/tests/install

expect() { # what, got
  if [ "$2" != "$VERSION" ]; then
    echo "$1: expected version $VERSION, got '$2'" >&2
    exit 1
  fi
}

"$CMAKE" --install "$BUILD" --prefix "$prefix" >"$tmp/install.log" || { cat "$tmp/install.log"; exit 1; }
export LD_LIBRARY_PATH=$prefix/$LIBDIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# pkg-config; the prefix is the one of this installation
export PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
expect "pkg-config --modversion" "$(pkg-config --modversion mbgrad)"
pc() { pkg-config --define-variable=prefix="$prefix" "$@" mbgrad; }
# shellcheck disable=SC2046
"$CC" -std=c17 $(pc --cflags) "$consumer/consumer.c" -o "$tmp/by-pkg-config" $(pc --libs)
expect "pkg-config" "$("$tmp/by-pkg-config")"

# find_package
"$CMAKE" -S "$consumer" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/cmake.log" 2>&1 &&
  "$CMAKE" --build "$tmp/build" >>"$tmp/cmake.log" 2>&1 || { cat "$tmp/cmake.log"; exit 1; }
expect "find_package" "$("$tmp/build/consumer")"

# program and gallery
if [ -x "$BUILD/mbgrad" ]; then
  test -x "$prefix/bin/mbgrad"
fi
if [ -d "$SRC/gallery" ]; then
  test -d "$prefix/share/mbgrad/gallery"
fi
