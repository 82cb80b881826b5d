import { renderAsync } from '@resvg/resvg-js';
import type { Card } from '../../src/press/card.ts';
import { cardSvg, drawCard } from '../../src/press/share-card.ts';
import type { Bench } from './paper.ts';
import { piecesOf } from './pieces.ts';
import type { Figure } from './table.ts';
import { aSecond, median, note } from './table.ts';

const CARDS = 60;
const ROUNDS = 7;
/** As the press has it. */
const FLYING = 8;
const LEAST = 1.3;

/** Share cards a second: ours beside satori with resvg, of the same pictures. */
export async function cardsPart(bench: Bench): Promise<Figure[]> {
  const cards: Card[] = [...piecesOf(bench.texts, CARDS, bench.began)].map(({ filing, at }) => ({
    nameplate: 'The Bench Ledger',
    headline: filing.headline,
    category: filing.category,
    byline: filing.persona,
    writer: null,
    day: new Date(at).toISOString().slice(0, 10),
    hue: 232,
    language: filing.language,
  }));
  const resvg = async (card: Card) => {
    // The letters are paths by now: no font has to be looked for.
    const picture = await renderAsync(await cardSvg(card), { font: { loadSystemFonts: false } });
    return picture.asPng();
  };
  await rate(cards, drawCard);
  await rate(cards, resvg);
  const rates: { ours: number; other: number; ratio: number }[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    // Each goes first in every other round.
    const first = round % 2 === 1;
    const before = first ? await rate(cards, drawCard) : await rate(cards, resvg);
    const after = first ? await rate(cards, resvg) : await rate(cards, drawCard);
    const [ours, other] = first ? [before, after] : [after, before];
    rates.push({ ours, other, ratio: ours / other });
    note(`cards, round ${round}: ${aSecond(ours)} : ${aSecond(other)}`);
  }
  const ratio = median(rates.map((row) => row.ratio));
  return [
    {
      what: 'share cards : satori + @resvg/resvg-js',
      ours: aSecond(median(rates.map((row) => row.ours))),
      other: aSecond(median(rates.map((row) => row.other))),
      ratio,
      budget: `≥ ${LEAST}`,
      holds: ratio >= LEAST,
    },
  ];
}

/** Cards a second, several in flight. */
async function rate(cards: Card[], draw: (card: Card) => Promise<Uint8Array>): Promise<number> {
  const queue = [...cards];
  const start = performance.now();
  const work = async () => {
    for (let card = queue.pop(); card !== undefined; card = queue.pop()) await draw(card);
  };
  await Promise.all(Array.from({ length: FLYING }, work));
  return cards.length / ((performance.now() - start) / 1_000);
}
