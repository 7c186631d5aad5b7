"""The pages that the site makes from code: one for each module with public names, and one for each example.

mkdocs calls the functions here by their names. A link to an example's file leads to its page, and a link out of the
folder of the documentation to the file's text on its own page.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
from mkdocs.structure.files import File, Files

from docs.site.examples_in_docstrings import fenced
from hilbert.base.lazy import homes

PACKAGES = "hilbert", "linmap", "diff", "adjoint"
ROOT = Path(__file__).parents[2]
OUTSIDE = {"../README.md": "readme.md", "../CONTRIBUTING.md": "contributing.md", "../CHANGELOG.md": "changelog.md"}
"""Files beside the folder of the documentation, and the pages that show their text."""


def modules() -> dict[str, list[str]]:
    """The public names of each module that defines some, by package and module."""
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        __import__(package)
        for name, (module, own) in homes(package).items():
            if name == own and not file(f"{module}.{name}").is_file():
                found.setdefault(module, []).append(name)
    return found


def file(module: str) -> Path:
    """The file of a module, or of a package."""
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def reference(module: str, names: list[str]) -> str:
    """The page of a module: each public name under `hb.`, as users write the name."""
    of = ast.parse(file(module).read_text())
    parts = [
        f"# {', '.join(names[:3])}{' …' if len(names) > 3 else ''}",
        f"`{module}`",
        fenced(ast.get_docstring(of) or ""),
    ]
    for name in sorted(names, key=str.lower):
        parts += [f'::: {module}.{name}\n    options:\n      heading: "hb.{name}"\n      toc_label: "{name}"']
    return "\n\n".join(parts) + "\n"


def example(path: Path) -> str:
    """The page of an example: its documentation, and the file."""
    text = path.read_text()
    return f"# {path.stem}\n\n{fenced(ast.get_docstring(ast.parse(text)) or '')}\n\n```python\n{text}```\n"


def on_config(config: Any) -> Any:
    """Add the pages made here to the sidebar."""
    rooms: dict[str, list[str]] = {}
    for module in modules():
        rooms.setdefault(module.split(".")[0], []).append(f"api/{module}.md")
    for section in config.nav:
        if isinstance(section, dict) and "Reference" in section:
            section["Reference"].append({"Names": [{package: pages} for package, pages in rooms.items()]})
        if isinstance(section, dict) and "Tutorials" in section:
            section["Tutorials"].append({"Examples": [page(one) for one in examples()]})
    config.nav.append({"Project": [*OUTSIDE.values()]})
    return config


def examples() -> list[Path]:
    """The files of the examples."""
    return sorted((ROOT / "docs/examples").rglob("*.py"))


def page(example: Path) -> str:
    """The page of an example, by its path in the folder of the documentation."""
    return example.relative_to(ROOT / "docs").with_suffix(".md").as_posix()


def on_files(files: Files, config: Any) -> Files:
    """Add the pages made here."""
    pages = {f"api/{module}.md": reference(module, names) for module, names in modules().items()}
    pages |= {page(one): example(one) for one in examples()}
    pages |= {page: within(ROOT / source[3:]) for source, page in OUTSIDE.items()}
    for uri, content in pages.items():
        files.append(File.generated(config, uri, content=content))
    font = Path(mpl.get_data_path(), "fonts/ttf/DejaVuSansMono.ttf")  # free, and it has all signs
    files.append(File.generated(config, f"site/{font.name}", abs_src_path=str(font)))
    return files


def on_post_build(config: Any) -> None:
    """Leave out the maps from scripts to their sources, which only those who write the theme read."""
    for file in Path(config["site_dir"]).rglob("*.js.map"):
        file.unlink()


def within(file: Path) -> str:
    """The text of a file beside the folder, with its links as they are from inside of it."""
    text = re.sub(r"\]\(docs/", "](", file.read_text())
    return re.sub(r"\]\((README|CONTRIBUTING|CHANGELOG)\.md", lambda m: f"]({m[1].lower()}.md", text).replace(
        "](LICENSE)", "](https://opensource.org/license/mit)"
    )


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Follow links to pages made here; blocks with prompts are sessions of Python."""
    del page, config, files
    for source, target in OUTSIDE.items():
        markdown = markdown.replace(f"]({source}", f"]({target}")
    markdown = re.sub(r"\]\((examples/[\w/]+)\.py", r"](\1.md", markdown)
    return re.sub(r"```python\n(?=>>> )", "```pycon\n", markdown)
