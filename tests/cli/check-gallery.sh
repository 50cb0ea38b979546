# every model of the gallery passes without a word on standard error, and its JSON is JSON
for model in $("$MBGRAD" list --json | python3 -c 'import json, sys; print(*(m["name"] for m in json.load(sys.stdin)))'); do
  "$MBGRAD" check "$model" >text && "$MBGRAD" check "$model" --json | python3 -m json.tool >/dev/null || echo "failed: $model"
  awk 'length($0) > 100 { print FILENAME ": " $0 }' text
done
