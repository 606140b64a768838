# SPDX-License-Identifier: Apache-2.0
"""Counts the cases in the TAP output of a suite.

A suite's log may hold several TAP documents one after the other (one for each
test program) and, as KUnit prints it, documents nested by indentation. Only
leaves are counted: the line that sums up nested cases is not a case itself.
"""

import re
import sys

POINT = re.compile(r"^(\s*)(not )?ok\b\s*(\d+)?\s*(?:- )?(.*)$")
PASSED = re.compile(r"^(\[ *\d+s\] )?\s*ok\b")
PLAN = re.compile(r"^1\.\.(\d+)")
SKIP = re.compile(r"#\s*skip\S*\s*(.*)", re.IGNORECASE)
# The Xen lab's lines as they come: when, and a word for a skip.
STAMP = re.compile(r"^\[ *\d+s\] ")
LAB_SKIP = re.compile(r"^skip (\S+) - (.*)$")
BAIL = re.compile(r"^\s*Bail out!\s*(.*)")


class Tally:
    """What the lines fed so far say."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.failed_at = []  # for each failure the number of the line that told it, from 1
        self.skips = []
        self._lines = 0
        self._planned = 0
        self._top_points = 0
        # For each open nesting depth: the number of failures before its first case.
        self._open = []

    def feed(self, line):
        self._lines += 1
        line = STAMP.sub("", line.rstrip("\r\n"))
        line = LAB_SKIP.sub(r"ok \1 # SKIP \2", line)
        plan = PLAN.match(line)
        bail = BAIL.match(line)
        point = POINT.match(line)
        if plan:
            self._planned += int(plan.group(1))
            skip = SKIP.search(line)
            if skip and plan.group(1) == "0":
                self.skips.append(f"all of it: {skip.group(1) or 'no reason given'}")
        elif bail:
            self._fail(f"bailed out: {bail.group(1)}")
        elif point:
            self._point(len(point.group(1)), bool(point.group(2)), point.group(4).strip())

    def close(self, exit_error):
        """Ends the suite; exit_error says how it died, or is None."""
        if exit_error and not self.failures:
            self._fail(exit_error)
        elif self._top_points < self._planned:
            self._fail(f"{self._planned} cases planned, {self._top_points} reported")
        elif not (self.passed or self.failures or self.skips):
            self._fail("reported no case")

    def __str__(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"

    def _fail(self, text):
        self.failures.append(text)
        self.failed_at.append(self._lines)

    def _point(self, indent, failed, text):
        if indent == 0:
            self._top_points += 1
        failures_before = None
        while self._open and self._open[-1][0] > indent:
            failures_before = self._open.pop()[1]
        if failures_before is not None:
            # Sums up what was nested: news only if nothing nested told it.
            if failed and len(self.failures) == failures_before:
                self._fail(text)
            return
        if not self._open or self._open[-1][0] < indent:
            self._open.append((indent, len(self.failures)))
        skip = SKIP.search(text)
        if skip:
            name = text[: skip.start()].strip()
            self.skips.append(f"{name}: {skip.group(1) or 'no reason given'}".lstrip(": "))
        elif failed:
            self._fail(text)
        else:
            self.passed += 1


def main():
    """Reads TAP, prints the count; exit status 1 if anything failed."""
    tally = Tally()
    for line in sys.stdin:
        tally.feed(line)
    tally.close(None)
    for failure in tally.failures:
        print(f"# failed: {failure}")
    print(f"# {tally}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
