# what is there stays, unless --force
mkdir five-bar
echo mine >five-bar/model.json
"$MBGRAD" new five-bar
echo "status $?"
cat five-bar/model.json
"$MBGRAD" new five-bar --force
cmp "$SRC/gallery/five-bar/model.json" five-bar/model.json
