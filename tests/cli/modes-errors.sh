# what modes refuses
"$MBGRAD" modes quarter-car --at rest; echo "status $?"
"$MBGRAD" modes quarter-car --modes 0; echo "status $?"
"$MBGRAD" modes overhead-crane; echo "status $?"
"$MBGRAD" modes rotating-beam --at steady; echo "status $?"
"$MBGRAD" modes quarter-car --plot /no/such/folder/m.svg >out; echo "status $?"
"$MBGRAD" modes quarter-car --csv /no/such/folder/m.csv >out; echo "status $?"
