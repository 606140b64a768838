# SPDX-License-Identifier: Apache-2.0
"""Plots of what bench/run measured: SVG, by gnuplot, in the folder of the results."""
import re
import shutil
import statistics
import subprocess

SCALE = {'KiB': 1024, 'MiB': 1 << 20}
# How an axis that has this label is divided: 64 KiB, not 65536; no half guests.
DIVIDED = {'bytes': 'set logscale x 2\nset format x "%.0b %BB"\n', 'guests': 'set xtics 1\n'}


def middle(rounds, figure, which=1):
    return statistics.median(r[figure][which] for r in rounds)


def write(out, name, rows):
    path = out / f'{name}.dat'
    path.write_text(''.join('\t'.join(str(v) for v in row) + '\n' for row in rows))
    return path


def gnuplot(out, name, commands):
    """Nothing where there is no gnuplot: the data lie there all the same."""
    if not shutil.which('gnuplot'):
        return
    head = f'''set terminal svg size 900,600 background "white"
set output "{out}/{name}.svg"
set datafile separator "\\t"
set key outside
set grid
'''
    subprocess.run(['gnuplot'], input=head + commands, text=True, check=False)


def lines(out, name, series, xlabel, ylabel, logs='xy'):
    """A line for each of series: {title: [(x, y)...]}."""
    parts = [f'"{write(out, f"{name}-{i}", sorted(points))}" using 1:2 with linespoints '
             f'title "{title}"' for i, (title, points) in enumerate(series.items())]
    if parts:
        gnuplot(out, name, f'set logscale {logs}\n{DIVIDED.get(xlabel, "")}'
                f'set xlabel "{xlabel}"\nset ylabel "{ylabel}"\nplot {", ".join(parts)}\n')


def by_number(sides, pattern, which=1):
    """{side and the rest of the figure's name: [(the number in it, value)...]}."""
    series = {}
    for side, rounds in sides.items():
        for figure in rounds[0]:
            found = re.fullmatch(pattern, figure)
            if found:
                number = int(found['n']) * SCALE.get(found.groupdict().get('unit'), 1)
                rest = (found.groupdict().get('what') or '').strip()
                series.setdefault(f'{side} {rest}'.strip(), []).append(
                    (number, middle(rounds, figure, which)))
    return series


def bars(out, name, sides, unit):
    """A group of bars for each figure of that unit: p50, p99 and p99.9 of each side."""
    first = next(iter(sides.values()))[0]
    rows = [[figure] + [middle(rounds, figure, which) for rounds in sides.values()
                        for which in (1, 2, 3)]
            for figure, values in first.items() if values[0] == unit]
    titles = [f'{side} {p}' for side in sides for p in ('p50', 'p99', 'p99.9')]
    path = write(out, name, rows)
    plot = ', '.join(f'"{path}" using {i + 2}:xtic(1) title "{t}"' for i, t in enumerate(titles))
    gnuplot(out, name, 'set style data histograms\nset style fill solid 0.7\nset logscale y\n'
            f'set xtics rotate by -40\nset bmargin 12\nset ylabel "{unit}"\nplot {plot}\n')


def draw(results, out):
    """All plots that the results have figures for."""
    of = results.of
    if 'latency' in of:
        bars(out, 'latency', of['latency'], 'us')
    if 'startup' in of:
        bars(out, 'startup', of['startup'], 'ms')
    if 'cpu' in of:
        bars(out, 'cpu', of['cpu'], 'us')
    if 'transport' in of:
        bars(out, 'transport', of['transport'], 'us')
        lines(out, 'posted', by_number(of['transport'], r'posted (?P<n>\d+) bytes (?P<what>.*)'),
              'bytes of parameters', 'thousand posted calls a second')
    if 'bandwidth' in of:
        lines(out, 'bandwidth', by_number(
            of['bandwidth'], r'(?P<what>.*) (?P<n>\d+) (?P<unit>KiB|MiB)'), 'bytes', 'GB/s', 'x')
    if 'threads' in of:
        lines(out, 'threads', by_number(of['threads'], r'(?P<what>.*), (?P<n>\d+) threads'),
              'threads', 'thousand a second')
    if 'processes' in of:
        lines(out, 'processes', by_number(of['processes'], r'(?P<what>launch.*), (?P<n>\d+) processes'),
              'processes', 'thousand a second')
        lines(out, 'processes-copies',
              by_number(of['processes'], r'(?P<what>pageable.*), (?P<n>\d+) processes'),
              'processes', 'GB/s')
    for name, figure in (('vector-add', 'vector add'), ('matrix-multiply', 'matrix multiply')):
        if 'remote' in of:
            lines(out, name, by_number(of['remote'], rf'{figure} (?P<n>\d+)'),
                  'elements' if name == 'vector-add' else 'order of the matrices', 'ms a step')
