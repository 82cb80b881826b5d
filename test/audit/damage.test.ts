import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import { sha256 } from '../../src/proof/basis.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { healthyDesk, PAPER, PRIVATE, type Stand } from './fixture.ts';

// Every damage here was done to a healthy desk, and is healed before the next one. Those named `forged` are done by
// somebody who can write to the database as well, and makes the manifest agree.

const ends: (() => void)[] = [];
let stand: Stand;
before(async () => {
  stand = await healthyDesk({ after: (work) => void ends.unshift(work) });
});
after(() => {
  for (const end of ends) end();
});

/** A piece on air that is in everything, one of which there are two revisions, and one that was withdrawn. */
const PIECE = 'low-water';
const REVISED = 'ebb-and-flow';
const WITHDRAWN = 'high-water';
const PAGE = `stories/${PIECE}/index.html`;

const idOf = (slug: string): string =>
  String(stand.rows(`SELECT id FROM pieces WHERE paper = '${PAPER}' AND slug = '${slug}'`)[0]?.id);
const cardPath = (): string =>
  `cards/${readdirSync(join(stand.tree, 'cards')).find((name) => name.startsWith(idOf(PIECE)))}`;
const remove = (path: string): void => rmSync(join(stand.tree, path));
const put = (path: string, bytes: string | Uint8Array): void => {
  mkdirSync(dirname(join(stand.tree, path)), { recursive: true });
  writeFileSync(join(stand.tree, path), bytes);
};
/** Takes a file out of the tree and out of the manifest. */
const vanish = (path: string): void => {
  remove(path);
  stand.sql(`DELETE FROM files WHERE paper = '${PAPER}' AND path = '${path}'`);
};
/** Takes a row with the piece out of a page's list. */
const withoutRow = (html: string): string => {
  const cut = html.replace(
    new RegExp(`<article class="row[^>]*>(?:(?!</article>)[\\s\\S])*?/stories/${PIECE}/[\\s\\S]*?</article>`),
    '',
  );
  assert.notEqual(cut, html, 'there is a row to take out');
  return cut;
};
const changed = (from: string | RegExp, to: string) => (text: string) => {
  const result = text.replace(from, to);
  assert.notEqual(result, text, `there is ${from} to change`);
  return result;
};
/** When it went on air. */
const DAY = '2026-11-18';

type Damage = [claim: string, damage: () => void | Promise<void>, said: RegExp];

const TREE: Damage[] = [
  [
    'a byte of a page',
    () => stand.alter(PAGE, changed('One thing', 'One thong')),
    /low-water\/index\.html: the file was altered/,
  ],
  ['a page removed', () => remove(PAGE), /low-water\/index\.html: the file is missing/],
  ['a Markdown version removed', () => remove(`stories/${PIECE}.md`), /low-water\.md: the file is missing/],
  [
    'a proof altered',
    () => stand.alter(`stories/${PIECE}/proof.json`, changed('sha256:', 'sha256:0')),
    /proof\.json: the file was altered/,
  ],
  [
    'an embed by id removed',
    () => remove(`embed/${idOf(PIECE)}/index.html`),
    /embed\/\w+\/index\.html: the file is missing/,
  ],
  [
    'an embed by slug altered',
    () => stand.alter(`embed/${PIECE}/index.html`, changed('What low', 'What slow')),
    /embed\/[\w-]+\/index\.html: the file was altered/,
  ],
  ['a share card removed', () => remove(cardPath()), /cards\/\w+-\w+\.png: the file is missing/],
  [
    'a share card altered',
    () => put(cardPath(), Buffer.concat([readFileSync(join(stand.tree, cardPath())), Buffer.of(0)])),
    /cards\/\w+-\w+\.png: the file was altered/,
  ],
  [
    'a stray file',
    () => put('stories/never-filed/index.html', 'news'),
    /never-filed\/index\.html: the ledger does not call for this file/,
  ],
  [
    'a page of a private paper',
    () => {
      mkdirSync(join(stand.folder, 'papers', PRIVATE, 'stories'), { recursive: true });
      writeFileSync(join(stand.folder, 'papers', PRIVATE, 'stories/leak.html'), 'a leak');
    },
    /locked-table\/stories\/leak\.html: the paper is private/,
  ],
  [
    'the bytes of a picture in DATA_DIR',
    () => {
      const digest = String(
        stand.rows("SELECT body ->> 'digest' AS digest FROM records WHERE kind = 'media'")[0]?.digest,
      ).slice(7);
      writeFileSync(join(stand.folder, 'var/media', digest.slice(0, 2), digest), 'other bytes');
    },
    /its bytes in DATA_DIR are damaged/,
  ],
  [
    'the notice of a withdrawn piece removed',
    () => remove(`stories/${WITHDRAWN}/index.html`),
    /high-water\/index\.html: the file is missing/,
  ],
];

