# the model and its inputs are never written over, except the model by --write, which keeps the former one
cp -r "$SRC/gallery/engine-mount" mount
cp -r "$SRC/gallery/overhead-crane" crane
cd mount
ln -s model.json link.csv
ln -s "$(ls *.csv | grep -v link | head -1)" data-link.csv
check() {
  "$MBGRAD" "$@"
  echo "status $?"
}
sha1sum * >../before
check simulate . --out link.csv
check simulate . --state model.json
check simulate . --out "$(ls *.csv | grep -v link | head -1)"
check identify . --write data-link.csv
check identify . --restart model.json
check sweep . --vary k1=1:2:2 --out ./link.csv
check simulate . --out a.csv --plot a.csv
check simulate . --out none/a.csv
check simulate . --plot ..
sha1sum -c --quiet ../before
"$MBGRAD" identify . --write model.json >/dev/null && sha1sum --quiet -c <<<"$(grep model.json ../before | sed 's/model.json/model.json~/')" && echo kept
cmp -s model.json model.json~ || echo "and replaced"
cd ../crane
cp model.json ..
check control . --control model.json --iterations 1
cmp model.json ../model.json
check control . --restart model.json --iterations 1
cmp model.json ../model.json
"$MBGRAD" control . --write model.json --quiet --iterations 1
cmp model.json~ ../model.json && ! cmp -s model.json model.json~ && echo kept
