"""Settings of Sphinx. Nothing reaches for a network: fonts, search and formulas are files of the site."""

import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "torseur"
author = "The torseur developers"
# That of the checkout: what is installed may be older.
version = release = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["version"]

extensions = ["myst_parser", "sphinx_copybutton", "offline_math", "lsd_lexer"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 4
# A dollar that touches a word is a shell variable, not the start of a formula.
myst_dmath_double_inline = True
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["README.md"]  # the landing page of the repository; index.md is that of the site
# Annotations name types without their module; `Frame` is that of mechanisms and that of vectors.
suppress_warnings = ["ref.python"]
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp"

# A prime is a time derivative, not an apostrophe.
smartquotes = False

# Why Sphinx with Furo: docs/decisions/0090-sphinx-with-furo.md.
html_theme = "furo"
html_title = f"torseur {version}"
html_static_path = []
html_extra_path = []
# Summaries of search results are fetched page by page, which browsers refuse for pages read from a disk.
html_show_search_summary = False
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def setup(app):
    app.connect("config-inited", lambda app, config: setattr(config, "html_static_path", [f"{app.srcdir}/static"]))
