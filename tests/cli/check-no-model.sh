# nothing of that name anywhere; a folder without a model
mkdir empty
"$MBGRAD" check empty
"$MBGRAD" check nowhere/at-all.json
