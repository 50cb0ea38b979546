# the same bits, whatever the environment says of threads; three times; MBG_TEST_LONG=1: the whole gallery, every
# formulation; not under sanitizers
failed=0
set -o pipefail
# bits WHAT COMMAND...: the outputs without seconds must agree; a model of the gallery may refuse a formulation
bits() {
  local what=$1 first= sum
  shift
  for ((round = 0; round < ${rounds:-3}; round++)); do
    for n in 1 2 4; do
      sum=$(OPENBLAS_NUM_THREADS=$n OMP_NUM_THREADS=$n GOTO_NUM_THREADS=$n timeout "${limit:-60}" "$MBGRAD" "$@" --json \
        2>&1 | sed 's/"seconds[a-z_]*": *[0-9.e+-]*//g' | cksum) || sum="$sum, fails"
      if [ -z "${rounds:-}" ] && [[ "$sum" == *fails ]]; then
        echo "$what fails"
        failed=1
      fi
      first=${first:-$sum}
      if [ "$sum" != "$first" ]; then
        echo "$what: $n threads change the result"
        failed=1
        return
      fi
    done
  done
}

"$MBGRAD" new ladder ladder --bodies 30 >/dev/null
"$MBGRAD" new chain chain --bodies 20 >/dev/null
for formulation in lie dae qr ali3p dca; do
  bits "simulate $formulation" simulate ladder --formulation $formulation --step 1e-3 --end 3e-3
  bits "gradient $formulation" gradient ladder --formulation $formulation --step 1e-3 --end 3e-3
done
bits "gradient dca --threads" gradient ladder --formulation dca --step 1e-3 --end 3e-3 --method direct --threads 2
bits "modes" modes two-arm --gradient
bits "modes of a chain" modes chain --gradient
bits "optimize" optimize spring-balanced-arm
bits "optimize, ipopt" optimize spring-balanced-arm --optimizer ipopt

if [ -n "${MBG_TEST_LONG:-}" ]; then
  rounds=3 limit=600
  for model in "$SRC"/gallery/*/; do
    model=$(basename "$model")
    for formulation in lie dae qr ali3p dca; do
      bits "$model: simulate $formulation" simulate "$model" --formulation $formulation
      bits "$model: gradient $formulation" gradient "$model" --formulation $formulation
    done
    bits "$model: modes" modes "$model" --gradient
    if grep -q '"optimize"' "$SRC/gallery/$model/model.json"; then
      bits "$model: optimize" optimize "$model" --iterations 20
    fi
  done
fi

# where the build found a LAPACK without threads, nothing brings one with threads along, and the program starts in a
# small address space
if [ "${MBG_SERIAL_LAPACK:-1}" != 0 ]; then
  for library in $(ldd "$MBGRAD" | awk '/blas|lapack/ { print $3 }'); do
    case $(realpath "$library") in
    *pthread* | *openmp* | *libopenblasp*) echo "$library has threads" && failed=1 ;;
    esac
  done
  (ulimit -v 150000 && timeout 20 "$MBGRAD" version >/dev/null) || { echo "150 MB: version fails" && failed=1; }
fi
exit $failed
