import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import satori from 'satori';
import sharp from 'sharp';
import { CARD_HEIGHT, CARD_WIDTH, type Card, cardDigest, declarationOf } from '../../src/media/card/card.ts';
import { typeset } from '../../src/media/card/card-fonts.ts';
import { fitLines } from '../../src/media/card/card-lines.ts';
import { cardSvg, drawCard } from '../../src/media/card/share-card.ts';
import { contentHash } from '../../src/proof/basis.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CARD: Card = {
  nameplate: 'The Harbor Ledger',
  headline: 'Council votes to reopen the east pier after a decade of delays',
  category: 'City',
  writer: null,
  byline: 'Mara Vey',
  day: '2026-11-20',
  hue: 250,
  language: 'en',
};

/** Headlines as they were published (Wikinews, rOpenSci, OpenTelemetry, The Carpentries), and one made up for each further script. */
const COVERED: [language: string, headline: string][] = [
  ['en', 'Comorbidity Among Adults With Epilepsy — United States, 2021–2022'],
  ['en', 'User Experience (UX) vs. Customer Experience (CX): What’s the Dif?'],
  ['es', 'Traducción al español de Ecología con Python, una lección de Data Carpentry'],
  ['ja', 'Apache APISIX が OpenTelemetry と統合してトレーシングデータを収集'],
  ['ja', '2023年3月の OpenTelemetry エンドユーザーディスカッションまとめ'],
  ['uk', 'Міська рада проголосувала за відкриття східного причалу: «їжак, ґанок, є»'],
  ['tr', 'Şehir meclisi doğu iskelesini yeniden açmak için oy kullandı: İğdır, çığ'],
  ['vi', 'Hội đồng thành phố bỏ phiếu mở lại bến tàu phía đông sau một thập kỷ trì hoãn'],
  ['el', 'Το δημοτικό συμβούλιο ψήφισε την επαναλειτουργία της προβλήτας'],
  ['zh', '市议会投票决定在拖延十年之后重新开放东码头，渡轮服务将于明年春季恢复'],
  ['zh-TW', '臺灣總統選舉：繁體中文標題測試'],
  ['ko', '시의회, 10년 만에 동쪽 부두 재개장 의결…내년 봄부터 여객선 운항 재개'],
  ['ar', 'مجلس المدينة يصوت على إعادة فتح الرصيف الشرقي في 2026'],
  ['he', 'מועצת העיר הצביעה על פתיחת הרציף המזרחי מחדש'],
  ['hi', 'नगर परिषद ने पूर्वी घाट को फिर से खोलने के लिए मतदान किया'],
];

/** In scripts that the cards have no type for. */
const NOT_COVERED: [language: string, headline: string][] = [
  ['th', 'สภาเมืองลงมติเปิดท่าเรือตะวันออกอีกครั้ง'],
  ['ta', 'கிழக்கு துறைமுகத்தை மீண்டும் திறக்க நகரசபை வாக்களித்தது'],
  ['am', 'የከተማው ምክር ቤት የምስራቅ ወደብን ለመክፈት ድምጽ ሰጠ'],
];

/** What satori asks for when no font of a text has a character of it. */
async function missing(text: string, language: string): Promise<string[]> {
  const set = typeset(text, 'serif', language);
  const asked: string[] = [];
  const style = { display: 'flex', fontFamily: set.family.join(', '), fontSize: 20 };
  await satori({ type: 'div', props: { style, children: set.text } } as never, {
    width: CARD_WIDTH,
    height: CARD_HEIGHT,
    fonts: set.fonts,
    loadAdditionalAsset: async (_code, segment) => {
      asked.push(segment);
      return [];
    },
  });
  return asked;
}

