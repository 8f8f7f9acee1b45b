"""Scenes of scenes/papers for the checks of documents.py: runs of them, and what is read off."""

import json

import common
from common import np


def scene(name):
    return common.REPOSITORY / "scenes/papers" / (name + ".toml")


def run(name, *arguments, may_stop=False, **settings):
    return common.run(scene(name), *arguments, may_stop=may_stop, **settings)


def method(name, **options):
    """The table of an integrator, for `integrator=`; it replaces the whole table of the scene."""
    words = [f'name="{name}"'] + [f"{k}={json.dumps(v)}" for k, v in options.items()]
    return "{" + ", ".join(words) + "}"


def total(done):
    return done.energy["total"]


def rest(name, **settings):
    directory = common.folder()
    return json.loads(common.lilyan("rest", scene(name), "-o", directory, "--json", *common._settings(settings)).stdout)


def probe(report, k=0):
    return np.array(report["probes"][k]["at"])


def coarsen(name, tets, how, end, *arguments):
    """What `lilyan coarsen --compare` says of the fine, the plain coarse and the corrected run."""
    done = common.lilyan("coarsen", scene(name), "--tets", tets, "--method", how, "--compare", end, "-o",
                         common.folder() / "coarse", "--json", *arguments)
    return json.loads(done.stdout)["consistency"]["runs"]
