"""Kills commands with SIGKILL at random moments: kills.py PROGRAM KILLS [SEED] [COMMAND ...]

Each command runs with output files that are already there. After a kill every one of them is the former file, whole, or
the new one, whole; FILE~ is nothing or one of the two; nothing else is left but files NAME.PROCESS-N.tmp. A search is
then resumed, is killed again now and then, and ends with the output of the uninterrupted search, byte for byte.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

PROGRAM, KILLS = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
CHOSEN = sys.argv[4:]

# options; those of the former files; output files; --restart of a search that can be resumed
COMMANDS = {
    "simulate": (["quarter-car", "--step", "2e-4", "--quiet"], ["--set", "p1=11000"],
                 {"--out": "run.csv", "--plot": "run.svg", "--state": "state.json"}, None),
    "simulate-h5": (["quarter-car", "--step", "2e-4", "--quiet"], ["--set", "p1=11000"], {"--out": "run.h5"}, None),
    "optimize": (["quarter-car-design", "--step", "0.002", "--json"], ["--step", "0.004"], {"--write": "best.json"},
                 "record"),
    "optimize-starts": (["spring-balanced-arm", "--starts", "3", "--jobs", "2", "--json"], ["--seed", "2"],
                        {"--write": "best.json"}, "record"),
    "identify": (["noisy-pendulum", "--json", "--no-error-estimate"], ["--step", "0.02"], {"--write": "fit.json"}, "record"),
    "control": (["overhead-crane", "--samples", "21", "--effort", "1e-7", "--step", "0.02", "--stages", "2",
                 "--iterations", "20", "--json"], ["--effort", "1e-6"],
                {"--control": "u.csv", "--write": "found.json", "--out": "motion.csv", "--plot": "u.svg"}, "record"),
    "sweep": (["quarter-car", "--step", "0.005", "--vary", "p1=10000:12000:12", "--jobs", "2"],
              ["--vary", "p1=12000:13000:3"], {"--out": "table.csv"}, None),
}
TIMES = ("seconds", "replayed", "rows", "direct", "adjoint", "evaluations", "work", "simulations")


def merged(options, others):
    """options with the values of others"""
    result = list(options)
    for key, value in zip(others[::2], others[1::2]):
        if key in result:
            result[result.index(key) + 1] = value
        else:
            result += [key, value]
    return result


def start(command, options):
    return subprocess.Popen([PROGRAM, command.split("-")[0], *options], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True)


def whole(command, options):
    """runs to the end: standard output, without counts of work and times"""
    process = start(command, options)
    out, err = process.communicate()
    if process.returncode not in (0, 1) or (process.returncode == 1 and b"not converged" not in err):
        sys.exit(f"{command}: status {process.returncode}: {err.decode()}")
    if "--json" not in options:
        return out
    result = json.loads(out)
    return {key: value for key, value in result.items() if key not in TIMES}


def read(name):
    return open(name, "rb").read() if os.path.exists(name) else None


class Check:
    def __init__(self, command, number):
        self.command, self.number = command, number
        self.options, other, outputs, self.record = COMMANDS[command]
        self.files = list(outputs.values())
        words = [word for pair in outputs.items() for word in pair]
        self.former = dict.fromkeys(self.files)
        whole(command, merged(self.options, other) + words)
        for name in self.files:
            self.former[name] = read(name)
            os.rename(name, name + ".kept")
        begin = time.time()
        self.output = whole(command, self.options + words)
        self.seconds = time.time() - begin
        self.new = {name: read(name) for name in self.files}
        for name in self.files:
            os.remove(name)
            os.rename(name + ".kept", name)
        self.words = self.options + words
        self.faults, self.writing = [], 0

    def fault(self, text):
        self.faults.append(f"{self.command} {self.number}: {text}")
        print(self.faults[-1], file=sys.stderr)

    def look(self):
        for name in self.files:
            now, kept = read(name), read(name + "~")
            if now not in (self.former[name], self.new[name]):
                self.fault(f"{name} is neither the former file nor the new one")
            if kept not in (None, self.former[name], self.new[name]):
                self.fault(f"{name}~ is torn")
            if now == self.new[name] != self.former[name] and kept != self.former[name]:
                self.fault(f"the former {name} is lost")
        known = set(self.files) | {name + "~" for name in self.files}
        for name in os.listdir("."):
            base = re.sub(r"(\.\d+-\d+\.tmp)+$", "", name)
            if base not in known and not (self.record and name.startswith(self.record)):
                self.fault(f"{name} is left behind")

    def restore(self):
        for name in os.listdir("."):
            os.remove(name)
        for name in self.files:
            open(name, "wb").write(self.former[name])

    def kill(self, options):
        """every second one at any moment, the others while files are written"""
        process = start(self.command, options)
        if random.random() < 0.5:
            end = time.time() + random.uniform(0, 1.1 * self.seconds)
            while process.poll() is None and time.time() < end:
                time.sleep(0.001)
        else:
            wanted = random.randrange(2 * len(self.files)) # names that appear until then
            seen = set()
            while process.poll() is None and len(seen) <= wanted:
                seen.update(name for name in os.listdir(".") if name.endswith(".tmp") or name.endswith("~"))
            time.sleep(random.choice((0, 0, 0.0005, 0.002)))
        killed = process.poll() is None
        if killed:
            os.killpg(process.pid, signal.SIGKILL)
            self.writing += any(name.endswith(".tmp") for name in os.listdir("."))
        process.communicate()
        return killed

    def run(self):
        done = 0
        while done < KILLS:
            self.restore()
            resume = ["--restart", self.record, "--resume"] if self.record else []
            for _ in range(random.randrange(1, 4) if self.record else 1):
                done += self.kill(self.words + resume)
                self.look()
            if self.record and whole(self.command, self.words + resume) != self.output:
                self.fault("the resumed search ends elsewhere")
            elif self.record and any(read(name) != self.new[name] for name in self.files):
                self.fault("the resumed search writes other files")
        return done


random.seed(SEED)
top = os.getcwd()
os.environ["TMPDIR"] = top
faults = []
for number, command in enumerate(CHOSEN or COMMANDS):
    folder = os.path.join(top, "kill-" + command)
    os.mkdir(folder)
    os.chdir(folder)
    check = Check(command, number)
    done = check.run()
    faults += check.faults
    print(command, "killed as often as asked - faults:", len(check.faults))
    print(f"{command}: {done} kills, {check.writing} of them while a file was written", file=sys.stderr)
    os.chdir(top)
    shutil.rmtree(folder)
print("faults:", *faults[:5], sep="\n")
sys.exit(bool(faults))