const FORGED: Damage[] = [
  [
    'a page and its line in the manifest gone together',
    () => vanish(PAGE),
    /low-water\/index\.html: the file is missing/,
  ],
  [
    'everything of a piece gone, with all that the manifest says of it',
    () => {
      for (const path of [
        PAGE,
        `stories/${PIECE}.md`,
        `stories/${PIECE}/proof.json`,
        `embed/${PIECE}/index.html`,
        `embed/${idOf(PIECE)}/index.html`,
      ])
        vanish(path);
      stand.sql(`DELETE FROM sheets WHERE sheet = 'story/${PIECE}'; DELETE FROM reads WHERE sheet = 'story/${PIECE}'`);
    },
    /low-water\/proof\.json: the file is missing/,
  ],
  [
    'a Markdown version',
    () => stand.forge(`stories/${PIECE}.md`, changed('One thing', 'No thing')),
    /low-water\.md: the file does not match the ledger/,
  ],
  [
    'a proof',
    () => stand.forge(`stories/${PIECE}/proof.json`, changed('"prose": "One', '"prose": "No')),
    /proof\.json: the file does not match/,
  ],
  [
    'an embed by id that is another one than by slug',
    () => stand.forge(`embed/${idOf(PIECE)}/index.html`, changed('A dek', 'No dek')),
    /embed\/\w+\/index\.html: the file does not match/,
  ],
  [
    'the headline of an embed card',
    () => {
      for (const path of [`embed/${PIECE}/index.html`, `embed/${idOf(PIECE)}/index.html`])
        stand.forge(path, changed(/What low water means/g, 'What it means'));
    },
    /embed\/low-water\/index\.html: the page does not match the ledger: it does not show "What low water means"/,
  ],
  [
    'a page of an earlier revision',
    () =>
      stand.forge(`stories/${REVISED}/index.html`, (html) =>
        html.replaceAll(
          String(
            stand.rows(`SELECT content_hash FROM generations WHERE slug = '${REVISED}' AND revision = 2`)[0]
              ?.content_hash,
          ),
          'sha256:old',
        ),
      ),
    /ebb-and-flow\/index\.html: .* it does not show "sha256:/,
  ],
  [
    'a section page that lost a row',
    () => stand.forge('sections/tides/1/index.html', withoutRow),
    /sections\/tides\/1\/index\.html: .* it does not (?:name|show)/,
  ],
  [
    'the front of a section that lost a row',
    () => stand.forge('sections/tides/index.html', withoutRow),
    /sections\/tides\/index\.html: .* it does not/,
  ],
  [
    'a day that lost a row',
    () => stand.forge(`days/${DAY}/index.html`, withoutRow),
    /days\/2026-11-18\/index\.html: .* it does not/,
  ],
  [
    'a front page that names a piece which was withdrawn',
    () => stand.forge('index.html', changed(`/stories/${PIECE}/`, `/stories/${WITHDRAWN}/`)),
    /tide-table\/index\.html: .*high-water|tide-table\/index\.html: .*low-water/,
  ],
  [
    'an RSS feed without a piece',
    () => stand.forge('rss.xml', changed(/<item>(?:(?!<\/item>)[\s\S])*low-water[\s\S]*?<\/item>/, '')),
    /rss\.xml: the file does not match/,
  ],
  [
    'a section’s RSS feed without a piece',
    () => stand.forge('sections/tides/rss.xml', changed(/<item>(?:(?!<\/item>)[\s\S])*low-water[\s\S]*?<\/item>/, '')),
    /sections\/tides\/rss\.xml: the file does not match/,
  ],
  [
    'a JSON feed without a piece',
    () =>
      stand.forge('feed.json', (text) => {
        const feed = JSON.parse(text) as { items: { url: string }[] };
        feed.items = feed.items.filter(({ url }) => !url.includes(PIECE));
        return `${JSON.stringify(feed)}\n`;
      }),
    /feed\.json: the file does not match/,
  ],
  [
    'a sitemap without a piece',
    () => stand.forge('sitemaps/2026-11.xml', changed(/<url><loc>[^<]*low-water[\s\S]*?<\/url>/, '')),
    /sitemaps\/2026-11\.xml: the file does not match/,
  ],
  [
    'a front document of an earlier edition',
    () => stand.forge('front.json', changed(/"edition":\d+/, '"edition":1')),
    /front\.json: the file does not match/,
  ],
  [
    'an old page in place of the notice of a withdrawal',
    () => stand.forge(`stories/${WITHDRAWN}/index.html`, () => stand.read(PAGE).replaceAll(PIECE, WITHDRAWN)),
    /high-water\/index\.html: the page does not match the ledger/,
  ],
  [
    'the Markdown of a withdrawn piece',
    () => {
      put(`stories/${WITHDRAWN}.md`, 'It was so.');
      stand.sql(
        `INSERT INTO files VALUES ('${PAPER}', 'story/${WITHDRAWN}', 'stories/${WITHDRAWN}.md', '${sha256('It was so.')}')`,
      );
    },
    /high-water\.md: the manifest lists this file, which the ledger does not call for/,
  ],
  ['the headers for a CDN', () => stand.forge('_headers', changed('/', '/x')), /_headers: the file does not match/],
  [
    'the key document',
    () => stand.forge('.well-known/newsdesk-keys.json', changed('"x": "', '"x": "A')),
    /newsdesk-keys\.json: the file does not match/,
  ],
  ['a stylesheet', () => stand.forge('hue.css', changed('210', '21')), /hue\.css: the file does not match/],
  [
    'a picture in the tree',
    () => stand.forge('media/art/buoys.svg', changed('<svg', '<svg id="x"')),
    /buoys\.svg: the file does not match/,
  ],
  [
    'the news sitemap without a piece of today',
    () => stand.forge('sitemap-news.xml', changed(/<url>[\s\S]*?<\/url>\n/, '')),
    /sitemap-news\.xml: the file does not match/,
  ],
];

