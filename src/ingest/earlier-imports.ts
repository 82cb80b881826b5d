import { normalized } from '../ledger/marks.ts';
import { WRITER_MAX } from '../ledger/piece.ts';
import { list } from '../phrases/intl.ts';

/**
 * The authors of a line of an archive as imports filed them before pieces had lists of authors: in one line, as many as
 * fit. Null where the archive names nobody. An import that finds this text leaves the piece as it is.
 */
export function joinedAuthors(authors: readonly string[], language: string): string | null {
  const names = authors.map((name) => name.replace(/\s+/g, ' ').trim()).filter((name) => name !== '');
  // More than fit side by side are not tried: an archive may name thousands.
  for (let count = fitting(names, WRITER_MAX); count > 0; count--) {
    const writer = `${list(language, names.slice(0, count))}${count < names.length ? ' et al.' : ''}`;
    if (writer.length <= WRITER_MAX) return normalized(writer).trim();
  }
  return null;
}

/** How many texts have no more than `max` characters together. */
function fitting(texts: readonly string[], max: number): number {
  let length = 0;
  for (const [count, text] of texts.entries()) {
    length += text.length;
    if (length > max) return count;
  }
  return texts.length;
}
