import * as z from 'zod';
import { type Evidence, type EvidenceSubject, evidenceIn } from '../proof/evidence-note.ts';
import { askedFor, type CitedObservation, observedIn } from '../proof/records/cited-observation.ts';
import { DAY, isoTime } from '../proof/time.ts';
import type { Problem } from '../shared/shape.ts';
import type { RecordEntry } from './ledger-entry.ts';
import type { PaperBody } from './papers/paper.ts';

/** Evidence (protocol 4.9): what the desk found when it read the source of a cited fact. */

/** The body of a reading's line in the ledger. */
export interface EvidenceBody {
  /** The signed note (`src/proof/evidence-note.ts`). */
  note: string;
  /** Whether the fact gives a quote to look for. */
  quoted: boolean;
  /** Why the source could not be read, in a few words; null when it could. */
  reason: string | null;
  /** The digest of the server's response, stored as WARC; null when nothing was kept. */
  archive: string | null;
  /** When a quote was not found, the passage nearest to it, in bytes of the text, and how many letters differ. */
  nearest: { start: number; end: number; distance: number } | null;
  /** Numbers and names in the statement that the source does not contain. */
  missing: string[];
  /** The signed observation that the note names. */
  observation?: CitedObservation;
  /** How the observed hostname answers differently now, one line each. */
  changes?: string[];
  /** Scheduled pieces that no longer wait for evidence. */
  released: string[];
}

/** Interval between two readings of a source, in ms. */
export const READ_EVERY = 30 * DAY;

/** The evidence in a line of the ledger. Throws for an invalid note. */
export function evidenceOf({ body }: Pick<RecordEntry, 'body'>): Evidence {
  const said = evidenceIn((body as EvidenceBody).note);
  if (said === null) throw new Error('evidence is not an evidence/v1 note');
  return said;
}

/** The name of a fact in tables and in the ledger: its claim key, or `<piece>/<n>`. */
export function subjectName(subject: EvidenceSubject): string {
  return 'claim_key' in subject ? subject.claim_key : `${subject.piece}/${subject.n}`;
}

/** Parses such a name. No claim key contains a slash. */
export function subjectNamed(name: string): EvidenceSubject {
  const [piece = '', n] = name.split('/');
  return n === undefined ? { claim_key: name } : { piece, n: Number(n) };
}

export const EVIDENCE_STATES = ['found', 'read', 'changed', 'quote_not_found', 'unverified', 'gone', 'unread'] as const;
export type EvidenceState = (typeof EVIDENCE_STATES)[number];

/** States after which a desk should look at the fact again. */
export const TO_REVISE: readonly EvidenceState[] = ['changed', 'quote_not_found', 'unverified', 'gone'];

/** States that keep a piece off the air if its paper requires that sources support it. */
const REFUSED: readonly EvidenceState[] = ['quote_not_found', 'unverified', 'gone'];

/** The state of a fact after a reading. `firstText` is the digest of the text when it was first read; null before. */
export function stateAfter(
  { status, text, quote, observation }: Pick<Evidence, 'status' | 'text' | 'quote' | 'observation'>,
  { quoted, changes = [] }: Pick<EvidenceBody, 'quoted' | 'changes'>,
  firstText: string | null,
): EvidenceState {
  if (status === 'gone') return 'gone';
  if (observation === 'unverified') return 'unverified';
  // The desk cannot check a picture.
  if (status === 'unread' || text === null) return 'unread';
  if (quoted && quote === null) return 'quote_not_found';
  // Every observation has another text, so what counts is whether the hostname still answers the same.
  const isChanged =
    observation === undefined ? !quoted && firstText !== null && firstText !== text : changes.length > 0;
  if (isChanged) return 'changed';
  return quoted ? 'found' : 'read';
}

/** What is known about a version of a fact. */
export interface KnownEvidence {
  state: EvidenceState;
  /** Digest of the text when it was first read; null before. */
  first_text: string | null;
  /** The signed observation that was read first; null without one. */
  first_observation: CitedObservation | null;
  /** Digests of the newest text and archive that were kept. */
  text: string | null;
  archive: string | null;
}

