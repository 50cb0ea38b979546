"$MBGRAD" new five-bar
ls five-bar
cmp "$SRC/gallery/five-bar/model.json" five-bar/model.json
"$MBGRAD" new heavy-top spinning/top
mkdir spinning
"$MBGRAD" new heavy-top spinning/top
"$MBGRAD" check spinning/top | head -n 1
