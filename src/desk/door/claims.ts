import type { CitedFact } from '../../proof/basis.ts';
import { CLAIM_KEY, CLAIM_KEY_MAX, type FactVersion } from '../../proof/fact-note.ts';
import type { Problem } from '../../shared/shape.ts';
import { problem, quote } from '../../shared/shown-text.ts';
import { asciiWords, plainLetters } from './tag.ts';

/** The members that both an entry and its recorded fact have. */
const TEXTS = ['statement', 'source', 'instrument'] as const;

/** The newest version of a fact, as the rules read it. */
export type RecordedFact = Omit<FactVersion, 'claim_key'>;
/** The newest version of a fact; null for an unknown key. */
export type FactLookup = (claim_key: string) => Pick<RecordedFact, (typeof TEXTS)[number] | 'quote'> | null;

const FORM = new RegExp(`^${CLAIM_KEY}$`);

/** Whether a text is a claim key: words of a–z and 0–9 joined by hyphens, at most 80 characters. */
export function isClaimKey(text: string): boolean {
  return text.length <= CLAIM_KEY_MAX && FORM.test(text);
}

/** The problem of a malformed claim key, with the key that was probably meant; null for a valid key. */
export function claimKeyProblem(field: string, key: string): Problem | null {
  if (isClaimKey(key)) return null;
  const canonical = asciiWords(key).join('-');
  // Suggests no key for look-alike letters of other scripts.
  const isWhole = isClaimKey(canonical) && !/[^\p{ASCII}]/u.test(plainLetters(key).replace(/[^\p{L}\p{N}]/gu, ''));
  const cure = isWhole ? `write ${quote(canonical)}` : 'write one such as harbour-tonnage-2025';
  const message = `${quote(key)} is not a claim key: it has words of a–z and 0–9 joined by single hyphens, at most ${CLAIM_KEY_MAX} characters, so that no two keys look alike; ${cure}`;
  return problem(field, 'claim_key_form', message);
}

/** Whether an entry gives only a claim key and takes its texts from the record. */
export function isKeyAlone(fact: CitedFact): boolean {
  return fact.claim_key !== null && TEXTS.every((name) => fact[name] === '');
}

/** Fills the empty members of entries from the record, for entries whose claim key the record has. */
export function withRecord<F extends { cited_facts: CitedFact[] }>(filing: F, lookup: FactLookup): F {
  if (!filing.cited_facts.some((fact) => fact.claim_key !== null && TEXTS.some((name) => fact[name] === '')))
    return filing;
  return { ...filing, cited_facts: filing.cited_facts.map((fact) => entryWithRecord(fact, lookup)) };
}

function entryWithRecord(fact: CitedFact, lookup: FactLookup): CitedFact {
  const isWhole = TEXTS.every((name) => fact[name] !== '');
  const known = fact.claim_key === null || isWhole ? null : lookup(fact.claim_key);
  if (known === null) return fact;
  const { n, statement, source, instrument, claim_key, quote = known.quote } = fact;
  const texts = {
    statement: statement || known.statement,
    source: source || known.source,
    instrument: instrument || known.instrument,
  };
  return { n, ...texts, claim_key, ...(quote === null ? {} : { quote }) };
}

/**
 * Compares entries with valid claim keys to the record, field by field, and to each other if they share a key. `known`
 * returns the newest version of a key. Malformed keys are left to `claimKeyProblem`.
 */
export function recordProblems(
  facts: readonly CitedFact[],
  known: (claim_key: string) => RecordedFact | null,
): Problem[] {
  const problems: Problem[] = [];
  const first = new Map<string, CitedFact>();
  for (const [index, fact] of facts.entries()) {
    const { claim_key } = fact;
    if (claim_key === null || !isClaimKey(claim_key)) continue;
    const at = `cited_facts[${index}]`;
    const earlier = first.get(claim_key);
    if (earlier === undefined) first.set(claim_key, fact);
    const record = earlier === undefined ? known(claim_key) : null;
    if (record?.status === 'retracted') {
      problems.push(retracted(at, claim_key, record));
    } else if (record !== null) {
      const where = `version ${record.version} of ${quote(claim_key)} in the fact record`;
      const cure = 'say the same, give the key alone, take another key, or correct the fact first';
      problems.push(...differences(at, fact, record, where, cure));
    } else if (earlier !== undefined) {
      const where = `entry ${earlier.n}, which has the key ${quote(claim_key)} too,`;
      problems.push(...differences(at, fact, { quote: null, ...earlier }, where, 'say the same, or take another key'));
    } else if (isKeyAlone(fact)) {
      const message = `the fact record has no ${quote(claim_key)}; give statement, source and instrument, which then become its first version, or correct the key`;
      problems.push(problem(`${at}.claim_key`, 'unknown_fact', message));
    }
  }
  return problems;
}

/** The problems of entries whose facts are retracted. Skips keys that the record does not have. */
export function retractedProblems(
  facts: readonly CitedFact[],
  known: (claim_key: string) => RecordedFact | null,
): Problem[] {
  return facts.flatMap(({ claim_key }, index) => {
    const record = claim_key === null ? null : known(claim_key);
    return claim_key === null || record?.status !== 'retracted'
      ? []
      : [retracted(`cited_facts[${index}]`, claim_key, record)];
  });
}

function retracted(at: string, claim_key: string, { note }: RecordedFact): Problem {
  const message = `${quote(claim_key)} was retracted (${note}); take the entry out, or cite another fact`;
  return problem(`${at}.claim_key`, 'fact_retracted', message);
}

function differences(
  at: string,
  fact: CitedFact,
  record: Pick<RecordedFact, (typeof TEXTS)[number] | 'quote'>,
  where: string,
  cure: string,
): Problem[] {
  return (['statement', 'source', 'instrument', 'quote'] as const).flatMap((name) => {
    const [given, recorded] = [fact[name], record[name]];
    // An entry need not repeat the quote.
    if (given === undefined || given === recorded) return [];
    const is = recorded === null ? 'has none' : `says ${excerpt(recorded, given)}`;
    return [
      problem(`${at}.${name}`, 'fact_differs', `${where} ${is}, and this entry ${excerpt(given, recorded)}; ${cure}`),
    ];
  });
}

/** How much of the common text is quoted before two texts differ, in UTF-16 units. */
const SHARED = 20;

/** A text as quoted in a message, starting shortly before the first difference from the other text. */
function excerpt(text: string, other: string | null): string {
  let same = 0;
  while (other !== null && same < text.length && text[same] === other[same]) same++;
  const from = text.length <= 80 ? 0 : Math.max(0, same - SHARED);
  return quote(from === 0 ? text : `…${text.slice(from).toWellFormed()}`);
}
