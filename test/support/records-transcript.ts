import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { newProof, proofText } from '../../src/records/accounts/owner.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { runDumps } from '../../src/records/jobs/dump-run.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { newKeyText } from '../../src/shared/access-key.ts';
import { tempFolder } from './app-context.ts';
import { archiveAll, folderPlace } from './archive.ts';
import { ownerZone } from './owner-zone.ts';
import { certificate, probe } from './probes.ts';
import { type RecordsStand, recordsStand } from './records-fixture.ts';
import { OFFER, PAID_ENV, samplePayment } from './sample-payment.ts';

/** The public address of the records in transcripts. */
export const ROOT = 'https://records.example';

/** Additional settings per theme, such as limits that a transcript reaches. */
const SETTINGS: Record<string, Record<string, string>> = {
  'records-account': { WATCH_DAILY: '2' },
  'records-keyless': { KEYLESS_DAILY: '6' },
  'records-meter': { KEYED_DAILY: '2', KEYED_PER_MINUTE: '4' },
  'records-menu': PAID_ENV,
  'records-plans': { ...PAID_ENV, X402_PAY_TO: OFFER.payTo },
};

/** Two plans on sale, one that is not any more, and what another account bought. */
function sellPlans({ app, clock, keyOf }: RecordsStand): void {
  const { accounts, plans } = app.store.records;
  const small = { daily: 5_000, per_minute: 200, watch: 50, streams: 12, exports: 2_000, price: 5_000_000, days: 30 };
  plans.set({ name: 'newsroom', ...small });
  plans.set({ name: 'agency', ...small, daily: 50_000, watch: 500, price: 25_000_000 });
  keyOf('account', 'grace@example.org');
  const order = {
    ...{ id: '01kb0000000000000000000000', account: accounts.byEmail('grace@example.org')?.id ?? '' },
    ...{ payment: 'f'.repeat(64), plan: 'old', ...small, cost: '5 USDC', network: 'eip155:84532' },
    ...{ asset: null, payer: `0x${'b0'.repeat(20)}`, ordered_at: clock.now },
  };
  plans.place(order, decodePayment(samplePayment(1), 1));
  plans.grant(order.id, clock.now, `0x${'ab'.repeat(32)}`);
}

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
  const zone = theme === 'records-names' ? await ownerZone(t) : null;
  const settings = { DATA_ORIGIN: ROOT, RESOLVERS: `127.0.0.1:${zone?.port ?? 9}`, ...SETTINGS[theme] };
  const dumps: Record<string, string> = theme === 'records-dumps' ? { DUMPS_URL: join(tempFolder(t), 'dumps') } : {};
  const archive = theme === 'records-archive-away' ? join(tempFolder(t), 'archive') : null;
  const archiving: Record<string, string> = archive === null ? {} : { ARCHIVE_URL: archive };
  const stand = await recordsStand(t, { ...settings, ...dumps, ...archiving }, now - 2 * day);
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
  if (theme === 'records-plans') sellPlans(stand);
  if (theme === 'records-dumps') await runDumps(app);
  if (archive !== null) {
    await archiveAll(app, folderPlace(archive));
    renameSync(archive, `${archive}.away`);
  }
  const account = keyOf('account');
  const revoked = keyOf('service');
  const [made] = app.store.records.serviceKeys.list(null);
  app.store.records.serviceKeys.revoke(made?.id ?? '', now, 'cli');
  if (zone !== null) {
    const { id } = records.accounts.byEmail('ada@example.org') ?? { id: '' };
    const token = 'x'.repeat(43);
    records.owners.save(newProof(id, parseHostname('example.com'), token, now));
    zone.txt.set('_broadsheet.example.com', [proofText(token)]);
    zone.a.set('example.com', ['127.0.0.1']);
  }
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
    payment: samplePayment(1),
    price_paid: samplePayment(1, {}, { value: '5000000' }),
  };
  return { stand, words };
}
