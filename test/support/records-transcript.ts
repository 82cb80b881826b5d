import { randomBytes } from 'node:crypto';
import { parseHostname } from '../../src/records/hostname.ts';
import { newKeyText } from '../../src/shared/access-key.ts';
import { certificate, probe } from './probes.ts';
import { type RecordsStand, recordsStand } from './records-fixture.ts';

/** The public address of the records in transcripts. */
export const ROOT = 'https://records.example';

/** Additional settings per theme, such as limits that a transcript reaches. */
const SETTINGS: Record<string, Record<string, string>> = {
  'records-account': { WATCH_DAILY: '2' },
  'records-keyless': { KEYLESS_DAILY: '6' },
  'records-meter': { KEYED_DAILY: '2', KEYED_PER_MINUTE: '4' },
  'records-menu': {
    X402_FACILITATOR_URL: 'http://127.0.0.1:9',
    X402_RPC_URL: 'http://127.0.0.1:9',
    X402_PAY_TO: `0x${'a'.repeat(40)}`,
    X402_NETWORK: 'base-sepolia',
    X402_ASSET: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
};

/**
 * The records for a theme's transcript, at 09:00 on 21 November 2026: two domains that changed, one that was not
 * observed yet, and one that opted out. Also returns the values of `{name}` placeholders.
 */
export async function transcriptStand(
  t: { after(work: () => unknown): void },
  theme: string,
): Promise<{ stand: RecordsStand; words: Record<string, string> }> {
  const now = Date.UTC(2026, 10, 21, 9);
  const day = 86_400_000;
  const settings = { DATA_ORIGIN: ROOT, RESOLVERS: '127.0.0.1:9', ...SETTINGS[theme] };
  const stand = await recordsStand(t, settings, now - 2 * day);
  const { app, enter, clock, keyOf } = stand;
  const { records } = app.store;
  const unchanged = { NS: ['ns1.example.net'], MX: ['10 mail.google.com'] };
  enter(
    probe('example.com', now - 2 * day, { A: ['192.0.2.1'], ...unchanged }, certificate('a')),
    probe('gone.example', now - 2 * day, { A: ['192.0.2.9'] }),
    probe('xn--bcher-kva.example', now - 2 * day, { A: ['192.0.2.7'] }),
    probe('gone.example', now - day, { A: ['192.0.2.10'] }),
    probe('example.com', now - day, { A: ['192.0.2.2'], ...unchanged }, certificate('b')),
    probe('xn--bcher-kva.example', now - day, { A: ['192.0.2.7'], TXT: ['=not a formula'] }),
  );
  clock.now = now;
  records.watch([parseHostname('quiet.example')], now);
  records.optOut(parseHostname('gone.example'), 'its owner asked', 'test', now);
  const account = keyOf('account');
  const revoked = keyOf('service');
  const [made] = app.store.records.serviceKeys.list(null);
  app.store.records.serviceKeys.revoke(made?.id ?? '', now, 'cli');
  const words = {
    root: ROOT,
    account,
    other: keyOf('account', 'grace@example.org'),
    service: keyOf('service'),
    scanner: keyOf('scanner'),
    operator: keyOf('operator'),
    revoked,
    stranger: newKeyText('drs_', randomBytes),
    slip: `${account.slice(0, 12)}${account[12] === 'A' ? 'B' : 'A'}${account.slice(13)}`,
    long: 'x'.repeat(1_100_000),
  };
  return { stand, words };
}
