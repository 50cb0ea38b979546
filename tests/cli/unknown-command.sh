"$MBGRAD" chekc five-bar
echo "status $?"
"$MBGRAD" help simulat
echo "status $?"
"$MBGRAD" --frobnicate
