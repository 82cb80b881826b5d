import { dependencies } from '../../dependencies.ts';
import { republishes, textPath } from '../../evidence.ts';
import type { Edition } from '../edition.ts';
import { keysAfter, type Output } from '../output.ts';

const pieces = keysAfter(dependencies.piece(''));
const facts = keysAfter(dependencies.fact(''));
const sources = keysAfter(dependencies.source(''));

/** A source's text that the desk read, by its SHA-256 in hex, if the paper shows such texts. */
export const keptSource: Output = {
  kind: 'kept-source',
  stage: 'assets',
  paths: /^evidence\/([0-9a-f]{64})\.txt$/,
  keysForDependency(dependency, { archive }) {
    if (!republishes(archive.paper())) return [];
    return [
      ...sources(dependency),
      ...pieces(dependency).flatMap((piece) => archive.textsOf({ piece })),
      ...facts(dependency).flatMap((fact) => archive.textsOf({ fact })),
    ].map(hexOf);
  },
  *allKeys({ archive }: Edition) {
    if (republishes(archive.paper())) for (const digest of archive.shownTexts()) yield hexOf(digest);
  },
  print(edition, hex) {
    const digest = `sha256:${hex}`;
    return edition.showsSource(digest) ? [{ path: textPath(digest), copy: digest, mayLack: true }] : null;
  },
};

const hexOf = (digest: string): string => digest.slice('sha256:'.length);
