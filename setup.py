"""Installs the library and puts the scripts on PATH."""

import pathlib

from setuptools import find_packages, setup

setup(
    name="bert_tf",
    version="0.1.0",
    description="The 2018 BERT release on today's TensorFlow 2 and tf_keras.",
    long_description=pathlib.Path(__file__)
    .with_name("README.md")
    .read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10,<3.14",
    packages=find_packages(include=["bert_tf", "bert_tf.*"]),
    # Whole files, not entry points: they keep the names, .py included, that
    # people's 2018 command lines hold.
    scripts=[
        "convert_checkpoint.py",
        "create_pretraining_data.py",
        "export_savedmodel.py",
        "extract_features.py",
        "run_classifier.py",
        "run_pretraining.py",
        "run_squad.py",
    ],
    install_requires=[
        "absl-py",
        "tensorflow~=2.20.0",
        "tf-keras~=2.20.0",
        "tensorflow-text~=2.20.0",
        # orbit, the training loop. Unpinned, pip walks back to 2.13.
        "tf-models-official~=2.20.0",
        # A module's URL; tf-models-official brings it anyway.
        "tensorflow-hub",
        # tensorflow-hub asks it for pkg_resources, which later ones lack.
        "setuptools>=68,<81",
        # Records, written without TensorFlow, which brings it anyway.
        "protobuf>=5.28",
        # The progress bar, and the metrics of tasks; tf-models-official brings
        # them anyway.
        "tqdm",
        "scikit-learn",
        "scipy",
    ],
    extras_require={
        # Hugging Face's weights: reading and writing safetensors files.
        "hf": ["safetensors~=0.8.0"],
        "test": [
            "pytest",
            "pytest-xdist",
            "ruff",
            "safetensors~=0.8.0",
        ],
        "tpu": ["tensorflow-tpu~=2.20.0"],
        "tpu-check": ["jax[tpu]"],
    },
)
