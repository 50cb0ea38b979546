# The tutorials run as written, and print what they say (not under sanitizers: they see the tests of each command)
mkdir bin
ln -s "$MBGRAD" bin/mbgrad
export PATH=$PWD/bin:$PATH
/usr/bin/python3 "$SRC/tests/cli/tutorials.py" "$SRC"/docs/tutorials/*.md
ls "$SRC"/docs/tutorials/*.md | wc -l
