"$MBGRAD" new five-baar
"$MBGRAD" new ../gallery/five-bar
