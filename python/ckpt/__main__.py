"""The command line: `python -m ckpt`."""

from .commands import main

if __name__ == "__main__":
    main()
