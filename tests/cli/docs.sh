# Every command shown in the README and in docs/ works (not under sanitizers: they see the tests of each command; docs/papers: papers.sh),
# and the C example of the README is examples/gradient.c.
mkdir bin
ln -s "$MBGRAD" bin/mbgrad
export PATH=$PWD/bin:$PATH
for page in "$SRC"/README.md "$SRC"/docs/*.md "$SRC"/docs/formulations/*.md; do
  folder=$(mktemp -d -p .)
  case $page in */import.md) cp "$SRC"/tests/fuzz/corpus/{arm.urdf,leg.sdf,walker.xml,key.xml} "$folder" ;; esac
  # models and tables that the page names: `NAME.json`: before a block
  (cd "$folder" && awk '/^`[a-z-]+\.(json|csv)`:$/ { name = substr($0, 2, length($0) - 3); next }
    /^```/ { inside = name != "" && $0 ~ /^```(json|csv)$/; if (!inside && $0 == "```") name = ""; next } inside { print >name }' "$page")
  # lines of ```sh blocks that begin with mbgrad
  awk '/^```/ { inside = $0 == "```sh"; next } inside && /^mbgrad( |$)/' "$page" >commands
  while read -r command; do
    (cd "$folder" && bash -c "$command" >out 2>err </dev/null) || { echo "$(basename "$page"): $command: status $?"; cat "$folder/err"; }
    echo "$command" >>all
  done <commands
done
[ "$(wc -l <all)" -ge 8 ] || echo "only $(wc -l <all) commands found"
awk '/^```/ { inside = $0 == "```c"; next } inside' "$SRC/README.md" | diff - "$SRC/examples/gradient.c"

# what README.md says that `make demo` prints; the digits of rounding errors are chance
{ mbgrad gradient quarter-car --criteria psi0,psiL,F1 && mbgrad check quarter-car --gradient --criteria psi0,psiL,F1; } >demo
awk '/^```/ { inside = $0 == "```text" && ++n == 1; next } inside && $0 != "..."' "$SRC/README.md" >said
sed -i 's/[0-9]e-1[0-9]/_/g; s/relative step [0-9e-]*/relative step _/' demo said
grep -vxFf demo said
true
