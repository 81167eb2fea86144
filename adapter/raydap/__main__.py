"""`python -m raydap` is the command `raydap`."""

from raydap.cli.main import main

if __name__ == "__main__":
    main()
