"""Reads feeds from standard input, as a JSON list of texts, and prints the authors that feedparser finds in each."""

import json
import sys

import feedparser


def names(entry):
    return [author["name"] for author in entry.get("authors", []) if "name" in author]


def authors(text):
    read = feedparser.parse(text.encode())
    return {"channel": names(read.feed), "items": [names(entry) for entry in read.entries]}


json.dump([authors(text) for text in json.load(sys.stdin)], sys.stdout)
