import type { Observation } from '../../../src/proof/records/observation.ts';
import { previewOf } from '../../../src/proof/records/preview.ts';
import { isoTime } from '../../../src/proof/time.ts';
import type { Delta, DomainBaseline } from '../../../src/records/delta.ts';
import { SIGNAL_MEANINGS } from '../../../src/records/signal-meanings.ts';
import { type Band, stateBands, valueBands } from '../../../src/records/value-bands.ts';
import { type historyOf, trackedIn } from '../../../src/records/value-history.ts';
import type { ComparedView, TimelineView } from '../../../src/records/views.ts';
import type { WatchedHost } from '../../../src/store/records/records-hostnames.ts';
import { shortValue, signalLabel } from './change-view.ts';

type History = Awaited<ReturnType<typeof historyOf>>;

/** The most rows of the drawing, name servers that everyone sees, and values that are read to choose them. */
const ROWS_MAX = 40;
const SERVERS_MAX = 12;
const VALUES_MAX = 500;

const SIGNALS = Object.keys(SIGNAL_MEANINGS) as (keyof typeof SIGNAL_MEANINGS)[];

interface Drawn {
  host: WatchedHost;
  isSignedIn: boolean;
  /** In ms. */
  first: number;
  now: number;
  /** Oldest first. */
  changes: Delta[];
  baseline: DomainBaseline;
  moments: string[];
}

/**
 * Values over time: each value for signed-in readers. Everyone sees the name servers, which previews show, and of other
 * signals when they changed and how many values they had.
 */
export function timelineView(history: History, drawn: Drawn): TimelineView {
  const { host, isSignedIn, first, now, changes, baseline, moments } = drawn;
  const bandOf = ({ from, to }: Band, label: string) => ({
    from: isoTime(from),
    to: to === null ? null : isoTime(to),
    url: `/t/${host.hostname}?as_of=${isoTime(from)}`,
    label,
  });
  const query = isSignedIn ? {} : { signal: 'NS' };
  const limit = isSignedIn ? VALUES_MAX : SERVERS_MAX;
  const values = valueBands(history.page(query, limit), changes, baseline).map(({ signal, value, bands }) => ({
    of: signal,
    value: shortValue(value),
    bands: bands.map((band) => bandOf(band, shortValue(value))),
  }));
  const states = isSignedIn
    ? []
    : SIGNALS.filter((signal) => signal !== 'NS').flatMap((signal) => {
        const own = changes.filter((change) => change.signal === signal);
        const count = baseline[signal]?.values.length ?? 0;
        if (own.length === 0 && count === 0) return [];
        const bands = stateBands(own, first, count).map((band) => bandOf(band, valuesOf(band.count)));
        return [{ of: signal, value: valuesOf(count), bands }];
      });
  const lastSeen = ({ bands }: { bands: { to: string | null }[] }): string => bands.at(-1)?.to ?? '~';
  // If not all fit, current values take precedence over those that were last seen long ago.
  const chosen = [...values, ...states].sort((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1)).slice(0, ROWS_MAX);
  const place = ({ of, bands }: (typeof chosen)[number]): string =>
    `${String(SIGNALS.indexOf(of)).padStart(2, '0')} ${bands[0]?.from}`;
  const total = isSignedIn ? history.count({}) : history.count(query) + states.length;
  return {
    rows: chosen
      .sort((a, b) => (place(a) < place(b) ? -1 : 1))
      .map(({ of, value, bands }) => ({ signal: signalLabel(of), value, bands })),
    more: total - chosen.length,
    of_values: isSignedIn,
    first: isoTime(first),
    now: isoTime(now),
    moments,
  };
}

type Counts = Partial<Record<keyof typeof SIGNAL_MEANINGS, number>>;

/** The number of values by signal; of the certificate, whether there was one. */
const countsIn = (observation: Observation): Counts => previewOf(observation).summary;

function valuesOf(count: number): string {
  return count === 0 ? 'no value' : count === 1 ? '1 value' : `${count} values`;
}

/** Two observations, the earlier one first: values for signed-in readers, otherwise what previews show. */
export function comparedView(
  host: WatchedHost,
  pair: [Observation, Observation],
  { changes, isSignedIn }: Pick<Drawn, 'changes' | 'isSignedIn'>,
): ComparedView {
  const [before, after] = pair.toSorted((a, b) => a.seq - b.seq) as [Observation, Observation];
  const moment = ({ seq, record }: Observation) => ({
    seq,
    observed_at: record.observed_at,
    url: `/t/${host.hostname}?as_of=${record.observed_at}`,
  });
  const [was, is] = [trackedIn(before.record), trackedIn(after.record)];
  const [countsWere, counts] = [before, after].map(countsIn) as [Counts, Counts];
  const between = changes.filter(({ observation_seq: seq }) => seq > before.seq && seq <= after.seq);
  const same: string[] = [];
  const rows: ComparedView['rows'] = [];
  for (const signal of SIGNALS) {
    const name = signalLabel(signal);
    if (isSignedIn || signal === 'NS') {
      const [old, now] = [was[signal] ?? null, is[signal] ?? null];
      if (old === null || now === null || old.join('\n') !== now.join('\n')) {
        rows.push({ name, before: shown(old), after: shown(now), counts: null });
      } else if (now.length > 0) same.push(name);
    } else {
      // Newest first. Summaries do not count the certificate.
      const own = between.filter((change) => change.signal === signal);
      const [old, now] = [
        countsWere[signal] ?? own.at(-1)?.before.length ?? 0,
        counts[signal] ?? own[0]?.after.length ?? 0,
      ];
      if (old !== now || own.length > 0) {
        rows.push({ name, before: [], after: [], counts: { before: old, after: now, changes: own.length } });
      } else if (now > 0) same.push(name);
    }
  }
  return { before: moment(before), after: moment(after), rows, same };
}

function shown(values: string[] | null): string[] {
  if (values === null) return ['unknown'];
  return values.length === 0 ? ['none'] : values.map(shortValue);
}
