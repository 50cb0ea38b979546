# SIGTERM and SIGHUP stop as Ctrl-C does, also processes of their own; finished starts are kept; nothing is left behind
# not under sanitizers: its starts take minutes there
export TMPDIR=$PWD/tmp
mkdir tmp
cat >run.py <<'END'
import csv, glob, json, os, re, signal, subprocess, sys, time
program = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)


def start(*words):
    return subprocess.Popen([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def caught(process, number):
    masks = [line.split()[1] for line in open(f"/proc/{process.pid}/status") if line.startswith("SigCgt")]
    return int(masks[0], 16) >> (number - 1) & 1


def stopped(process, number, ready, group=False):
    while process.poll() is None and not (caught(process, number) and ready()):
        time.sleep(0.01)
    time.sleep(0.2)
    (os.killpg if group else os.kill)(process.pid, number)
    out, err = process.communicate(timeout=300)
    print(process.returncode, re.sub(r"t = [0-9.e-]+", "t = T", re.sub(r"\d+ of", "N of", err)).strip())
    return out


for number in (signal.SIGTERM, signal.SIGHUP):
    print(number.name)
    stopped(start("simulate", "quarter-car", "--step", "1e-6", "--signals", "F", "--out", "run.csv", "--quiet",
                  "--memory", "100M"), number, lambda: True)
    rows = list(csv.reader(open("run.csv")))
    print(rows[0], 1 < len(rows) < 1000000)


def lines():
    return sum(open(f, "rb").read().count(b"\n") for f in glob.glob("tmp/*/start.*"))


starts = ("optimize", "quarter-car-design", "--step", "0.001", "--starts", "12", "--jobs", "2", "--json")
for number, group in ((signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGTERM, True)):
    print("starts,", number.name, "to all" if group else "to the first process")
    # the third start has begun, so one has ended
    result = json.loads(stopped(start(*starts), number, lambda: glob.glob("tmp/*/start.2"), group))
    ends = [s["status"] for s in result["starts"]]
    kept = [s["objective"] for s in result["starts"] if s["objective"] is not None and s["violation"] < 1e-6]
    print(ends.count("optimal") >= 1, ends.count("failed") >= 5, result["objective"] == min(kept), os.listdir("tmp"))

print("sweep")
stopped(start("sweep", "quarter-car", "--step", "0.02", "--vary", "p1=9000:11000:5000", "--jobs", "2", "--out", "s.csv"),
        signal.SIGTERM, lambda: time.sleep(3) is None)
rows = [r["status"] for r in csv.DictReader(open("s.csv"))]
print(len(rows), rows.count("ok") > 0, rows.count("not run") > 1000, set(rows) <= {"ok", "not run"})
END
/usr/bin/python3 run.py "$MBGRAD"
# a folder of records that a killed process left is removed by the next one, that of a living one is not
mkdir tmp/mbgrad-starts-999999-abc tmp/mbgrad-starts-$$-abc
touch tmp/mbgrad-starts-999999-abc/start.0
touch -d yesterday tmp/*
"$MBGRAD" optimize spring-balanced-arm --starts 2 --quiet --iterations 1
ls tmp | sed "s/$$/PROCESS/"
