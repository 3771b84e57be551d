"""Characters to symbols inside a graph: clean-up, letter case, accents.

See `code_points` for what a symbol is. Plain TensorFlow operations only.

B texts · C symbols of all texts together
"""

import itertools
from typing import NamedTuple

import tensorflow as tf

from bert_tf.text import code_points
from bert_tf.text.code_points import (
    FINAL_SIGMA,
    FIRST_ROW,
    IS_CASED,
    IS_REMOVED,
    IS_SKIPPED,
    NUM_CLASSES,
    PAGE_SIZE,
    SIGMA,
    SPACE,
)


class Symbols(NamedTuple):
    """What the characters become, texts one after the other; all int32 [C]."""

    symbols: tf.Tensor
    chars: tf.Tensor  # which character of its text each is from
    texts: tf.Tensor  # which text


class _PagedTable(tf.Module):
    """Looks a code_points.Paged up."""

    def __init__(self, paged):
        super().__init__()
        self._pages = tf.constant(paged.pages * PAGE_SIZE)
        self._entries = tf.constant(paged.entries)

    def __call__(self, code_points):
        page = tf.gather(self._pages, code_points // PAGE_SIZE)
        return tf.gather(self._entries, page + code_points % PAGE_SIZE)


class Characters(tf.Module):
    """What `tokenization.BasicTokenizer` makes of texts, but for the split."""

    def __init__(self, do_lower_case):
        """Makes the tables, which takes a few seconds (bool do_lower_case)."""
        super().__init__(name="characters")
        table = code_points.characters(do_lower_case)
        self._num_contextual = table.num_contextual
        self._entries = _PagedTable(table.entries)
        lengths = [len(row) for row in table.rows]
        starts = itertools.accumulate(lengths[:-1], initial=0)
        self._row_lengths = tf.constant(lengths, tf.int32)
        self._row_starts = tf.constant(list(starts), tf.int32)
        # One more than there are, so that there is always one to look up.
        values = [*itertools.chain.from_iterable(table.rows), SPACE]
        self._row_values = tf.constant(values, tf.int32)
        if do_lower_case:
            self._context = _PagedTable(code_points.context())

    def __call__(self, texts):
        """Turns texts (string [B], UTF-8) into Symbols."""
        decoded = tf.strings.unicode_decode(texts, "UTF-8", errors="ignore")
        code_points = decoded.values
        entries = self._entries(code_points)
        if not self._num_contextual:
            return self._expand(decoded, entries)
        is_contextual = (entries >= FIRST_ROW) & (
            entries < FIRST_ROW + self._num_contextual
        )
        return tf.cond(
            tf.reduce_any(is_contextual),
            lambda: self._expand_in_context(decoded),
            lambda: self._expand(decoded, entries),
        )

    def _expand(self, decoded, entries):
        """Turns characters into the Symbols that their entries say.

        `decoded`: int32 [B, (characters)], code points. `entries`: int32
        [characters of all texts].
        """
        has_row = entries >= FIRST_ROW
        rows = tf.where(has_row, entries - FIRST_ROW, 0)
        counts = tf.where(has_row, tf.gather(self._row_lengths, rows), 1)
        sources = tf.repeat(tf.range(tf.size(entries)), counts)  # [C]
        places = tf.range(tf.size(sources)) - tf.gather(
            tf.cumsum(counts, exclusive=True), sources
        )
        single = tf.gather(2 * decoded.values + entries, sources)
        is_from_row = tf.gather(has_row, sources)
        row_starts = tf.gather(self._row_starts, tf.gather(rows, sources))
        from_row = tf.gather(
            self._row_values, tf.where(is_from_row, row_starts + places, 0)
        )
        texts = tf.cast(decoded.value_rowids(), tf.int32)
        starts = tf.cast(decoded.row_starts(), tf.int32)
        texts = tf.gather(texts, sources)
        return Symbols(
            symbols=tf.where(is_from_row, from_row, single),
            chars=sources - tf.gather(starts, texts),
            texts=texts,
        )

    def _expand_in_context(self, decoded):
        """As `_expand`, where characters act on each other."""
        context = self._context(decoded.values)
        decoded = decoded.with_values(_with_final_sigmas(decoded, context))
        expanded = self._expand(decoded, self._entries(decoded.values))
        starts = tf.cast(decoded.row_starts(), tf.int32)
        sources = tf.gather(starts, expanded.texts) + expanded.chars
        runs = tf.gather(_runs_of_marks(decoded, context), sources)
        classes = self._context(expanded.symbols // 2) % NUM_CLASSES
        # Canonical order: marks after a letter stand by their classes.
        order = tf.argsort(
            tf.cast(runs, tf.int64) * NUM_CLASSES + tf.cast(classes, tf.int64),
            stable=True,
        )
        return Symbols(*(tf.gather(values, order) for values in expanded))


def _with_final_sigmas(decoded, context):
    """Replaces the sigmas that end a word by their final form.

    `decoded`: int32 [B, (characters)], code points. `context`, see
    code_points.context, and what is returned: int32 [characters of all texts].
    """
    seen = tf.where(context // IS_SKIPPED % 2 == 0)[:, 0]
    code_points = tf.gather(decoded.values, seen)
    is_cased = tf.gather(context // IS_CASED % 2 == 1, seen)
    texts = tf.gather(decoded.value_rowids(), seen)
    is_same_text = texts[1:] == texts[:-1]
    follows = tf.concat([[False], is_cased[:-1] & is_same_text], axis=0)
    precedes = tf.concat([is_cased[1:] & is_same_text, [False]], axis=0)
    size = tf.size(seen)
    is_final = (code_points == SIGMA) & follows[:size] & ~precedes[:size]
    places = tf.boolean_mask(seen, is_final)
    return tf.tensor_scatter_nd_update(
        decoded.values,
        places[:, tf.newaxis],
        tf.fill([tf.size(places)], FINAL_SIGMA),
    )


def _runs_of_marks(decoded, context):
    """Numbers the runs of a letter and its marks; int32 as `context`.

    What the clean-up removes does not end a run.
    """
    has_class = context % NUM_CLASSES != 0
    is_removed = context // IS_REMOVED % 2 == 1
    size = tf.size(context, tf.int64)
    texts = decoded.value_rowids()
    before = tf.concat([tf.constant([-1], tf.int64), texts], axis=0)[:size]
    begins = ~(has_class | is_removed) | (texts != before)
    return tf.cumsum(tf.cast(begins, tf.int32))
