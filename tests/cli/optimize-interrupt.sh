# Ctrl-C keeps the best feasible design and says so
# a shell in the background ignores the signal: python3 gives it back
python3 - "$MBGRAD" <<'END'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
command = [sys.argv[1], "optimize", "quarter-car-design", "--step", "0.0002", "--set", "k=70000", "--set", "c=1500", "--restart", "r", "--write", "kept.json"]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
for _ in range(600):
    time.sleep(0.05)
    if os.path.exists("r") and open("r", "rb").read().count(b"\n") >= 3:
        break
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=300)
print(process.returncode, err.strip())
print("interrupted" in out, "(feasible)" in out, os.path.exists("kept.json"))
END