describe('a card', () => {
  it('is a PNG of 1200 by 630', async () => {
    const png = await drawCard(CARD);
    const { format, width, height } = await sharp(png).metadata();
    assert.deepEqual({ format, width, height }, { format: 'png', width: CARD_WIDTH, height: CARD_HEIGHT });
    assert.ok(png.length < 60_000, `${png.length} bytes`);
  });

  it('shows what sharp shows of the same picture, but for blends at edges', async () => {
    const ours = await sharp(await drawCard(CARD))
      .removeAlpha()
      .raw()
      .toBuffer();
    const theirs = await sharp(Buffer.from(await cardSvg(CARD)))
      .removeAlpha()
      .raw()
      .toBuffer();
    assert.equal(ours.length, theirs.length);
    const furthest = ours.reduce((most, value, i) => Math.max(most, Math.abs(value - (theirs[i] as number))), 0);
    assert.ok(furthest < 8, `a channel is ${furthest} off`);
  });

  it('has the same bytes each time, also when many are drawn concurrently', async () => {
    const first = await drawCard(CARD);
    const others = await Promise.all([drawCard(CARD), drawCard({ ...CARD, hue: 90 }), drawCard(CARD)]);
    assert.deepEqual(Buffer.from(others[0]), Buffer.from(first));
    assert.deepEqual(Buffer.from(others[2]), Buffer.from(first));
    assert.notDeepEqual(Buffer.from(others[1]), Buffer.from(first));
  });

  it('is drawn for any hue, language tag and text', async () => {
    const hard = ['', '   ', '🚀', 'A'.repeat(300), '<b>&amp;</b> "\'`', '\u0000\u202e\u200d', `${'x'.repeat(299)}。`];
    for (const [i, headline] of hard.entries()) {
      const odd = { ...CARD, headline, nameplate: headline, byline: headline, category: headline };
      const { width } = await sharp(await drawCard({ ...odd, hue: i * 50, language: 'not a tag' })).metadata();
      assert.equal(width, CARD_WIDTH, JSON.stringify(headline));
    }
  });
});

describe('a card’s digest', () => {
  it('is 16 hex digits, the same for the same card', () => {
    assert.match(cardDigest(CARD), /^[0-9a-f]{16}$/);
    assert.equal(cardDigest({ ...CARD }), cardDigest(CARD));
    const odd = {
      nameplate: 'Die “Küste”\u2028',
      headline: '\u0007 \\ "é" 🌊',
      hue: 0.5,
      language: 'de',
      writer: 'Ann',
    };
    for (const card of [CARD, { ...CARD, ...odd }]) {
      const { writer, ...rest } = card;
      const declaration = card.language === 'en' ? {} : { declaration: declarationOf(card) };
      const basis = { template: 1, ...rest, ...declaration, ...(writer === null ? {} : { writer }) };
      assert.equal(`sha256:${cardDigest(card)}`, contentHash(basis).slice(0, 'sha256:'.length + 16));
    }
  });

  it('changes with everything that is shown', () => {
    const changes: Partial<Card>[] = [
      { nameplate: 'The Harbor Ledge' },
      { headline: 'Council votes' },
      { category: 'Sea' },
      { byline: 'Mara Vei' },
      { writer: 'Ann Lee' },
      { day: '2026-11-21' },
      { hue: 251 },
      { language: 'en-GB' },
    ];
    const digests = changes.map((change) => cardDigest({ ...CARD, ...change }));
    assert.deepEqual(changes.flatMap(Object.keys).sort(), Object.keys(CARD).sort());
    assert.equal(new Set([...digests, cardDigest(CARD)]).size, changes.length + 1);
  });

  it('does not depend on hidden content', () => {
    assert.equal(cardDigest({ ...CARD, slug: 'pier' } as Card), cardDigest(CARD));
  });
});

