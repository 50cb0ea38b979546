"""The examples of the manual: blocks of code and rows of tables of docs/*.md."""
import json
import os
import re

PAGES = ["model.md", "elements.md", "expressions.md", "states.md", "events.md", "contact.md", "rolling.md"]
NAME = re.compile(r"^`([A-Za-z0-9_-]+\.[a-z]+)`:$")


def blocks(path):
    """(line, language, file name or None, text) of every fenced block; a name stands in a line before it: `corner.json`:"""
    name, start, language, text = None, 0, None, []
    with open(path, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            line = line.rstrip("\n")
            if line.startswith("```"):
                if language is None:
                    start, language, text = number + 1, line[3:], []
                else:
                    yield start, language, name, "\n".join(text) + "\n"
                    name, language = None, None
            elif language is not None:
                text.append(line)
            elif line:
                found = NAME.match(line)
                name = found.group(1) if found else None


def merged(base, piece):
    """A piece of docs/elements.md in its model: its entries are added to those of the first model of the page."""
    model = json.loads(json.dumps(base))
    for key, value in piece.items():
        if isinstance(value, dict):
            model.setdefault(key, {}).update(value)
        else:
            model[key] = value
    return model


def examples(src, folder):
    """Writes the files of all pages, one folder for each, and returns (label, path, model, whole) of the models among them.
    A model with an outer body is a part: it is written, not returned. whole: it stands in the page as it is."""
    found = []
    for page in PAGES:
        home = os.path.join(folder, page)
        os.makedirs(home)
        base = None
        for line, language, name, text in blocks(os.path.join(src, "docs", page)):
            label = "docs/%s:%d" % (page, line)
            if language not in ("json", "csv", "mtx"):
                continue
            path = os.path.join(home, name or "line-%d.json" % line)
            if language != "json" and not name or os.path.exists(path):
                print(label + ": a file needs a name of its own")
                continue
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            if language != "json":
                continue
            model = json.loads(text)
            whole = "mbgrad" in model
            if not whole:
                model = merged(base, model)
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(model, file, indent=1)
            elif base is None:
                base = model
            if '"outer"' not in text:
                found.append((label, path, model, whole))
    return found


def rows(path, heading):
    """Cells of the table whose first column is called `heading`, code marks removed."""
    inside = False
    with open(path, encoding="utf-8") as page:
        for line in page:
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if not line.startswith("|"):
                inside = False
            elif cells[0] == heading:
                inside = True
            elif inside and not line.startswith("|---"):
                yield [cell.strip("`") for cell in cells]
