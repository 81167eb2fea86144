"""Entry point of `python -m raydap`."""

from raydap.cli.main import main

if __name__ == "__main__":
    main()
