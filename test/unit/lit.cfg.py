# Runs the GoogleTest binaries, which lie in the build folder.
import lit.formats

config.name = "ckpt-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = config.test_exec_root
