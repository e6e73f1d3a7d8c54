"""Publishing: buttons only where there is an address, and workflows that run what is pinned."""

import re
from pathlib import Path
from types import SimpleNamespace

import publishing
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def options(monkeypatch, **variables):
    for name in ("USERDP_REPOSITORY", "USERDP_BRANCH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    config = SimpleNamespace(html_theme_options={"show_toc_level": 2})
    publishing.configure(None, config)
    return config.html_theme_options


def test_without_an_address_there_are_no_buttons(monkeypatch):
    plain = {"show_toc_level": 2, "extra_footer": publishing.footer()}
    assert options(monkeypatch) == plain
    assert options(monkeypatch, USERDP_REPOSITORY="", USERDP_BRANCH="x") == plain


def test_buttons_lead_to_the_repository_of_the_environment(monkeypatch):
    address = "https://github.com/some-one/a.fork"
    found = options(monkeypatch, USERDP_REPOSITORY=address)
    assert found["repository_url"] == address
    assert found["repository_branch"] == "main"
    assert {"binderhub_url", "colab_url"} <= set(found["launch_buttons"])
    assert found["show_toc_level"] == 2
    branch = options(monkeypatch, USERDP_REPOSITORY=address, USERDP_BRANCH="draft")
    assert branch["repository_branch"] == "draft"


@pytest.mark.parametrize("address", ["github.com/a/b", "https://github.com/a", "http://x/a/b", "x"])
def test_what_is_no_address_is_refused(monkeypatch, address):
    with pytest.raises(ValueError, match=re.escape(repr(address))):
        options(monkeypatch, USERDP_REPOSITORY=address)


def test_no_address_is_written_down():
    for path in (*WORKFLOWS, ROOT / "_config.yml", ROOT / "tools" / "publishing.py"):
        assert not re.search(r"github\.com/(?!OWNER)[\w-]+/", path.read_text()), path


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_is_pinned_and_may_do_little(path):
    text = path.read_text()
    workflow = yaml.safe_load(text)
    uses = re.findall(r"uses: (\S+)(.*)", text)
    assert uses
    for action, comment in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        assert "write-all" not in job["permissions"]
        writes = {name for name, level in job["permissions"].items() if level == "write"}
        assert not writes or writes == {"pages", "id-token"}
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def mode(monkeypatch, **variables):
    for name in ("USERDP_STORED", "USERDP_EXECUTED"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    config = SimpleNamespace(html_theme_options={}, nb_execution_mode="force")
    publishing.configure(None, config)
    assert config.today == publishing.version()
    return config.nb_execution_mode


def test_outputs_are_executed_unless_it_is_said_where_they_are(monkeypatch):
    assert mode(monkeypatch) == "force"
    assert mode(monkeypatch, USERDP_EXECUTED="_build/.jupyter_cache") == "cache"
    assert mode(monkeypatch, USERDP_STORED="1") == "off"


def test_binder_installs_the_lock():
    folder = ROOT / ".binder"
    (line,) = (folder / "requirements.txt").read_text().split("\n")[:-1]
    assert (folder / line.removeprefix("-r ")).resolve() == ROOT / "requirements.lock"
    assert "--no-deps --no-build-isolation -e ." in (folder / "postBuild").read_text()
    assert (folder / "postBuild").stat().st_mode & 0o100
    assert (folder / "runtime.txt").read_text() == "python-3.11\n"


def test_the_pdf_is_put_at_the_root_and_linked(monkeypatch):
    monkeypatch.setenv("USERDP_PDF", "_build/companion.pdf")
    config = SimpleNamespace(html_theme_options={}, html_extra_path=["book/_extra"])
    app = SimpleNamespace(tags=set())
    publishing.configure(app, config)
    assert config.html_extra_path == ["book/_extra", "_build/companion.pdf"]
    assert app.tags == {"pdf"}
