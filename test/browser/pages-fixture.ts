import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { afterCheck, newProof } from '../../src/records/accounts/owner.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { runDumps } from '../../src/records/jobs/dump-run.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { putNote } from '../../src/records/owners.ts';
import { linkToken } from '../../src/shared/access-key.ts';
import { linkKey } from '../../src/shared/files/data-folder.ts';
import { newId } from '../../src/shared/new-id.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { copyPaper } from '../support/papers.ts';
import { copyDemo, run, until } from '../support/program.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { PAID_ENV, samplePayment } from '../support/sample-payment.ts';
import { seededProbes } from '../support/seeded-records.ts';
import { serveHere } from '../support/serve-here.ts';
import { cookieOf } from '../support/signed-in.ts';
import type { PaperAddresses, RecordsAddresses } from './page-types.ts';

const READER = 'reader@example.org';
const HOST = 'harbor-ledger.example';
const DAYS_SEEDED = 9;

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 60"><path fill="#014f86" d="M0 10h300v40H0z"/></svg>';

/** Both services with something on every type of page. */
export interface PagesStand {
  desk: string;
  records: string;
  papers: { leftToRight: PaperAddresses; rightToLeft: PaperAddresses };
  addresses: RecordsAddresses;
  /** The cookie of an account, as `name=value`. */
  cookie: string;
}

interface Scope {
  after(work: () => unknown): void;
}

/**
 * Serves the repository's own papers, a copy of one in Arabic with a logo and a stylesheet of its own, and domain
 * records. Calls `whileFresh` with the address of the records while nothing is under watch.
 */
