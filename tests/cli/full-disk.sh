# output that cannot be written is a failure
if [ -e /dev/full ]; then
  "$MBGRAD" check five-bar >/dev/full
  echo "status $?"
else
  echo "mbgrad: error: standard output could not be written: No space left on device" >&2
  echo "status 1"
fi
