import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, type TestContext, test } from 'node:test';
import Database from 'libsql';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import {
  type Agreement,
  currentAgreement,
  type Signing,
  signatureOf,
  signTerms,
  TermsAcceptance,
  TermsRecord,
  termsRecord,
} from '../../src/desk/papers/terms.ts';
import { type AppContext, intakeOf } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import { appContextIn, type Clock, PAPER, tempFolder } from '../support/app-context.ts';
import { copyContent } from '../support/program.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const AGREEMENT: Agreement = { version: '2026-11-21', text: 'Cite what you have read.' };

/** Asserts a fault of this code, and gives its message and details. */
function faultOf(work: () => unknown, code: string): Fault {
  let fault: unknown;
  try {
    work();
  } catch (error) {
    fault = error;
  }
  assert(fault instanceof Fault, `nothing was refused: ${fault}`);
  assert.equal(fault.code, code);
  return fault;
}

describe('signing the agreement', () => {
  let folder: string;
  let app: AppContext;

  beforeEach((t) => {
    folder = tempFolder(t as TestContext);
    const clock: Clock = { now: NOON };
    app = appContextIn(t as TestContext, folder, clock);
  });

  const sign = (more: Partial<Signing> = {}) =>
    signTerms({
      terms: app.store.desk.terms,
      agreement: AGREEMENT,
      paper: PAPER,
      version: AGREEMENT.version,
      signed_by: 'Mara Vell, publisher',
      key: '01jd0000000000000000000001',
      now: NOON,
      ...more,
    });
  const record = (agreement = AGREEMENT, paper = PAPER) =>
    termsRecord(agreement, signatureOf(app.store.desk.terms, agreement, paper));

  test('an unsigned agreement is shown whole, and marked unsigned', () => {
    assert.deepEqual(record(), { ...AGREEMENT, signed: false, signed_at: null, signed_by: null });
    TermsRecord.parse(record());
  });

  test('a signature holds the text that was signed, who signed it, when and with which key', () => {
    const signature = sign({ signed_by: '  Zoe\u0308 Vell ' });
    assert.deepEqual(signature, {
      paper: PAPER,
      version: '2026-11-21',
      digest: `sha256:${createHash('sha256').update(AGREEMENT.text).digest('hex')}`,
      signed_by: 'Zo\u00eb Vell',
      signed_at: NOON,
      key: '01jd0000000000000000000001',
    });
    assert.deepEqual(record(), {
      ...AGREEMENT,
      signed: true,
      signed_at: '2026-11-20T12:00:00.000Z',
      signed_by: 'Zo\u00eb Vell',
    });
    TermsRecord.parse(record());
    assert.equal(record(AGREEMENT, 'another-paper').signed, false, 'a signature binds its own paper');
  });

  test('signing again keeps the first signature', () => {
    const first = sign();
    assert.deepEqual(sign({ signed_by: 'Somebody Else', key: '01jd0000000000000000000002', now: NOON + 1 }), first);
    assert.equal(record().signed_by, 'Mara Vell, publisher');
  });

  test('a version that is not in force is refused, and both are named', () => {
    for (const version of ['2026-11-20', '', '2026-11-21 ', '2026-11-2\u0661']) {
      const { message } = faultOf(() => sign({ version }), 'conflict');
      assert(message.includes(JSON.stringify(version)) && message.includes('"2026-11-21"'), message);
    }
    assert.equal(record().signed, false);
  });

  test('who signs is one line of 1 to 200 characters', () => {
    for (const signed_by of ['', ' \u3000', 'a\nb', 'a\u2028b', 'a\u0000b', 'a\u0085b', '\ud800', 'x'.repeat(201)]) {
      const { details } = faultOf(() => sign({ signed_by }), 'invalid_request');
      assert.deepEqual(details, { field: 'signed_by' });
    }
    assert.equal(record().signed, false);
    for (const [n, signed_by] of ['x', 'x'.repeat(200), '港'].entries()) {
      assert.equal(sign({ signed_by, paper: `paper-${n}` }).signed_by, signed_by);
    }
  });

  test('any name is either rejected or round-trips', () => {
    let n = 0;
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 210 }), (signed_by) => {
        const paper = `paper-${n++}`;
        try {
          const { signed_by: kept } = sign({ signed_by, paper });
          assert.equal(kept, signed_by.normalize('NFC').trim());
          assert.equal(record(AGREEMENT, paper).signed_by, kept);
          TermsAcceptance.shape.signed_by.parse(kept);
        } catch (error) {
          assert(error instanceof Fault, String(error));
          assert.equal(record(AGREEMENT, paper).signed, false);
        }
      }),
    );
  });

  test('a text that changed under the same version is not signed any more, nor is a new version', () => {
    const old = sign();
    const reworded = { ...AGREEMENT, text: `${AGREEMENT.text} And more.` };
    const renewed = { ...AGREEMENT, version: '2027-01-01' };
    for (const agreement of [reworded, renewed]) {
      assert.equal(record(agreement).signed, false);
      assert.equal(termsRecord(agreement, old).signed, false, 'an old signature handed in does not count either');
    }
    assert.equal(sign({ agreement: reworded, signed_by: 'Second', now: NOON + 1 }).signed_by, 'Second');
    assert.equal(record(reworded).signed_by, 'Second');
    assert.equal(record().signed_by, 'Mara Vell, publisher', 'the signature under the old text stays on file');
  });

  test('signatures cannot be changed or deleted, and survive the process', (t) => {
    sign();
    const db = new Database(join(folder, 'var/broadsheet.db'));
    t.after(() => db.close());
    for (const sql of ["UPDATE terms SET signed_by = 'Nobody'", 'DELETE FROM terms']) {
      assert.throws(() => db.exec(sql), /terms is append-only/, sql);
    }
    const again = appContextIn(t, folder, { now: NOON });
    assert.equal(signatureOf(again.store.desk.terms, AGREEMENT, PAPER)?.signed_by, 'Mara Vell, publisher');
  });
});

