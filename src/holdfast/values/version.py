"""The version, in its one home: the package, the build and the files it writes read it here."""

__version__ = "0.1.0"