export async function openPagesStand(t: Scope, whileFresh: (records: string) => Promise<void>): Promise<PagesStand> {
  const folder = tempFolder(t);
  copyDemo(folder);
  const branding =
    'logo: media/logo.svg\nicon: media/logo.svg\nstyle: media/own.css\ntypefaces: lora\nimprint: pages/about.md\n';
  copyPaper(folder, 'the-leading-light', 'fanar', (yaml) => yaml.replace('language: en', `language: ar\n${branding}`));
  const media = join(folder, 'content/fanar/media');
  writeFileSync(join(media, 'logo.svg'), LOGO);
  writeFileSync(join(media, 'own.css'), ':root {\n  --accent: light-dark(#014f86, #a9d6e5);\n}\n');
  for (const [slug, story, art] of [
    ['the-plumb-line', 'metre-of-light', 'a-series.svg'],
    ['fanar', 'arc-of-a-sidelight', 'tide.jpg'],
  ] as const) {
    const file = join(folder, 'content', slug, 'stories', `${story}.md`);
    const authors = 'authors:\n  - Ada Quill\n  - name: Bo Ray\n    url: https://bo.example/\n';
    const more = `tags: [Length, International agreements]\n${authors}`;
    const text = readFileSync(file, 'utf8')
      .replace(/^tags: .*\n/m, '')
      .replace(/^---\n/, `---\n${more}`);
    writeFileSync(
      file,
      `${text.trimEnd()}\n\n![A picture](media/art/${art} "A caption")\n![Again](media/art/${art})\n`,
    );
    const pages = join(folder, 'content', slug, 'pages');
    mkdirSync(pages, { recursive: true });
    writeFileSync(
      join(pages, 'about.md'),
      '---\ntitle: About this paper\n---\n\nIt tells what was agreed upon, by whom, and how it is kept.\n\n- One.\n- Two.\n',
    );
  }
  const arc = join(folder, 'content/fanar/stories/arc-of-a-sidelight.md');
  const cited = readFileSync(arc, 'utf8').replace(/^( +instrument: .*\n)/m, '$1    claim_key: colreg-1972\n');
  writeFileSync(arc, cited);
  mkdirSync(join(folder, 'content/fanar/facts'), { recursive: true });
  writeFileSync(
    join(folder, 'content/fanar/facts/colreg-1972.2.yaml'),
    'statement: "اعتُمدت الاتفاقية في 20 أكتوبر 1972."\nnote: "كان النص أطول مما يلزم."\n',
  );
  const dumps = { DUMPS_URL: join(folder, 'dumps') };
  const { url, records } = await serveHere(t, folder, { ...PAID_ENV, ...dumps });
  const withdrawn = [
    ['the-plumb-line', 'pigeons-carry-the-packets'],
    ['fanar', 'fifty-minutes-late'],
  ] as const;
  for (const [slug, story] of withdrawn) {
    const { code, stderr } = await run(t as Parameters<typeof run>[0], folder, [
      ...['withdraw', story, '--paper', slug, '--reason', 'Its two sources were one.'],
    ]);
    if (code !== 0) throw new Error(stderr);
  }
  await whileFresh(records);

  const app = appContextIn(
    t as { after(work: () => void): void },
    folder,
    { now: Date.now() },
    { DATA_ORIGIN: records, ...dumps },
  );
  recordProbes(app, { now: Date.now() - DAYS_SEEDED * 86_400_000 }, seededProbes(Date.now(), DAYS_SEEDED));
  await runDumps(app);
  const { store } = app;
  const cookie = cookieOf(app);
  const account = store.records.accounts.ofEmail('ada@example.org', {
    id: newId(),
    plan: 'daily',
    made_at: app.clock.now(),
  }).id;
  const [group, alert] = [newId(), newId()];
  store.records.watchGroups.add({ id: group, account, name: 'Our harbours', made_at: app.clock.now() });
  store.records.watchGroups.put(group, HOST, app.clock.now());
  store.records.changeAlerts.add({
    ...{ id: alert, account, watch_group: group, hostname: null, way: 'webhook', made_at: app.clock.now() },
    ...{
      url: 'https://hooks.example.org/',
      format: 'standard',
      routing_key: null,
      secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0',
    },
  });
  // Proven, with a note on its newest change.
  const name = 'tide-tables.example';
  const proven = newProof(account, parseHostname(name), 'x'.repeat(43), app.clock.now());
  const found = { outcome: 'found', detail: 'found' } as const;
  const absent = { outcome: 'absent', detail: 'no_address' } as const;
  store.records.owners.save(afterCheck(proven, { txt: found, file: absent }, app.clock.now()).proof);
  const [newest] = store.records.deltas({ host: store.records.find(name)?.id }, { limit: 1 });
  putNote(app, account, newest?.seq ?? 0, 'We moved to another host, as planned.');
  const token = linkToken(linkKey(app.settings, 'accounts'), 'unsubscribe', account);
  const terms = { daily: 5_000, per_minute: 200, watch: 50, streams: 12, exports: 2_000, price: 5_000_000, days: 30 };
  store.records.plans.set({ name: 'newsroom', ...terms });
  const order = {
    ...{ id: newId(), account, payment: 'a payment', plan: 'newsroom', ...terms, cost: '5 USDC' },
    ...{ network: 'eip155:8453', asset: null, payer: `0x${'b0'.repeat(20)}`, ordered_at: app.clock.now() },
  };
  store.records.plans.place(order, decodePayment(samplePayment(1), 1));
  const { id: receipt } = store.records.plans.grant(order.id, app.clock.now(), `0x${'ab'.repeat(32)}`);

  const outbox = join(folder, 'var/outbox');
  const linkTo = (start: string): Promise<string> =>
    until(async () => {
      for (const name of readdirSync(outbox)) {
        const { text = '' } = await PostalMime.parse(readFileSync(join(outbox, name)));
        const at = text.indexOf(start);
        if (at >= 0) return (/^\S+/.exec(text.slice(at)) ?? [''])[0];
      }
      return null;
    });
  const post = (address: string, body: Record<string, string>) =>
    fetch(address, { method: 'POST', body: new URLSearchParams(body), headers: { origin: new URL(address).origin } });
  mkdirSync(outbox, { recursive: true });
  await post(`${records}/account/sign-in`, { email: READER });
  const below = (link: string, root: string) => link.slice(root.length);

  /** Files a draft, and returns the address of its preview. */
  const previewOf = async (at: string, body: { category: string; byline: string }): Promise<string> => {
    const { key } = makePaperKey(app, new URL(at).pathname.slice(1, -1), { level: 'admin', name: 'The pages' });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const facts = ['NIST', 'BIPM'].map((source) => ({ statement: 'So it is.', source, instrument: 'A document' }));
    const draft = {
      headline: 'A draft',
      dek: 'Not on air yet.',
      prose: 'One.[^1] Two.[^2]',
      cited_facts: facts,
      ...body,
    };
    const filed = await fetch(`${at}api/v1/stories`, { method: 'POST', headers, body: JSON.stringify(draft) });
    const { story } = (await filed.json()) as { story: { id: string } };
    const preview = await fetch(`${at}api/v1/stories/${story.id}/preview`, { headers });
    return ((await preview.json()) as { url: string }).url;
  };

  const addressesOf = async (
    root: string,
    known: Omit<PaperAddresses, 'root' | 'confirm' | 'manage' | 'own' | 'preview'>,
    draft: { category: string; byline: string },
  ) => {
    const at = `${url}${root}`;
    await fetch(`${at}api/v1/subscribers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: READER, cadence: 'weekly' }),
    });
    const confirm = await linkTo(`${at}subscribe/confirm?token=`);
    const said = await (await post(confirm, { token: new URL(confirm).searchParams.get('token') ?? '' })).text();
    const manage = /[^"]*subscribe\/manage\?token=[^"]*/.exec(said)?.[0] ?? '';
    const preview = below(await previewOf(at, draft), at);
    return { ...known, root, own: 'about/', confirm: below(confirm, at), manage: below(manage, at), preview };
  };
  return {
    desk: url,
    records,
    papers: {
      leftToRight: await addressesOf(
        '/the-plumb-line/',
        {
          story: [
            'stories/yard-and-pound-1959/',
            'stories/reiwa-one-character/',
            'stories/uk-tse-ukrainska/',
            'stories/metre-of-light/',
            'stories/year-2038/',
          ],
          fact: 'facts/rfc-9636-tzif/',
          withdrawn: 'stories/pigeons-carry-the-packets/',
          section: 'sections/time/',
          day: 'days/2026-11-19/',
          persona: 'masthead/mirela-quist/',
          cast: 'cast/2026-11-19/',
        },
        { category: 'Time', byline: 'mirela-quist' },
      ),
      rightToLeft: await addressesOf(
        '/fanar/',
        {
          story: ['stories/arc-of-a-sidelight/'],
          fact: 'facts/colreg-1972/',
          withdrawn: 'stories/fifty-minutes-late/',
          section: 'sections/lights/',
          day: 'days/2026-11-18/',
          persona: 'masthead/merrin-tregarth/',
          cast: 'cast/2026-11-16/',
        },
        { category: 'Lights', byline: 'merrin-tregarth' },
      ),
    },
    addresses: {
      enter: below(await linkTo(`${records}/account/enter?token=`), records),
      group: `/account/groups/${group}`,
      alert: `/account/alerts/${alert}`,
      unsubscribe: `/account/unsubscribe?account=${account}&token=${token}`,
      receipt: `/account/receipts/${receipt}`,
    },
    cookie,
  };
}
