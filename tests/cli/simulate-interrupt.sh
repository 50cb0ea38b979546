# Ctrl-C: what was computed is written and said to be partial
cat >run.py <<'END'
import csv, re, signal, subprocess, sys, time
command = [sys.argv[1], "simulate", "quarter-car", "--step", "1e-6", "--signals", "F", "--out", "run.csv", "--state", "state.json", "--memory", "100M"]
signal.signal(signal.SIGINT, signal.default_int_handler)
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
def caught(): # the program waits for SIGINT
    masks = [line.split()[1] for line in open(f"/proc/{process.pid}/status") if line.startswith("SigCgt")]
    return int(masks[0], 16) >> (signal.SIGINT - 1) & 1
while process.poll() is None and not caught():
    time.sleep(0.01)
time.sleep(0.5)
process.send_signal(signal.SIGINT)
out, err = process.communicate()
print(process.returncode, re.sub(r"t = [0-9.e-]+", "t = T", err.strip()))
print("(partial)" in out)
rows = list(csv.reader(open("run.csv")))
print(rows[0], 1 < len(rows) < 1000000, 0 < float(rows[-1][0]) < 1)
END
python3 run.py "$MBGRAD"
