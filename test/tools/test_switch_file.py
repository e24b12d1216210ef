"""Fusion switch files: what they switch, and where their mistakes are."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge.ir.errors import GeError
from ge.ir.registry import registry
from ge.ir.rewrite_log import Switches
from ge.tools.pipeline import parse_pipeline, pipeline_text
from ge.tools.switch_file import read_switch_file, switched


def read(path: Path, text: str) -> Switches:
    file = path / "switches.json"
    file.write_text(text)
    return read_switch_file(str(file), registry())


def test_passes_and_rules_are_switched_in_either_section(tmp_path: Path) -> None:
    switches = read(
        tmp_path,
        """{"Switch": {"GraphFusion": {"swish": "off", "eliminate-identity.transpose": "off", "fold-conv-bn": "on"},
                       "UBFusion": {"fuse-conv-bn-relu": "off"}}}""",
    )
    assert switches.states == {
        "swish": False,
        "eliminate-identity.transpose": False,
        "fold-conv-bn": True,
        "fuse-conv-bn-relu": False,
    }
    assert switches.defaults == {}


def test_all_is_about_the_passes_of_a_section_and_weaker_than_names(tmp_path: Path) -> None:
    off = read(tmp_path, '{"Switch": {"UBFusion": {"ALL": "off", "fold-conv-bn": "on"}}}')
    assert not off.allow_pass("fuse-conv-bn-relu") and off.allow_pass("fold-conv-bn") and off.allow_pass("onnx-cse")
    off = read(tmp_path, '{"Switch": {"GraphFusion": {"ALL": "off", "swish": "on"}}}')
    assert not off.allow_pass("onnx-cse") and off.allow_pass("fuse-conv-bn-relu")
    assert off.allow_rule("swish", "recognise-swish") and not off.allow_rule("mish", "onnx-recognise-activations")
    assert not off.allow_rule("my-rule", "fusion-rules")
    assert off.allow_pass("convert-onnx-to-graph") and off.allow_pass("constant-fold")


@pytest.mark.parametrize("name", ["constant-fold", "batch-norm-to-conv", "convert-onnx-to-graph", "insert-sync"])
def test_58_what_nothing_compiles_without_stays_on(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    switches = read(tmp_path, f'{{"Switch": {{"GraphFusion": {{"{name}": "off"}}}}}}')
    assert switches.states == {}
    assert f"pass '{name}' stays on" in caplog.text


@pytest.mark.parametrize("text", ["{}", '{"Switch": {}}', '{"Switch": {"GraphFusion": {}, "UBFusion": {}}}'])
def test_nothing_is_switched(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == Switches()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("swish:off", "1:1", "not JSON"),
        ('{"Switch": {"GraphFusion": {"swish": "off",}}}', "1:44", "not JSON"),
        ("[]", "1:1", "the file is a list, not an object"),
        ('{"Switch": "off"}', "1:2", "'Switch' is \"off\", not an object"),
        ('{"Switch": {"GraphFusion": ["swish"]}}', "1:13", "'GraphFusion' is a list"),
        ('{"Swich": {}}', "1:2", "'Swich' means nothing here; near it are 'Switch'"),
        ('{"Switch":\n {"GraphFusions": {}}}', "2:3", "near it are 'GraphFusion'"),
        (
            '{"Switch":\n {"GraphFusion": {\n  "swisch": "off"}}}',
            "3:3",
            "no pass or rule 'swisch'; near it are 'swish'",
        ),
        ('{"Switch": {"UBFusion": {"swish": "Off"}}}', "1:26", '\'swish\' is "Off", not "on" or "off"'),
        ('{"Switch": {"UBFusion": {"swish": false}}}', "1:26", "'swish' is false"),
        ('{"Switch": {"UBFusion": {"ALL": 1}}}', "1:26", "'ALL' is 1"),
        ('{"Switch": {"UBFusion": {"swish": "on", "swish": "off"}}}', "1:41", "'swish' is there twice"),
        ('{"Switch": {"GraphFusion": {"swish": "on"}, "UBFusion": {"swish": "off"}}}', "1:58", "in both sections"),
        ('{"Switch": {"GraphFusion": {"all": "off"}}}', "1:29", "near it are 'ALL'"),
        ('{"Switch": {"GraphFusion": {"FoldConvBn": "off"}}}', "1:29", "near it are 'fold-conv-bn'"),
        ('{"Switch": {"GraphFusion": {"ConvBnReluFusionPass": "off"}}}', "1:29", "'fuse-conv-bn-relu'"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, text: str, place: str, words: str) -> None:
    with pytest.raises(GeError) as error:
        read(tmp_path, text)
    assert error.value.code == "GE2030"
    assert error.value.where == f"{tmp_path}/switches.json:{place}"
    assert words in error.value.what


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    assert read(tmp_path, '\ufeff{"Switch": {"GraphFusion": {"swish": "off"}}}').states == {"swish": False}


def test_a_missing_file_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(GeError) as error:
        read_switch_file(str(tmp_path / "none.json"), registry())
    assert error.value.code == "GE1001"


def test_rules_of_files_of_the_user_can_be_switched(tmp_path: Path) -> None:
    rules = tmp_path / "my.gerules"
    rules.write_text("rule my-rule\nmatch\n    y = Neg(Neg(x))\nrewrite\n    y = x\n")
    file = tmp_path / "switches.json"
    file.write_text('{"Switch": {"GraphFusion": {"my-rule": "off"}}}')
    assert read_switch_file(str(file), registry(), [str(rules)]).states == {"my-rule": False}
    with pytest.raises(GeError, match="'my-rule'"):
        read_switch_file(str(file), registry())


@pytest.mark.parametrize(
    ("passes", "switches", "left"),
    [
        ("onnx-cse,onnx-dce", '"onnx-cse": "off"', "onnx-dce"),
        ("recognise-swish", '"swish": "off"', "simplify{passes=recognise-swish off=swish}"),
        ("simplify{passes=recognise-gelu,fuse-pad}", '"recognise-gelu": "off", "fuse-pad": "off"', ""),
        ("fusion-rules{only=swish,mish}", '"mish": "off"', "fusion-rules{only=swish,mish off=mish}"),
        ("infer-shapes,fuse-pad", '"ALL": "off", "fuse-pad": "on"', "infer-shapes,\nfuse-pad"),
    ],
)
def test_what_is_left_is_a_pipeline_without_switches(tmp_path: Path, passes: str, switches: str, left: str) -> None:
    off = read(tmp_path, f'{{"Switch": {{"GraphFusion": {{{switches}}}}}}}')
    found = list(switched(parse_pipeline(passes, registry()), off))
    assert pipeline_text(found) == left
    assert parse_pipeline(left, registry()) == found == list(switched(found, Switches()))
