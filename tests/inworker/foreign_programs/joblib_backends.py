"""Results and errors of joblib's backends."""

import os

from joblib import Parallel, delayed


def square(number):
    return number * number


def fail(number):
    raise ValueError(number)


def end(number):
    os._exit(number)


if __name__ == "__main__":
    for backend in ("loky", "multiprocessing", "threading"):
        with Parallel(n_jobs=2, backend=backend) as parallel:
            print(backend, parallel(delayed(square)(number) for number in range(6)))
        try:
            Parallel(n_jobs=2, backend=backend)(delayed(fail)(number) for number in range(1, 3))
        except ValueError as error:
            print("raised", type(error).__mro__[-4:-1])
    try:
        Parallel(n_jobs=2, backend="loky")(delayed(end)(number) for number in range(1, 3))
    except Exception as error:
        print(type(error).__name__)
