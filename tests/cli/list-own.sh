# a gallery of one's own
mkdir -p mine/bob
echo '{ "mbgrad": 1, "note": "A \"bob\"." }' >mine/bob/model.json
export MBGRAD_GALLERY=mine
"$MBGRAD" list
"$MBGRAD" list --json
MBGRAD_GALLERY=nowhere "$MBGRAD" list