const LEDGER: Damage[] = [
  [
    'prose',
    () => stand.sql(`UPDATE generations SET prose = 'Other.[^1] And.[^2]' WHERE slug = '${PIECE}'`),
    /low-water: revision 1: content_hash is not the hash of what is stored/,
  ],
  [
    'a receipt',
    () =>
      stand.sql(
        `UPDATE generations SET receipt = replace(receipt, 'filed_by cli', 'filed_by you') WHERE slug = '${PIECE}'`,
      ),
    /low-water: revision 1: the signature does not hold/,
  ],
  [
    'a generation taken out',
    () => stand.sql(`DELETE FROM generations WHERE slug = '${PIECE}'`),
    /has no row in generations/,
  ],
  [
    'a generation taken out of every table',
    () => {
      const id = idOf(PIECE);
      stand.sql(
        `DELETE FROM entries WHERE n IN (SELECT n FROM generations WHERE piece = '${id}'); DELETE FROM generations WHERE piece = '${id}'; DELETE FROM pieces WHERE id = '${id}'`,
      );
    },
    /seq is \d+, not \d+/,
  ],
  [
    'the last entry taken out',
    () =>
      stand.sql(
        `DELETE FROM airings WHERE n = (SELECT max(n) FROM entries); DELETE FROM entries WHERE n = (SELECT max(n) FROM entries)`,
      ),
    /entries after \d+ are missing/,
  ],
  [
    'an airing’s row taken out',
    () => stand.sql(`DELETE FROM airings WHERE piece = '${idOf(PIECE)}'`),
    /has no row in airings/,
  ],
  [
    'an airing taken out, and the entries numbered anew',
    () => {
      const n = Number(stand.rows(`SELECT n FROM airings WHERE piece = '${idOf(PIECE)}'`)[0]?.n);
      const tables = ['entries', 'door_keys', 'retirements', 'records', 'generations', 'airings', 'withdrawals'];
      stand.sql(`DELETE FROM airings WHERE n = ${n}; DELETE FROM entries WHERE n = ${n};
      ${tables.map((table) => `UPDATE ${table} SET n = -n WHERE n > ${n}; UPDATE ${table} SET n = -n - 1 WHERE n < 0;`).join('')}
      UPDATE pieces SET generation = generation - 1 WHERE generation > ${n};
      UPDATE searched SET generation = generation - 1 WHERE generation > ${n};
      UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'entries'`);
    },
    /low-water: the archive says state "on_air", the ledger "draft"/,
  ],
  [
    'a withdrawal taken out',
    () => stand.sql('DELETE FROM entries WHERE n IN (SELECT n FROM withdrawals); DELETE FROM withdrawals'),
    /high-water: the archive says state "withdrawn", the ledger "on_air"/,
  ],
  [
    'the reason of a withdrawal',
    () => stand.sql("UPDATE withdrawals SET reason = 'It was late.'"),
    /high-water: the archive says reason "It was wrong\.", the ledger "It was late\."/,
  ],
  [
    'a withdrawn piece back on air',
    () =>
      stand.sql(`UPDATE pieces SET state = 'on_air', withdrawn_at = NULL, reason = NULL WHERE slug = '${WITHDRAWN}'`),
    /high-water: the archive says state "on_air", the ledger "withdrawn"/,
  ],
  [
    'a piece taken off the air',
    () => stand.sql(`UPDATE pieces SET state = 'draft', published_at = NULL WHERE slug = '${PIECE}'`),
    /low-water: the archive says state "draft", the ledger "on_air"/,
  ],
  [
    'when a piece went on air',
    () => stand.sql(`UPDATE pieces SET published_at = published_at - 1 WHERE slug = '${PIECE}'`),
    /low-water: the archive says published_at/,
  ],
  [
    'a scheduled piece brought forward',
    () => stand.sql("UPDATE pieces SET scheduled_at = scheduled_at - 1 WHERE slug = 'neap-tide'"),
    /neap-tide: the archive says scheduled_at/,
  ],
  [
    'an embargoed piece put on air early, with all that would follow',
    () =>
      stand.sql(`UPDATE pieces SET state = 'on_air', published_at = scheduled_at, updated_at = scheduled_at,
        scheduled_at = NULL WHERE slug = 'neap-tide'; UPDATE papers SET edition = edition + 1 WHERE slug = '${PAPER}'`),
    /neap-tide: the archive says state "on_air", the ledger "scheduled"/,
  ],
  [
    'a section that a piece is shown in',
    () => stand.sql(`UPDATE pieces SET category = 'Lights' WHERE slug = '${PIECE}'`),
    /low-water: the archive says category "Lights"/,
  ],
  [
    'a revision that is shown',
    () =>
      stand.sql(
        `UPDATE pieces SET revision = 1, generation = (SELECT n FROM generations WHERE slug = '${REVISED}' AND revision = 1) WHERE slug = '${REVISED}'`,
      ),
    /shows revision 1, but the newest is 2/,
  ],
  [
    'the number of an edition',
    () => stand.sql(`UPDATE papers SET edition = edition + 1 WHERE slug = '${PAPER}'`),
    /tide-table: the archive says edition \d+, the ledger \d+/,
  ],
  [
    'a setting of a paper',
    () => stand.sql(`UPDATE papers SET body = json_set(body, '$.motto', 'Thrice a day') WHERE slug = '${PAPER}'`),
    /tide-table: the archive says body/,
  ],
  [
    'the next number of a receipt',
    () => stand.sql(`UPDATE papers SET seq = seq - 1 WHERE slug = '${PAPER}'`),
    /tide-table: the archive says seq/,
  ],
  [
    'the count of a section',
    () => stand.sql("UPDATE tallies SET count = count + 1 WHERE what = 'section'"),
    /the count of section Tides of tide-table is not that of its pieces on air/,
  ],
  [
    'a piece that search has forgotten',
    () => stand.sql(`DELETE FROM searched WHERE piece = '${idOf(PIECE)}'`),
    /the search index does not have piece/,
  ],
  [
    'words that search has forgotten',
    () => stand.sql(`DELETE FROM search WHERE rowid = (SELECT place FROM searched WHERE piece = '${idOf(PIECE)}')`),
    /the search index does not have piece/,
  ],
  [
    'a withdrawn piece that search still finds',
    () =>
      stand.sql(
        `INSERT INTO searched SELECT 1, id, generation, 0 FROM pieces WHERE id = '${idOf(WITHDRAWN)}'; INSERT INTO search (rowid, words) VALUES (1, 'high')`,
      ),
    /the search index has piece \w+, which is not on air/,
  ],
  ['a key of the door removed', () => stand.sql('DELETE FROM door_keys'), /has no row in door_keys/],
  [
    'a key of the door put in the place of another',
    () => {
      const key = Buffer.alloc(32, 7).toString('base64');
      stand.sql(`UPDATE door_keys SET public_key = '${key}'`);
    },
    /the kid is not the thumbprint of its public key/,
  ],
  [
    'an observation',
    () => stand.sql("UPDATE record_bodies SET body = replace(body, '192.0.2.1', '192.0.2.9')"),
    /example\.test: seq 1: record_root is not the root of what is stored/,
  ],
  ['a delta', () => stand.sql(`UPDATE deltas SET "after" = '["192.0.2.9"]'`), /the deltas are not what changed/],
  [
    'a line of credits',
    () => stand.sql('UPDATE credit_ledger SET amount = amount + 1, balance = balance + 1 WHERE seq = 1'),
    /credits of account ada: line 2 does not follow/,
  ],
  [
    'what the press would have to print again',
    () => stand.sql(`DELETE FROM reads WHERE sheet = 'story/${PIECE}' AND tag LIKE 'piece:%'`),
    /the manifest does not record that story\/low-water reads piece:/,
  ],
  [
    'what the press would have to print again, in both its tables',
    () => {
      const dependency = `piece:${idOf(PIECE)}`;
      stand.sql(
        `DELETE FROM reads WHERE sheet = 'front' AND tag = '${dependency}'; UPDATE sheets SET tags = replace(tags, char(10) || '${dependency}', '') WHERE sheet = 'front'`,
      );
    },
    /the manifest does not list what front reads/,
  ],
  [
    'a stale file',
    () => stand.sql(`INSERT INTO press_due (paper, tag) VALUES ('${PAPER}', 'cast')`),
    /stale files wait for the press/,
  ],
];

