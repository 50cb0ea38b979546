# MODEL is a file, a folder, or a name; a folder here comes before the gallery
"$MBGRAD" new simple-pendulum five-bar >/dev/null
for model in five-bar five-bar/ five-bar/model.json "$SRC/gallery/heavy-top" slider-crank; do
  "$MBGRAD" check "$model" | head -n 1
done
