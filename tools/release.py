"""Put the files of a release into dist/, and tag the commit locally; nothing is published.

Pages and PDF are those that `make site` built from this commit. Every file is byte-identical if it
is built again with the Python and the addresses in the tag's message, and the same TeX, tar and
git. To publish, push the tag, upload the files, and have an archive mint a DOI if you want one;
`git tag -d` removes the tag. With --check, only check whether this commit can be released.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import userdp

VERSION = userdp.__version__
NAME = f"userdp-companion-{VERSION}"
TAG = f"v{VERSION}"
DIST = Path("dist")
TAR = "tar --sort=name --mode=go=rX,u+rw,a-s --owner=0 --group=0 --numeric-owner --gzip --create"
BUILD = "-m uv build --quiet --no-build-isolation --no-create-gitignore"
CRATE = "https://w3id.org/ro/crate/1.1"


def run(*command, **options):
    """Run a command, and return its output."""
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    return finished.stdout.strip()


def reason_against():
    """Return the reason why this commit cannot be released, or None."""
    if run("git", "status", "--porcelain", "--untracked-files=no"):
        return "Files differ from the commit: commit them first."
    if re.findall(r"^## (.+)", Path("CHANGELOG.md").read_text("utf-8"), re.M)[:1] != [VERSION]:
        return f"CHANGELOG.md must begin with the changes in {VERSION}, the version of userdp."
    if TAG in set(run("git", "tag").split()) - set(run("git", "tag", "--points-at").split()):
        return f"{TAG} is another commit: userdp needs a new version."
    return None


def write(name, data):
    """Write data as JSON to dist/."""
    (DIST / name).write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")


def stamp_citation(text, day, commit):
    """Return CITATION.cff with a date, a commit and the addresses in the environment."""
    repository = os.getenv("USERDP_REPOSITORY")
    values = {
        "date-released": day,
        "commit": f"'{commit}'",  # quoted, because YAML would read digits alone as a number
        "repository-code": repository,
        "url": os.getenv("BOOK_URL") or repository,
    }
    values = {name: value for name, value in values.items() if value}
    other_lines = [line for line in text.splitlines() if line.partition(":")[0] not in values]
    return "\n".join([*other_lines, *(f"{name}: {value}" for name, value in values.items()), ""])


def crate(zenodo):
    """Return the RO-Crate metadata of the files in dist/: contents, authors and licences."""
    licences = [f"https://spdx.org/licenses/{name}" for name in (zenodo["license"], "CC-BY-4.0")]
    papers = [item["identifier"] for item in zenodo["related_identifiers"]]
    papers = [number.replace("arXiv:", "https://arxiv.org/abs/") for number in papers]
    people = {f"#author-{n}": who["name"] for n, who in enumerate(zenodo["creators"])}
    files = sorted(os.listdir(DIST))
    references = lambda names: [{"@id": name} for name in names]  # noqa: E731
    book = {name: zenodo[name] for name in ("description", "keywords", "version")}
    book |= {"@type": "Dataset", "name": zenodo["title"], "author": references(people)}
    book |= {"datePublished": zenodo["publication_date"], "license": references(licences)}
    book |= {"isBasedOn": references(papers), "hasPart": references(files)}
    about = {"@type": "CreativeWork", "conformsTo": {"@id": CRATE}, "about": {"@id": "./"}}
    graph = {"ro-crate-metadata.json": about, "./": book}
    for url, name in people.items():  # Zenodo writes people as "family name, given names"
        graph[url] = {"@type": "Person" if "," in name else "Organization", "name": name}
    graph |= {
        url: {"@type": "CreativeWork", "name": url.split("/")[-1]} for url in licences + papers
    }
    graph |= {name: {"@type": "File"} for name in files}
    return {"@context": f"{CRATE}/context", "@graph": [{"@id": n} | x for n, x in graph.items()]}


def main():
    """Write all files of the release to dist/, and tag it."""
    reason = reason_against()
    if reason:
        sys.exit(reason)
    if sys.argv[1:] == ["--check"]:
        return
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    commit, seconds, day = run("git", "log", "-1", "--format=%H %ct %cs").split()
    pages = f"--mtime=@{seconds} --transform=s,^html,{NAME}, --file={DIST}/{NAME}-html.tar.gz"
    run(*f"{TAR} {pages} --directory=_build html".split())
    source = DIST.resolve() / f"{NAME}-source.tar.gz"
    archive = ["-c", "tar.umask=0022", "archive", f"--prefix={NAME}/", f"--output={source}"]
    run("git", *archive, commit)
    shutil.copy("_build/companion.pdf", DIST / f"{NAME}.pdf")
    shutil.copy("_build/html/userdp-data.zip", DIST / f"{NAME}-data.zip")
    with TemporaryDirectory() as folder:
        run("tar", "--extract", f"--file={source}", "--strip-components=1", cwd=folder)
        run(sys.executable, *BUILD.split(), f"--out-dir={DIST.resolve()}", cwd=folder)
    citing = stamp_citation(Path("CITATION.cff").read_text("utf-8"), day, commit)
    (DIST / "CITATION.cff").write_text(citing, "utf-8")
    zenodo = json.loads(Path(".zenodo.json").read_text("utf-8"))
    zenodo |= {"version": VERSION, "publication_date": day}
    write(".zenodo.json", zenodo)
    write("ro-crate-metadata.json", crate(zenodo))
    sums = run("sha256sum", *sorted(os.listdir(DIST)), cwd=DIST)
    (DIST / "SHA256SUMS").write_text(f"{sums}\n", "utf-8")
    if TAG not in run("git", "tag").split():
        addresses = ("USERDP_REPOSITORY", "BOOK_URL")  # which pages link to
        about = "\n".join(f"{name}: {os.getenv(name) or 'none'}" for name in addresses)
        message = f"{NAME}\n\nPython: {platform.python_version()}\n{about}"
        run("git", "tag", "--annotate", TAG, "--message", message)
    print(f"dist/ holds {NAME}; its commit is tagged {TAG}, here only. To publish it:")
    print(f"  git push origin {TAG}, and add the files of dist/ to a release there.")


if __name__ == "__main__":
    main()
