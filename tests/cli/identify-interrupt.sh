# Ctrl-C keeps the best parameters so far and says so
cat >run.py <<'END'
import json, os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
process = subprocess.Popen([sys.argv[1], "identify", "engine-mount", "--json", "--restart", "fit.restart"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
def linearized():
    return sum(line.startswith("J") for line in open("fit.restart")) if os.path.exists("fit.restart") else 0
while process.poll() is None and linearized() < 3:
    time.sleep(0.01)
process.send_signal(signal.SIGINT)
out, err = process.communicate()
fit = json.loads(out)
print(process.returncode, err.strip())
print(fit["converged"], fit["reason"], fit["cost"] < fit["start_cost"], fit["parameters"]["c1"]["standard_error"] > 0)
END
python3 run.py "$MBGRAD"
