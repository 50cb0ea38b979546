# Every command shown in the README and in docs/ works (not under sanitizers: they see the tests of each command; docs/papers: papers.sh),
# and the C example of the README is examples/gradient.c.
mkdir bin
ln -s "$MBGRAD" bin/mbgrad
export PATH=$PWD/bin:$PATH
for page in "$SRC"/README.md "$SRC"/docs/*.md "$SRC"/docs/formulations/*.md; do
  folder=$(mktemp -d -p .)
  case $page in */import.md) cp "$SRC"/tests/fuzz/corpus/{arm.urdf,leg.sdf,walker.xml,key.xml} "$folder" ;; esac
  # models that the page names: `NAME.json`: before a block
  (cd "$folder" && awk '/^`[a-z-]+\.json`:$/ { name = substr($0, 2, length($0) - 3); next }
    /^```/ { inside = name != "" && $0 == "```json"; if (!inside && $0 == "```") name = ""; next } inside { print >name }' "$page")
  # lines of ```sh blocks that begin with mbgrad
  awk '/^```/ { inside = $0 == "```sh"; next } inside && /^mbgrad( |$)/' "$page" >commands
  while read -r command; do
    (cd "$folder" && bash -c "$command" >out 2>err </dev/null) || { echo "$(basename "$page"): $command: status $?"; cat "$folder/err"; }
    echo "$command" >>all
  done <commands
done
[ "$(wc -l <all)" -ge 8 ] || echo "only $(wc -l <all) commands found"
awk '/^```/ { inside = $0 == "```c"; next } inside' "$SRC/README.md" | diff - "$SRC/examples/gradient.c"