const SCHEMA: Damage[] = [
  [
    'a trigger dropped',
    () => stand.raw('DROP TRIGGER generations_fixed'),
    /schema: the trigger generations_fixed is missing/,
  ],
  [
    'an index dropped',
    () => stand.raw('DROP INDEX pieces_by_section'),
    /schema: the index pieces_by_section is missing/,
  ],
  [
    'a trigger added',
    () => stand.raw('CREATE TRIGGER t AFTER INSERT ON generations BEGIN SELECT 1; END'),
    /schema: nothing of this program made the trigger t/,
  ],
];

/** What only printing everything anew finds. */
const DEEP: Damage[] = [
  [
    'a sentence of a page',
    () => stand.forge(PAGE, changed('One thing is so.', 'No thing is so.')),
    /low-water\/index\.html: the file does not match/,
  ],
  [
    'a link in a page',
    () => stand.forge(PAGE, changed('https://iho.int/', 'https://iho.example/')),
    /low-water\/index\.html: the file does not match/,
  ],
  [
    'a notice that gives another reason',
    () => stand.forge(`stories/${WITHDRAWN}/index.html`, changed('It was wrong.', 'It was late.')),
    /high-water\/index\.html: the file does not match/,
  ],
  [
    'a share card that shows something else',
    async () => {
      const path = cardPath();
      const bytes = await sharp(join(stand.tree, path)).negate().png().toBuffer();
      put(path, bytes);
      stand.sql(`UPDATE files SET digest = '${sha256(bytes)}' WHERE path = '${path}'`);
    },
    /cards\/\w+-\w+\.png: the file does not match/,
  ],
  [
    'the record of a persona',
    () =>
      stand.sql(
        "UPDATE records SET body = json_set(body, '$.bio', 'Another life') WHERE kind = 'persona' AND paper = 'tide-table'",
      ),
    /masthead\/[\w-]+\/index\.html: the file does not match/,
  ],
  [
    'words in the search index',
    () => {
      const place = `(SELECT place FROM searched WHERE piece = '${idOf(PIECE)}')`;
      stand.sql(`CREATE TEMP TABLE kept AS SELECT ${place} AS place; DELETE FROM search WHERE rowid = ${place};
      INSERT INTO search (rowid, words) SELECT place, 'other words' FROM kept`);
    },
    /low-water: the search index does not hold its words/,
  ],
];

