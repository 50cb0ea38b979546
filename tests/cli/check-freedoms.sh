# degrees of freedom and tree of the closed loops in the gallery
for model in four-bar rssr andrews four-bar-chain five-bar; do
  "$MBGRAD" check $model | sed '/^bodies$/,$d' | sed '/^  \(mass\|energy\|numbers\)/d'
done
