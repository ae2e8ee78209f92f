"""What README shows of traces is made by a script, from a program that is really traced."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGINNING_OF_PNG = b"\x89PNG\r\n\x1a\n"


def update(folder: Path, readme: Path) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [
        sys.executable, ROOT / "demo/trace.py", "--update", "--readme", readme,
        "--pictures", folder / "pictures", "--work", folder,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_the_page_has_what_was_said(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text((ROOT / "README.md").read_text())
    done = update(tmp_path, readme)
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = (page.read_text() for page in (ROOT / "README.md", readme))
    blocks = [re.findall(r"^```\n(\$ headrace trace.*?)^```$", text, re.M | re.S)
              for text in (before, after)]  # fmt: skip
    assert [len(each) for each in blocks] == [1, 1], "it is in README already"
    (mistake,) = blocks[1]
    assert re.search(r"advice for /field \(line \d+ of mistake\.py\): 30 reads", mistake)
    assert "rdcc_nbytes" in mistake
    assert mistake.strip() in done.stdout
    assert str(tmp_path) not in after
    outside = [re.sub(r"^```\n\$ headrace trace.*?^```$", "", text, flags=re.M | re.S)
               for text in (before, after)]  # fmt: skip
    assert outside[0] == outside[1]


def test_pictures_are_of_light_and_dark_pages(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("<!-- demo/trace.py -->\n<!-- end -->")
    assert update(tmp_path, readme).returncode == 0
    light, dark = ((tmp_path / "pictures" / name).read_bytes() for name in
                   ("trace.png", "trace-dark.png"))  # fmt: skip
    assert light != dark
    for made, kept in ((light, "trace.png"), (dark, "trace-dark.png")):
        shown = (ROOT / "docs/pictures" / kept).read_bytes()
        for each in (made, shown):
            assert each.startswith(BEGINNING_OF_PNG)
            assert int.from_bytes(each[16:20]) == 1100


def test_a_page_without_places_is_an_error(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("<!-- demo/trace.py -->")
    done = update(tmp_path, readme)
    assert done.returncode == 1
    assert "no place for what was said" in done.stderr
    assert not (tmp_path / "pictures").exists()
