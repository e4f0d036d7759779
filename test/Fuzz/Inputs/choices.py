"""A source of random choices that can be recorded, edited and replayed."""
import random


class Choices:
    """Numbers below a limit: from a list while it lasts, then from a generator, or
    zero without one. `taken` is what was given out, `starts` where parts begin."""

    def __init__(self, seed=None, replay=()):
        self.random = random.Random(seed) if seed is not None else None
        self.replay, self.taken, self.starts = list(replay), [], []

    def below(self, limit):
        place = len(self.taken)
        if place < len(self.replay):
            number = self.replay[place] % limit
        else:
            number = self.random.randrange(limit) if self.random else 0
        self.taken.append(number)
        return number

    def begin(self):
        self.starts.append(len(self.taken))

    def pick(self, items):
        return items[self.below(len(items))]

    def chance(self, percent):
        # Zero, the simplest choice, says no.
        return self.below(100) >= 100 - percent

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def shuffled(self, items):
        items, result = list(items), []
        while items:
            result.append(items.pop(self.below(len(items))))
        return result

    def weighted(self, pairs):
        at = self.below(sum(weight for _, weight in pairs))
        for item, weight in pairs:
            if at < weight:
                return item
            at -= weight
        raise AssertionError
