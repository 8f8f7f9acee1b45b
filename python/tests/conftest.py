import numpy as np
import pytest

RUBBER = {"model": "neo-hookean", "E": 1e5, "nu": 0.3, "rho": 1000}


def box(size=(1.0, 1.0, 1.0), cells=(2, 2, 2)):
    """Vertices and tets of a box: six tets around the diagonal of every cell."""
    nx, ny, nz = cells
    axes = [np.linspace(0, s, n + 1) for s, n in zip(size, cells)]
    V = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    T = []
    for order in [(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 2, 1), (1, 2, 0), (2, 1, 0)]:
        corner = np.zeros((4, 3), int)
        for k, axis in enumerate(order):
            corner[k + 1] = corner[k]
            corner[k + 1, axis] = 1
        T.append(np.stack([number[c[0] : c[0] + nx, c[1] : c[1] + ny, c[2] : c[2] + nz].ravel() for c in corner], axis=-1))
    return V, np.concatenate(T)


@pytest.fixture
def bar():
    return box((2.0, 0.5, 0.5), (8, 2, 2))


@pytest.fixture
def rubber():
    return dict(RUBBER)
