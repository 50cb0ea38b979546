# killed at any moment and resumed: the same optimum, bit for bit, and at most the evaluation under way is lost; not under sanitizers
/usr/bin/python3 - "$MBGRAD" <<'PY'
import json, os, random, subprocess, sys, time
kills = 20 if os.environ.get("MBG_TEST_LONG") else 4
command = [sys.argv[1], "optimize", "quarter-car-design", "--step", "0.001", "--json"]


def run(*more):
    result = json.loads(subprocess.run(command + list(more), stdout=subprocess.PIPE, check=True).stdout)
    for key in ("replayed", "rows", "direct", "adjoint", "seconds"):
        result.pop(key)
    return result


def lines():
    """whole lines of the record"""
    return open("record", "rb").read().count(b"\n") if os.path.exists("record") else 0


begin = time.time()
whole = run()
spent = time.time() - begin
random.seed(3)
done, lost = 0, 0
while done < kills:
    before = lines()
    process = subprocess.Popen(command + ["--restart", "record", "--resume"], stdout=subprocess.DEVNULL)
    # while lines are added, at any moment of an evaluation
    target = before + random.randrange(1, 4)
    while process.poll() is None and lines() < target:
        time.sleep(0.002)
    time.sleep(random.uniform(0, spent / 20))
    if process.poll() is not None:
        os.remove("record")
        continue
    process.kill()
    process.wait()
    done += 1
    lost += lines() < before
end = run("--restart", "record", "--resume")
print("killed", "as often as asked" if done == kills else done, "- lines lost:", lost, "- the same optimum:", end == whole)
PY
