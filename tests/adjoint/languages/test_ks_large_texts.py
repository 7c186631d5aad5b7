"""A stage whose text is too large to be read back says so, by the rule of the reader."""

from pathlib import Path

import pytest

from adjoint.command import main
from adjoint.languages.ks.run.ks_functions import KsFunction, load
from adjoint.languages.ks.text import form_reader
from adjoint.languages.source_text import Source
from diff.lam.term import term_error
from diff.lam.term.term_error import TermError

TEXT = """(edef s Float (Float))
(def [fwd s] Float ((x : Float) (dx : Float)) (mul (cos x) dx))
(def f Float (x : Float) (let (t ($trace (tuple x "a;\\"( b"))) (let (y (mul (get$1$2 t) x)) (mul y (s y)))))
"""


def function() -> KsFunction:
    found = load([Source("s.ks", TEXT)]).functions["f"]
    assert isinstance(found, KsFunction)
    return found


def limit(monkeypatch: pytest.MonkeyPatch, text: str, module: object, name: str, most: int) -> int:
    """The least limit at which a text is read."""
    for k in range(most):
        monkeypatch.setattr(module, name, k)
        try:
            assert list(form_reader.forms(Source("t.ks", text)))
        except TermError:
            continue
        return k
    raise AssertionError


@pytest.mark.parametrize("stage", ["anf", "fwd", "rev-cse", "CL"])
@pytest.mark.parametrize(
    ("of", "name", "says"), [(term_error, "LARGEST", "definition of"), (form_reader, "DEEPEST", "brackets")]
)
def test_what_is_not_read_back_is_said(
    monkeypatch: pytest.MonkeyPatch, of: object, name: str, says: str, stage: str
) -> None:
    """At the limit of the reader nothing is, and one below it is, with both numbers."""
    make = function().stages()[stage]
    least = limit(monkeypatch, make(None, None), of, name, 1000)
    text = make(None, None)
    monkeypatch.setattr(of, name, least - 1)
    with pytest.warns(UserWarning, match=rf"the stage {stage} of f is .*{says} {least} .* {least - 1} are read"):
        assert make(None, None) == text


@pytest.mark.filterwarnings("default")
def test_the_text_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`show -o` warns on stderr, and its status is 0; what `check` says of the text has the same number."""
    source, out = tmp_path / "s.ks", tmp_path / "o.ks"
    source.write_text(TEXT, "utf-8")
    words = ["show", str(source), "f", "--stage", "rev", "-o", str(out)]
    assert (main(words), capsys.readouterr()) == (0, ("", ""))
    text = out.read_text("utf-8")
    assert main(["check", str(out)]) == 0
    capsys.readouterr()
    least = limit(monkeypatch, text, term_error, "LARGEST", 1000)
    monkeypatch.setattr(term_error, "LARGEST", least - 1)
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "the stage rev of f is too large to be read back" in printed.err
    assert f"a definition of {least} words, and {least - 1} are read" in printed.err
    assert out.read_text("utf-8") == text
    assert main(["check", str(out)]) == 1
    assert f"a definition of more than {least - 1} words" in capsys.readouterr().err