describe('type', () => {
  for (const [language, headline] of COVERED) {
    it(`covers ${language}: ${headline}`, async () => {
      assert.deepEqual(typeset(headline, 'serif', language).missing, []);
      assert.deepEqual(await missing(headline, language), []);
      const without = await cardSvg({ ...CARD, headline: '', language });
      assert.ok((await cardSvg({ ...CARD, headline, language })).length > without.length);
    });
  }

  for (const [language, headline] of NOT_COVERED) {
    it(`leaves a headline in ${language} off, and says so`, async () => {
      const letters = new Set(typeset(headline, 'serif', language).missing.join('').replace(/\P{L}/gu, ''));
      assert.deepEqual(letters, new Set(headline.replace(/\P{L}/gu, '')));
      const bare = await drawCard({ ...CARD, headline: '', language });
      assert.deepEqual(await drawCard({ ...CARD, headline, language }), bare);
    });
  }

  it('leaves out emoji, flags and keycaps, not digits and signs', () => {
    const text = typeset('Rockets 👩🏽‍🚀 are 🇺🇦 back ❤️ at 7️⃣ © ™ # 1', 'serif', 'en');
    assert.equal(text.text, 'Rockets are back at 7 © ™ # 1');
    assert.deepEqual(text.missing, []);
  });

  it('counts a mark that its base’s font lacks, and characters beyond the first plane', () => {
    assert.deepEqual(typeset('か\u0323', 'serif', 'ja').missing, ['か\u0323']);
    assert.deepEqual(typeset('𠮷野家', 'serif', 'ja').missing, ['𠮷']);
  });

  it('is missed where it is missing', async () => {
    assert.deepEqual(await missing('Pier ท', 'th'), ['ท']);
  });

  it('has every ideograph that the Chinese font declares', async () => {
    const require = createRequire(import.meta.url);
    const declared: Record<string, string> = require('@fontsource-variable/noto-serif-sc/unicode.json');
    const ideographs = Object.values(declared)
      .flatMap((ranges) => ranges.split(','))
      .flatMap((range) => {
        const [from = 0, to = from] = range
          .trim()
          .slice(2)
          .split('-')
          .map((hex) => Number.parseInt(hex, 16));
        return Array.from({ length: to - from + 1 }, (_, i) => from + i);
      })
      .filter((code) => code >= 0x4e00 && code <= 0x9fff);
    assert.ok(ideographs.length > 10_000);
    // On a push every tenth part of them.
    for (let i = 0; i < ideographs.length; i += ONLY_WIDE === false ? 400 : 4_000) {
      assert.deepEqual(await missing(String.fromCodePoint(...ideographs.slice(i, i + 400)), 'zh'), []);
    }
  });
});

describe('lines', () => {
  const box = { width: 100, height: 44, sizes: [20, 10], leading: 1.1 };
  const fit = (text: string, language = 'en') => fitLines(text, language, box, (part) => [...part].length * 0.5);

  it('are as large as fits', () => {
    assert.deepEqual(fit('one two'), { size: 20, lines: ['one two'] });
    assert.deepEqual(fit('one two three'), { size: 20, lines: ['one two', 'three'] });
  });

  it('are about equally long', () => {
    assert.deepEqual(fit('aaaa bbbb cccc dddd eeee').lines, ['aaaa bbbb cccc', 'dddd eeee']);
  });

  it('end in an ellipsis after a word when nothing fits', () => {
    const { size, lines } = fit(
      'one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen',
    );
    assert.equal(size, 10);
    assert.equal(lines.length, 4);
    assert.match(lines.at(-1) as string, /[a-z]…$/);
  });

  it('cut a word that is longer than a line', () => {
    assert.deepEqual(fit('x'.repeat(45)).lines, ['x'.repeat(19), 'x'.repeat(19), 'x'.repeat(7)]);
    assert.equal(fit('x'.repeat(100)).lines.join(''), `${'x'.repeat(4 * 19)}…`);
  });

  it('never begin with a closing mark or a particle', () => {
    for (const text of ['市議会、十年ぶりに東桟橋の再開を可決。', '「渡船」の運航は、来春（四月）から。']) {
      const { lines } = fitLines(text, 'ja', { ...box, width: 120, height: 90 }, (part) => [...part].length);
      assert.equal(lines.join(''), text);
      for (const line of lines) assert.doesNotMatch(line, /^[、。）」をはのにが]/u);
    }
  });
});
