# Ctrl-C keeps the best control and says so
# a shell in the background ignores the signal: python3 gives it back
python3 - "$MBGRAD" <<'END'
import os, re, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
command = [sys.argv[1], "control", "overhead-crane", "--samples", "3001", "--effort", "1e-12", "--iterations", "100000",
           "--gradient-tolerance", "1e-14", "--restart", "restart", "--control", "u.csv"]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
for _ in range(600):
    time.sleep(0.1)
    if os.path.exists("restart") and open("restart", "rb").read().count(b"\n") > 4:
        break
time.sleep(0.2)
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=300)
print(process.returncode, re.sub(r"\d+ iterations", "N iterations", err).strip())
print("interrupted" in out, sum(1 for _ in open("u.csv")))
END
