"""Runs the tutorials: writes the files that a page names (`NAME`: before a block), runs the lines of its ```sh blocks in order, and
looks for every line of a ```text block in what the block before it printed. Arguments: pages."""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^`([A-Za-z0-9_.-]+)`:\n\n)?^```([a-z]+)\n(.*?)^```$", re.M | re.S)


def run(page):
    """Problems of a page."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    name, printed, commands = os.path.basename(page), None, 0
    with tempfile.TemporaryDirectory() as folder:
        for file_name, language, block in BLOCK.findall(text):
            if file_name:
                with open(os.path.join(folder, file_name), "w", encoding="utf-8") as file:
                    file.write(block)
            elif language == "sh":
                printed = ""
                for line in block.splitlines():
                    commands += 1
                    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
                    printed += done.stdout
                    if done.returncode != 0:
                        print(f"{name}: {line}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr}")
            elif language == "text":
                for line in block.splitlines():
                    if " ".join(line.split()) not in " ".join((printed or "").split()):
                        print(f"{name}: not printed: {line}")
            elif language == "python" and "PYTHON" in os.environ:
                done = subprocess.run([os.environ["PYTHON"], "-c", block], cwd=folder, capture_output=True, text=True, check=False)
                printed = done.stdout
                if done.returncode != 0:
                    print(f"{name}: {done.stderr}")
    if commands == 0 and name != "README.md":
        print(f"{name}: no commands")


for path in sys.argv[1:]:
    run(path)