/** The newest evidence of a fact that a piece cites. */
export interface CitedEvidence extends EvidenceBody {
  /** The number of the fact in the piece. */
  n: number;
  state: EvidenceState;
  /** In ms. */
  read_at: number;
  /** Digests of the newest text and archive that were kept. */
  kept_text: string | null;
  kept_archive: string | null;
}

/** A fact that should be revised, for its desk. */
export interface FactToRevise {
  /** The claim key, or `<piece>/<n>`. */
  subject: string;
  version: number;
  state: EvidenceState;
  read_at: number;
  instrument: string;
  statement: string;
  /** Why an observation does not verify. */
  reason: string | null;
  /** How the observed hostname answers differently now, one line each. */
  changes: string[];
}

/** A signed observation as readers see it: the content of its receipt (protocol 5.5), and the name of the key. */
const ObservationSeen = z
  .object({
    domain: z.string(),
    seq: z.int(),
    observed_at: z.iso.datetime(),
    key: z.string().meta({ description: 'The name of the key that signed it, as the service lists it.' }),
    listed_by: z.string().meta({
      description:
        'The host that lists the key. Where its name begins with another one, that one did not say that it is its own.',
    }),
    kid: z.string(),
  })
  .meta({ id: 'CitedObservation' });
export type ObservationSeen = z.infer<typeof ObservationSeen>;

/** Evidence as readers of a piece see it. */
export const EvidenceRow = z
  .object({
    read_at: z.iso.datetime().meta({ description: 'When the desk’s server read the source.' }),
    status: z.enum(EVIDENCE_STATES).meta({
      description:
        '`found`: it has the quote. `read`: no quote was given. `changed`: it no longer says what it said when it was first read, or the hostname of an observation gives another answer now: see `changes`. `unverified`: it claims to be a signed observation but is not valid. `quote_not_found`, `gone`, `unread`. See `reason`.',
    }),
    quote_found: z
      .boolean()
      .nullable()
      .meta({ description: 'Null when no quote was given, or nothing could be read.' }),
    reason: z.string().nullable().meta({ description: 'Why it could not be read, or is not valid.' }),
    missing: z
      .array(z.string())
      .meta({ description: 'Numbers and names of the statement that the source does not have.' }),
    distance: z.int().nullable().meta({
      description: 'How many letters of the nearest passage differ from a quote that was not found.',
    }),
    archived_url: z.url().nullable().meta({
      description: 'The text that was read, where the paper shows it; its SHA-256 is in the note.',
    }),
    observation: ObservationSeen.nullable().meta({
      description: 'The signed observation of a hostname that the address answered, and that the desk verified.',
    }),
    changes: z
      .array(z.string())
      .meta({ description: 'What the hostname of an observation answers differently now, one line each.' }),
    note: z.string().meta({ description: 'The signed note: protocol 4.9.' }),
  })
  .meta({ id: 'Evidence', description: 'What the desk found when it read the source.' });
export type EvidenceRow = z.infer<typeof EvidenceRow>;

/** Whether readers may see the texts that a paper's server read. */
export function republishes({ sources }: Pick<PaperBody, 'sources'>): boolean {
  return sources?.republish === true;
}

/** Evidence as readers see it. `root` is the paper's public root. */
export function evidenceRow(evidence: CitedEvidence, republishes: boolean, root: string): EvidenceRow {
  const { note, state, read_at, quoted, reason, missing, nearest, kept_text, changes = [] } = evidence;
  const isRead = state !== 'gone' && state !== 'unread' && state !== 'unverified';
  return {
    read_at: isoTime(read_at),
    status: state,
    quote_found: quoted && isRead ? state !== 'quote_not_found' : null,
    reason,
    missing,
    distance: nearest?.distance ?? null,
    archived_url: republishes && kept_text !== null ? `${root}/${textPath(kept_text)}` : null,
    observation: observedIn(evidence),
    changes,
    note,
  };
}

/** Quotes up to this length, in UTF-16 units, go into the text fragment whole; longer ones as first and last words. */
const FRAGMENT_MAX = 120;
const FRAGMENT_WORDS = 5;

