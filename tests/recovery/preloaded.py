"""Loads what every call loads. The process that forks imports this module."""

from tests.docs.forking import warm_up

warm_up()
