# scripts/bootstrap with stand-ins for the programs that it calls: what is missing, why, and the way without root
mkdir bin tree tree/scripts
cp "$SRC/scripts/bootstrap" tree/scripts
mkdir -p tree/python tree/build/venv && cp "$SRC"/python/requirements* tree/python
cat tree/python/requirements-{test,lint,judges}.txt >tree/build/venv/packages # the environment of the Python tests is there
cat >bin/dpkg-query <<'END'
#!/bin/sh
for package in $MISSING; do if [ "$package" = "$4" ]; then exit 1; fi; done
echo 'ii '
END
cat >bin/apt-get <<'END'
#!/bin/sh
echo "apt-get $*" >>"$CALLS"
case "$*" in
*"${BROKEN:-none}"*) echo "E: broken" && exit 100 ;;
esac
END
printf '#!/bin/sh\necho "${USER_ID:-1000}"\n' >bin/id
printf '#!/bin/sh\nexit 0\n' | tee bin/npm >bin/chromium
printf '#!/bin/sh\nexit 0\n' >bin/apt-cache
chmod +x bin/*
export PATH="$PWD/bin:$PATH" CALLS=$PWD/calls
unset MBG_BOOTSTRAP CI
bootstrap() {
  : >calls
  echo "\$ $*"
  bash tree/scripts/bootstrap "$@" 2>&1 </dev/null
  echo "status $?"
  sed 's/^/  called: /' calls
}
# stand-in for sudo: there is none
printf '#!/bin/sh\nexit 1\n' >bin/sudo && chmod +x bin/sudo

echo "-- nothing missing; a missing valgrind stops nothing"
MISSING= bootstrap
MISSING=valgrind bootstrap all
echo "-- make test does without a second compiler, a browser and valgrind"
MISSING="clang chromium valgrind" bootstrap tests
echo "-- make test brings few Python packages, make test-all the rest, each once"
mkdir -p tree/build/venv/bin
printf '#!/bin/sh\necho "pip $*" >>"$CALLS"\n' >tree/build/venv/bin/pip && chmod +x tree/build/venv/bin/pip
rm tree/build/venv/packages
for words in tests tests all all; do
  MISSING= bootstrap $words | sed 's/--disable.*-q //; s/--retries 1 --timeout 20 //'
done
echo "-- the build does not ask for tools of the tests"
MISSING="libcmocka-dev valgrind" bootstrap
echo "-- no root"
MISSING="cmake libnlopt-dev" bootstrap
echo "-- root, which is not asked"
export USER_ID=0
MISSING="libnlopt-dev libsuitesparse-dev" bootstrap
MISSING="libcmocka-dev valgrind" BROKEN=valgrind bootstrap all
MISSING="libcmocka-dev" BROKEN=libcmocka bootstrap tests
MISSING="libsuitesparse-dev libnlopt-dev" BROKEN=libnlopt bootstrap
MISSING="cmake" MBG_BOOTSTRAP=no bootstrap
bootstrap --nonsense
echo "-- a terminal is asked once"
export USER_ID=1000
: >calls
printf '#!/bin/sh\nif [ "$1" = -n ]; then exit 1; fi\nexec "$@"\n' >bin/sudo
for answer in n y; do
  MISSING=libnlopt-dev script -q -E never -ec "bash tree/scripts/bootstrap" /dev/null <<<"$answer" | tr -d '\r'
  sed 's/^/  called: /' calls
done
