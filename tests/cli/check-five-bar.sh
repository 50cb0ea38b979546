# everything that is printed for a model, on the one that the README shows
"$MBGRAD" check five-bar