/** The address of a source at a quote: a text fragment (https://wicg.github.io/scroll-to-text-fragment/). */
export function quoteUrl(instrument: string, quote: string): string {
  const [first = ''] = quote
    .split(/\[?(?:…|\.{3})\]?/u)
    .map((part) => part.trim())
    .filter(Boolean);
  const words = first.split(' ');
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll('-', '%2D');
  const ends = [words.slice(0, FRAGMENT_WORDS), words.slice(-FRAGMENT_WORDS)].map((some) => encoded(some.join(' ')));
  const isShort = first.length <= FRAGMENT_MAX || words.length <= 2 * FRAGMENT_WORDS;
  const [address = '', fragment = ''] = instrument.split('#', 2);
  return `${address}#${fragment.split(':~:')[0]}:~:text=${isShort ? encoded(first) : ends.join(',')}`;
}

/** The path of a text that the desk read, below the paper's root, by its digest. */
export function textPath(digest: string): string {
  return `evidence/${digest.slice('sha256:'.length)}.txt`;
}

/** The filing door's limit, in UTF-16 units. */
const INSTRUMENT_MAX = 2_000;

/** Whether an instrument is an address that can be read. Many instruments name a paper document. */
export function isReadable(instrument: string): boolean {
  const url = URL.parse(instrument);
  // The signed note holds the address as a single word.
  if (/[\s\p{Cc}]/u.test(instrument) || instrument.length > INSTRUMENT_MAX) return false;
  // Only browsers accept other forms, such as `https:host/path`, as addresses.
  return url !== null && /^https?:\/\//i.test(instrument) && url.username === '' && url.password === '';
}

/** Whether a paper holds pieces of a persona back until their quotes are found in the sources. */
export function requiresQuotes({ sources }: Pick<PaperBody, 'sources'>, persona: string): boolean {
  if (sources?.read !== true || sources.quote_not_found !== 'refuse') return false;
  return sources.personas === undefined || sources.personas.includes(persona);
}

/**
 * A fact that must be verified before a piece airs: its quote must be found, or the observation at its address must
 * hold. `state` is null until the source is read.
 */
export interface QuotedFact {
  n: number;
  /** Its name in the evidence tables (`subjectName`). */
  subject: string;
  instrument: string;
  quote: string | null;
  state: EvidenceState | null;
  /** Whether the fact was corrected before its source was read: the cited version will then never be checked. */
  is_late: boolean;
}

/** Whether the source of any of these facts is still to be read. */
export function isAwaited(facts: readonly QuotedFact[]): boolean {
  return facts.some(({ state, is_late }) => state === null && !is_late);
}

/**
 * Whether a paper with `requiresQuotes` holds a piece back for this fact: it has a quote, its address is that of an
 * observation, or the observation at its address is known not to hold.
 */
export function mustBeFound({ instrument, quote, state }: Omit<QuotedFact, 'n' | 'subject' | 'is_late'>): boolean {
  if (!isReadable(instrument)) return false;
  return quote !== null || state === 'unverified' || askedFor(instrument)?.domain?.includes('.') === true;
}

/** Whether a piece of a paper with `requiresQuotes` may air with a fact in this state. */
export function isAccepted(state: EvidenceState | null): boolean {
  return state !== null && !REFUSED.includes(state);
}

const WHY_REFUSED: Partial<Record<EvidenceState, string>> = {
  gone: 'its source is gone',
  quote_not_found: 'its source does not contain the quote',
  unverified: 'the signed observation that it cites is not valid',
};

/** The problems that keep a piece off the air: facts that their sources do not support. */
export function quoteProblems(facts: readonly QuotedFact[]): Problem[] {
  return facts.flatMap(({ n, state, is_late }) => {
    if (is_late) {
      const message = `entry ${n}: its fact was corrected before its source was read, so the piece cannot go on air; change the entry to what the fact record says now`;
      return [{ field: `cited_facts[${n}].quote`, rule: 'fact_corrected', message }];
    }
    if (state === null || isAccepted(state)) return [];
    const why = WHY_REFUSED[state];
    const message = `entry ${n}: ${why}, so the piece cannot go on air in this paper; correct the quote or the instrument, or remove the entry`;
    return [{ field: `cited_facts[${n}].quote`, rule: state, message }];
  });
}
