"""The numbers of inner-kernels.mlir, in Python's floats.

usage: inner-kernels.py write FOLDER            writes in.npz
       inner-kernels.py check FOLDER RESULTS    compares the results
"""
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
import npz

ROWS, WIDTH, STEPS = 24, 40, 5
SHAPES = (ROWS, WIDTH), (3, WIDTH, WIDTH), (2, 9, 9), (2, 3, 3)


def arguments():
    source = random.Random(1)
    return [[source.randint(-64, 64) / 64 for _ in range(math.prod(shape))] for shape in SHAPES]


def results(x, w, image, filters):
    sums, gradient, convolved = [0.0] * ROWS, [0.0] * 9, [0.0] * (2 * 7 * 7)
    for step in range(STEPS):
        part = w[step % 3 * WIDTH**2 :]
        x = [math.tanh(0.125 * sum(x[row * WIDTH + k] * part[k * WIDTH + column] for k in range(WIDTH)))
             for row in range(ROWS) for column in range(WIDTH)]
        sums = [sums[row] + sum(x[row * WIDTH : (row + 1) * WIDTH]) for row in range(ROWS)]
        pixel = lambda c, row, column: image[c * 81 + row * 9 + column]
        places = [(c, row, column) for c in range(2) for row in range(7) for column in range(7)]
        gradient = [gradient[i * 3 + j] + sum(pixel(c, i + r, j + k) * convolved[c * 49 + r * 7 + k] for c, r, k in places)
                    for i in range(3) for j in range(3)]
        convolved = [convolved[c * 49 + r * 7 + k] + sum(pixel(c, r + i, k + j) * filters[c * 9 + i * 3 + j]
                     for i in range(3) for j in range(3)) for c, r, k in places]
    return x, sums, gradient, convolved


def main():
    given = arguments()
    if sys.argv[1] == "write":
        npz.write(f"{sys.argv[2]}/in.npz", [*(("f4", *each) for each in zip(given, SHAPES)), ("i4", [STEPS], ())])
        return
    for number, (right, made) in enumerate(zip(results(*given), npz.read(f"{sys.argv[2]}/{sys.argv[3]}"))):
        scale = max(map(abs, right))
        error = max(abs(a - b) for a, b in zip(right, made)) / scale
        print(f"result {number}: {'right' if error < (2e-2 if number == 1 else 1e-5) else f'off by {error}'}")


if __name__ == "__main__":
    main()
