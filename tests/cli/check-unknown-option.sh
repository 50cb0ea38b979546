"$MBGRAD" check five-bar --jsn
