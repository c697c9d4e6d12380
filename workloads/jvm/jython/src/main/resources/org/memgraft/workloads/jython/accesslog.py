"""What a small script in a web shop does all day: read an access log, sum it up, write a report.

Pure Python 2.7. Everything comes from the seed, and nothing depends on the order of a dictionary or
on the identity of an object, so that work(seed, lines) returns the same number in every interpreter.
"""

import collections
import heapq
import json
import re
import string

LINE = re.compile(
    r'(?P<host>\d+\.\d+\.\d+\.\d+) - (?P<user>\S+) \[(?P<minute>\d+)\] '
    r'"(?P<verb>[A-Z]+) (?P<path>[^ ?]+)(?:\?(?P<query>\S*))? HTTP/1\.1" (?P<status>\d{3}) (?P<size>\d+)')

PAGE = string.Template("""<h1>$title</h1>
<p>$requests requests, $megabytes MB, $errors errors</p>
<table>
$rows
</table>""")

USERS = ['ada', 'barbara', 'edsger', 'frances', 'grace', 'john', 'niklaus', 'tony', '-']
PATHS = ['/', '/basket', '/checkout', '/item/%d', '/item/%d/reviews', '/search', '/static/shop.css']
STATUS = [200, 200, 200, 200, 200, 304, 302, 404, 500]


class Numbers(object):
    """A linear congruential generator (Numerical Recipes, section 7.1)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state * 1664525 + 1013904223) & 0xffffffff
        return (self.state >> 8) % bound

    def any(self, choices):
        return choices[self.below(len(choices))]


class Visit(object):
    """The requests of one user that follow each other closely."""

    def __init__(self, user, minute):
        self.user = user
        self.first = self.last = minute
        self.paths = []

    def add(self, minute, path):
        self.last = minute
        self.paths.append(path)

    @property
    def bought(self):
        return '/checkout' in self.paths

    def __cmp__(self, other):
        return cmp((self.first, self.user), (other.first, other.user))


def write_log(numbers, lines):
    minute = 0
    for _ in xrange(lines):
        minute += numbers.below(3)
        path = numbers.any(PATHS)
        if '%d' in path:
            path = path % numbers.below(200)
        if path == '/search':
            path += '?q=%s&page=%d' % (numbers.any(USERS), numbers.below(5))
        yield '10.%d.%d.%d - %s [%d] "GET %s HTTP/1.1" %d %d' % (
            numbers.below(4), numbers.below(256), numbers.below(256), numbers.any(USERS), minute, path,
            numbers.any(STATUS), numbers.below(50000))


def parse(lines):
    for line in lines:
        match = LINE.match(line)
        if match:
            request = match.groupdict()
            request['minute'] = int(request['minute'])
            request['status'] = int(request['status'])
            request['size'] = int(request['size'])
            yield request


def visits_of(requests):
    open_visits = {}
    closed = []
    for request in requests:
        user = request['user']
        visit = open_visits.get(user)
        if visit is None or request['minute'] - visit.last > 15:
            if visit is not None:
                heapq.heappush(closed, visit)
            visit = open_visits[user] = Visit(user, request['minute'])
        visit.add(request['minute'], request['path'])
    for user in sorted(open_visits):
        heapq.heappush(closed, open_visits[user])
    return [heapq.heappop(closed) for _ in xrange(len(closed))]


def summary_of(requests):
    by_path = collections.defaultdict(lambda: {'requests': 0, 'bytes': 0, 'errors': 0})
    for request in requests:
        entry = by_path[re.sub(r'\d+', 'N', request['path'])]
        entry['requests'] += 1
        entry['bytes'] += request['size']
        entry['errors'] += request['status'] >= 400
    return dict(by_path)


def page_of(summary):
    rows = ['<tr><td>%-20s</td><td>%6d</td><td>%8.3f</td></tr>' % (path, entry['requests'], entry['bytes'] / 1e6)
            for path, entry in sorted(summary.items(), key=lambda pair: (-pair[1]['requests'], pair[0]))]
    return PAGE.substitute(
        title='Access log'.title(),
        requests=sum(entry['requests'] for entry in summary.values()),
        megabytes='{0:.2f}'.format(sum(entry['bytes'] for entry in summary.values()) / 1e6),
        errors=sum(entry['errors'] for entry in summary.values()),
        rows='\n'.join(rows))


def checksum_of(text):
    total = 7
    for character in text:
        total = (total * 31 + ord(character)) & 0x7fffffff
    return total


def work(seed, lines):
    """One log of so many lines; returns a number below 2**31."""
    requests = list(parse(write_log(Numbers(seed), lines)))
    summary = summary_of(requests)
    stored = json.dumps(summary, sort_keys=True, indent=1)
    page = page_of(json.loads(stored))
    visits = visits_of(requests)
    story = ';'.join('%s %d-%d %d%s' % (visit.user, visit.first, visit.last, len(visit.paths),
                                       '!' if visit.bought else '') for visit in visits)
    return checksum_of(stored) ^ checksum_of(page) ^ checksum_of(story)