describe('reading the agreement', () => {
  /** A content folder with this agreement in it, or with none. */
  const folderWith = (t: TestContext, bytes: string | Uint8Array | null) => {
    const contentDir = join(tempFolder(t), 'content');
    mkdirSync(contentDir);
    if (bytes !== null) writeFileSync(join(contentDir, 'agreement.md'), bytes);
    return { contentDir };
  };

  test("the project's own is in force where a content folder has none", (t) => {
    const { version, text } = currentAgreement(folderWith(t, null));
    assert.equal(version, '2026-11-21');
    for (const word of ['persona', '[^N]', 'correction', 'personal data', 'secret', 'draft', 'revoking']) {
      assert(text.includes(word), word);
    }
    assert.deepEqual(currentAgreement({ contentDir: join(tempFolder(t), 'is-not-there') }), { version, text });
  });

  test('a content folder’s own agreement comes first, and line endings are not part of its text', (t) => {
    const expected = { version: 'house-2', text: '# Rules\n\nBe\u00e9 fair.' };
    for (const text of [
      '---\nversion: house-2\n---\n# Rules\n\nBe\u00e9 fair.',
      '\ufeff---\r\nversion: "house-2"\r\ntitle: Ours\r\n---\r\n\r\n# Rules\r\n\r\nBee\u0301 fair.\r\n\r\n',
    ]) {
      assert.deepEqual(currentAgreement(folderWith(t, text)), expected);
    }
  });

  test('a malformed one is refused with the file and the cure', (t) => {
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /front matter/],
      ['Just text.', /front matter/],
      ['\n---\nversion: a\n---\nText.', /front matter/],
      ['---\nversion: a\nText.', /front matter/],
      ['---\n---\nText.', /version/],
      ['---\ntitle: a\n---\nText.', /version/],
      ['---\nversion:\n---\nText.', /version/],
      ['---\nversion: 3\n---\nText.', /version/],
      ['---\nversion: ""\n---\nText.', /version/],
      ['---\nversion: "a b"\n---\nText.', /version/],
      ['---\nversion: "a\\nb"\n---\nText.', /version/],
      [`---\nversion: ${'x'.repeat(41)}\n---\nText.`, /version/],
      ['---\n- version\n---\nText.', /version/],
      ['---\nversion: "a\n---\nText.', /YAML/],
      ['---\nversion: a\n---\n \n\n', /no text/],
      [Buffer.from('---\nversion: a\n---\nCaf\u00e9', 'latin1'), /UTF-8/],
    ];
    for (const [bytes, cure] of cases) {
      const settings = folderWith(t, bytes);
      const { message } = faultOf(() => currentAgreement(settings), 'unavailable');
      assert(message.includes(join(settings.contentDir, 'agreement.md')), message);
      assert.match(message, cure);
      assert.match(message, /; \w/, 'the message names a cure');
    }
  });

  test('filing a content folder takes no notice of it', { skip: ONLY_WIDE }, async (t) => {
    const folder = tempFolder(t);
    copyContent(folder);
    assert(readFileSync(join(folder, 'content/agreement.md'), 'utf8').startsWith('---\n'));
    // After the demo's pieces.
    const app = appContextIn(t, folder, { now: Date.parse('2026-12-01T12:00:00Z') });
    const { filed, problems } = await fileContent(intakeOf(app));
    assert.deepEqual(problems, []);
    assert(filed.length > 0 && filed.every((file) => !file.includes('agreement')));
  });
});
