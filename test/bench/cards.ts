import { renderAsync } from '@resvg/resvg-js';
import type { Card } from '../../src/media/card/card.ts';
import { cardSvg, drawCard } from '../../src/media/card/share-card.ts';
import type { Bench } from './paper.ts';
import { piecesOf } from './pieces.ts';
import { aSecond, type Figure, median, millis, note } from './table.ts';

const CARDS = 60;
const ROUNDS = 7;
/** As the press has it. */
const FLYING = 8;
const LEAST = 1.3;

/** Share cards a second: ours beside satori with resvg, of the same pictures. The cards are new ones of one paper. */
export async function cardsPart(bench: Bench): Promise<Figure[]> {
  const all: Card[] = [...piecesOf(bench.texts, CARDS * (ROUNDS + 1), bench.began)].map(({ filing, at }) => ({
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
  // None is drawn in two rounds. The first one warms both.
  const cardsOf = (round: number) => all.slice(round * CARDS, (round + 1) * CARDS);
  await rate(cardsOf(0), drawCard);
  await rate(cardsOf(0), resvg);
  const rates: { ours: Rate; other: Rate; ratio: number }[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    // Each goes first in every other round.
    const first = round % 2 === 1;
    const cards = cardsOf(round);
    const before = first ? await rate(cards, drawCard) : await rate(cards, resvg);
    const after = first ? await rate(cards, resvg) : await rate(cards, drawCard);
    const [ours, other] = first ? [before, after] : [after, before];
    rates.push({ ours, other, ratio: ours.aSecond / other.aSecond });
    note(`cards, round ${round}: ${aSecond(ours.aSecond)} : ${aSecond(other.aSecond)}`);
  }
  const ratio = median(rates.map((row) => row.ratio));
  const cpu = (side: 'ours' | 'other') => median(rates.map((row) => row[side].cpu));
  return [
    {
      what: 'share cards : satori + @resvg/resvg-js',
      ours: aSecond(median(rates.map((row) => row.ours.aSecond))),
      other: aSecond(median(rates.map((row) => row.other.aSecond))),
      ratio,
      budget: `≥ ${LEAST}`,
      holds: ratio >= LEAST,
    },
    {
      what: '  processor time of a card',
      ours: millis(cpu('ours')),
      other: millis(cpu('other')),
      ratio: cpu('ours') / cpu('other'),
      budget: '',
      holds: null,
    },
  ];
}

interface Rate {
  aSecond: number;
  /** Processor time of a card, in ms. */
  cpu: number;
}

/** Draws cards, several in flight. */
async function rate(cards: Card[], draw: (card: Card) => Promise<Uint8Array>): Promise<Rate> {
  const queue = [...cards];
  const [start, spent] = [performance.now(), process.cpuUsage()];
  const work = async () => {
    for (let card = queue.pop(); card !== undefined; card = queue.pop()) await draw(card);
  };
  await Promise.all(Array.from({ length: FLYING }, work));
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(spent);
  return { aSecond: (cards.length * 1_000) / wall, cpu: (user + system) / 1_000 / cards.length };
}
