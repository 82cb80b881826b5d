import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../../src/proof/basis.ts';
import { observationText } from '../../../src/proof/records/receipt.ts';
import { SIGNAL_TYPES } from '../../../src/proof/records/signal.ts';
import type { StoredObservation } from '../../../src/records/archive/observation-row.ts';
import type { RangeSource } from '../../../src/records/archive/reader.ts';

/** A file as a source, which counts what is asked of it. */
export function sourceOf(file: string) {
  const bytes = readFileSync(file);
  const asked: [start: number, end: number][] = [];
  const source: RangeSource = {
    id: file,
    size: bytes.length,
    read: async (start, end) => {
      asked.push([start, end]);
      return bytes.subarray(start, end);
    },
  };
  return { source, asked, total: () => asked.reduce((sum, [start, end]) => sum + end - start, 0) };
}

/** A name for the next file in a folder. */
export function filesIn(folder: string): () => string {
  let n = 0;
  return () => join(folder, `${++n}.parquet`);
}

/** Deterministic bytes that nothing compresses. */
function randomAt(seed: string, length: number): Buffer {
  return createHash('shake256', { outputLength: length }).update(seed).digest();
}

const TYPES = SIGNAL_TYPES.toSorted();

/**
 * A month of daily observations of so many names, as a scanner makes them: two kilobytes each, of which a serial, times
 * and, now and then, an address differ from the day before. Receipts have the form of signed ones.
 */
export function* monthOf(
  names: number,
  days = 30,
  month = Date.UTC(2026, 9, 1),
  skipped = 0,
): Generator<StoredObservation> {
  const paths = Array.from({ length: names }, (_, n) => {
    return `example.d${String((skipped + n) * 7919).padStart(7, '0')}`;
  }).sort();
  for (const [index, path] of paths.entries()) {
    const hostname = pathToHostname(path);
    let prev: string | null = null;
    for (let day = 0; day < days; day++) {
      const seq = skipped * days + day * names + ((index * 31) % names) + 1;
      const observed_at = month + day * 86_400_000 + ((index * 7_001) % 86_400_000);
      const certificate = randomAt(`${hostname} certificate`, 32).toString('hex');
      const host = `192.0.2.${(index + Math.floor(day / 9)) % 250}`;
      const body = JSON.stringify({
        certificate: {
          fingerprint256: certificate,
          issuer: "CN=R11, O=Let's Encrypt, C=US",
          san: [hostname, `www.${hostname}`],
        },
        certificate_status: 'ok',
        domain: hostname,
        registrable_domain: hostname,
        services: [{ kind: 'mail', seen_in: ['MX', 'TXT'], service: 'Google Workspace' }],
        ...Object.fromEntries(
          TYPES.map((type) => [
            `signals.${type}`,
            {
              status: 'ok',
              values: [shownValue(type, hostname, host, day)],
            },
          ]),
        ),
        summary: Object.fromEntries(TYPES.map((type) => [type, 1])),
        unicode: hostname,
        wildcard: false,
      });
      const noise = randomAt(`${hostname} ${day}`, 32 + 64 + TYPES.length);
      const text = observationText({
        ...{ domain: hostname, seq, observed_at: new Date(observed_at).toISOString(), prev, kid: 'k'.repeat(43) },
        ...{ record_root: `sha256:${noise.subarray(0, 32).toString('hex')}`, record_fields: 26 },
      });
      prev = sha256(text);
      const line = `— records.example/door ${Buffer.concat([Buffer.from([1, 2, 3, 4]), noise.subarray(32, 96)]).toString('base64')}\n`;
      const circumstances = JSON.stringify(TYPES.map((_, n) => [300, 'udp', (noise[96 + n] ?? 0) >> 2, 'a']));
      yield {
        ...{ seq, hostname, observed_at, signed_at: null, body, circumstances },
        receipt: `${text}\n${line}`,
        receipt_hash: prev,
      };
    }
  }
}

function shownValue(type: string, hostname: string, host: string, day: number): string {
  if (type === 'SOA') return `ns1.${hostname} hostmaster.${hostname} ${2026100100 + day} 7200 3600 1209600 300`;
  return type.endsWith('A') ? host : `${type.toLowerCase()} ${randomAt(`${hostname} ${type}`, 24).toString('hex')}`;
}

/** All that an iterable yields. */
export async function listed<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

function pathToHostname(path: string): string {
  return path.split('.').reverse().join('.');
}
