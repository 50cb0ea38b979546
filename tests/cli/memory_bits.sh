# a limit of memory changes no number: values, gradients and error estimates of every formulation, fixed and controlled steps
same() {
  "$MBGRAD" gradient "$@" --json >free.json 2>free.err
  "$MBGRAD" gradient "$@" --json --memory 20k >limited.json 2>limited.err
  cmp free.err limited.err
  python3 -c '
import json, sys
free, limited = (json.load(open(f)) for f in ("free.json", "limited.json"))
work = free.pop("work"), limited.pop("work")
print(sys.argv[1], "the same" if free == limited else "differs", work[1]["recomputed_steps"] > work[0]["recomputed_steps"])
' "$*"
}
for formulation in lie dae ali3p dca qr; do
  same simple-pendulum --end 0.3 --step 0.001 --method adjoint --formulation $formulation
done
same simple-pendulum --end 1 --tolerance 1e-6 --method adjoint --formulation lie
same simple-pendulum --end 3 --tolerance 1e-11 --method adjoint --formulation qr
same simple-pendulum --end 3 --tolerance 1e-9 --method direct --formulation dca
same five-bar --end 0.5 --method adjoint --formulation qr
# factors of Newton's matrix: kept, or made again; residuals by pulls, by the matrix
same five-bar --end 0.2 --step 0.002 --method adjoint --formulation lie
same vehicle --end 0.08 --method adjoint --formulation lie

# smooth maxima, paths and samples look at every node
python3 - "$SRC/gallery/simple-pendulum/model.json" <<'END'
import json, sys
model = json.load(open(sys.argv[1]))
model["criteria"].update(
    top={"smooth_maximum": "x", "sharpness": 20}, path={"path": "y"}, points={"path": "x*y", "every": 0.037}
)
json.dump(model, open("all.json", "w"))
END
for formulation in ali3p dca qr; do
  same all.json --end 0.3 --step 0.002 --method adjoint --formulation $formulation
done

# steps from body to body whose adjoints go by pieces; steps by pieces, too
for bodies in 64 520; do
  "$MBGRAD" new chain --bodies $bodies "chain$bodies" >new.txt
  same "chain$bodies" --end 0.01 --step 0.001 --method adjoint --formulation dca
done
