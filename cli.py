"""Run the command line from a checkout: ``python cli.py --help``. The commands live in lshdb/cli/."""

from lshdb.cli.app import main

if __name__ == "__main__":
    main()
