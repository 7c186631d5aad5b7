"""The examples of docs/solving.md, on fewer points: they find what their data were drawn from."""

from __future__ import annotations

import pytest

from docs.examples.solving import darcy_inversion, feature_process, poisson_field


def test_a_poisson_field(capsys: pytest.CaptureFixture[str]) -> None:
    link, precision = poisson_field.main(4000)
    assert abs(link - 0.9) < 0.05
    assert abs(precision - 1.0) < 0.4
    assert capsys.readouterr().out.startswith("4000 times: link 0.")


def test_a_process_of_features(capsys: pytest.CaptureFixture[str]) -> None:
    assert abs(feature_process.main(3000) - 0.1) < 0.01
    assert capsys.readouterr().out.startswith("3000 points: noise 0.")


def test_an_inversion_of_darcy_flow(capsys: pytest.CaptureFixture[str]) -> None:
    assert darcy_inversion.main(40) > 0.8
    assert "of the variance is found" in capsys.readouterr().out
