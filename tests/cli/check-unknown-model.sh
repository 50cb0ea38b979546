"$MBGRAD" check five-baar