test('an audit finds nothing on a healthy desk, and nothing deep', async () => {
  assert.deepEqual(await stand.audit(), []);
  assert.deepEqual(await stand.audit({ deep: true }), []);
});

/** A push does every sixth damage of a list: each is an audit of the whole desk. */
const skipOnPush = (n: number) => n % 6 > 0 && ONLY_WIDE;

const groups: [kind: string, damages: Damage[]][] = [
  ['on the disk', TREE],
  ['on the disk, forged in the manifest', FORGED],
  ['in the database', LEDGER],
  ['to the schema', SCHEMA],
];
for (const [kind, damages] of groups) {
  for (const [n, [claim, damage, said]] of damages.entries()) {
    test(`an audit finds a damage ${kind}: ${claim}`, { skip: skipOnPush(n) }, async () => {
      stand.heal();
      await damage();
      assert.match((await stand.audit()).join('\n'), said);
    });
  }
}

for (const [n, [claim, damage, said]] of DEEP.entries()) {
  test(`a deep audit finds ${claim}`, { skip: skipOnPush(n) }, async () => {
    stand.heal();
    await damage();
    assert.deepEqual(await stand.audit(), [], 'this is not for a deep audit to find');
    assert.match((await stand.audit({ deep: true })).join('\n'), said);
  });
}

test('an audit lists more stray files than a call takes arguments', { skip: ONLY_WIDE }, async () => {
  stand.heal();
  const folder = join(stand.tree, 'stray');
  mkdirSync(folder);
  for (let n = 0; n < 130_000; n++) writeFileSync(join(folder, `${n}`), '');
  const faults = await stand.audit();
  assert.equal(faults.filter((fault) => fault.includes('/stray/')).length, 130_000);
});
