# memory follows what is looked at, not every node, signal, body and derivative; not under sanitizers
peak() { # most resident memory of a program beyond that of `version`, below a limit in MB; --whole: of all of it
  python3 -c '
import os, sys
def peak(command):
    null = os.open(os.devnull, os.O_RDWR)
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, i) for i in (0, 1)])
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"status {status}")
    return usage.ru_maxrss / 1024
whole = sys.argv[1] == "--whole"
limit, command = float(sys.argv[1 + whole]), sys.argv[2 + whole:]
more = peak(command) - (0 if whole else peak([command[0], "version"]))
above = "" if whole else " above the least"
print("within the limit" if more < limit else f"{more:.0f} MB{above}, limit {limit:.0f} MB")
' "$@"
}

echo "seeds of 50 criteria at 4000 steps"
{
  sed '/"x_end"/,$d' "$SRC/gallery/simple-pendulum/model.json"
  for i in $(seq 25); do printf '    "end%s": {"terminal": "x^2 + %s*y"},\n' "$i" "$i"; done
  for i in $(seq 25); do printf '    "sum%s": {"integral": "x + %s*y^2"},\n' "$i" "$i"; done
  printf '    "most": {"path": "x"}\n  },\n'
  sed -n '/"initial": {/,$p' "$SRC/gallery/simple-pendulum/model.json"
} >many.json
for method in adjoint direct; do
  peak 30 "$MBGRAD" gradient many.json --formulation lie --step 0.0025 --method $method --memory 1M --no-error-estimate
done

echo "check of 3000 bodies"
"$MBGRAD" new chain chain --bodies 3000 >/dev/null
peak 50 "$MBGRAD" check chain

echo "a limit, with the runs of the error estimate"
peak 12 "$MBGRAD" gradient simple-pendulum --step 1e-3 --end 20 --method adjoint --memory 8M --formulation lie

echo "eight nodes a step, none of them in memory"
for formulation in dca qr; do
  peak 5 "$MBGRAD" gradient simple-pendulum --step 1e-3 --end 20 --method adjoint --memory 1M --formulation $formulation \
    --no-error-estimate
done

echo "rows at an interval, not all nodes"
for formulation in dca qr; do
  peak 6 "$MBGRAD" simulate simple-pendulum --step 1e-3 --end 20 --interval 0.1 --quiet --formulation $formulation
done

echo "the whole process, with a limit that the nodes fill"
peak --whole 64 "$MBGRAD" gradient simple-pendulum --step 1e-3 --end 150 --method adjoint --memory 64M --formulation ali3p \
  --no-error-estimate
