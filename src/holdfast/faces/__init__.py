"""Doors for people and programs; thin."""
