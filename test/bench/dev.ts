import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { isoTime } from '../../src/proof/time.ts';
import { serveDev } from '../support/dev-server.ts';
import type { Bench } from './paper.ts';
import { PERSONAS, piecesOf, SECTIONS } from './pieces.ts';
import { type Figure, median, note } from './table.ts';

const PIECES = 1_000;
const SAVES = 15;
/** In ms. */
const BUDGET = 300;

/** How long the writing desk takes from a save to the page that shows it, in a paper of a thousand pieces. */
export async function devPart(bench: Bench): Promise<Figure[]> {
  const folder = join(bench.folder, 'dev');
  const paper = join(folder, 'content/quay');
  for (const part of ['stories', 'masthead']) mkdirSync(join(paper, part), { recursive: true });
  writeFileSync(join(paper, 'paper.yaml'), stringify({ nameplate: 'The Quay', sections: SECTIONS }));
  for (const name of PERSONAS) {
    const persona = { name, title: 'Writer', beat: 'All', bio: 'A persona.' };
    writeFileSync(join(paper, `masthead/${name}.yaml`), stringify(persona));
  }
  const pieces = [...piecesOf(bench.texts, PIECES, bench.began)];
  const write = ({ filing, at }: (typeof pieces)[number], more: string) => {
    const { slug, headline, dek, category, persona, prose, cited_facts } = filing;
    const facts = cited_facts.map(({ statement, source, instrument }) => ({ statement, source, instrument }));
    const front = { headline, dek, category, byline: persona, air: isoTime(at), cited_facts: facts };
    writeFileSync(join(paper, `stories/${slug}.md`), `---\n${stringify(front)}---\n\n${prose}\n${more}`);
  };
  for (const piece of pieces) write(piece, '');

  const ends: (() => unknown)[] = [];
  const started = performance.now();
  const { url } = await serveDev({ after: (end) => void ends.push(end) }, folder);
  const start = performance.now() - started;
  try {
    const [first] = pieces;
    if (first === undefined) throw new Error('there are no pieces');
    const page = async () => (await fetch(`${url}/quay/stories/${first.filing.slug}/`)).text();
    await page();
    const client = await (await fetch(`${url}/@vite/client`)).text();
    const token = /wsToken = "([^"]+)"/.exec(client)?.[1] ?? '';
    const socket = new WebSocket(`${url.replace('http', 'ws')}/?token=${token}`, 'vite-hmr');
    let reload = () => {};
    socket.addEventListener('message', ({ data }) => {
      if (String(data).includes('full-reload')) reload();
    });
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    const times: number[] = [];
    for (let n = 0; n < SAVES; n++) {
      const reloaded = new Promise<void>((resolve) => {
        reload = resolve;
      });
      const saved = performance.now();
      write(first, `\nSaved ${n} times.\n`);
      await reloaded;
      if (!(await page()).includes(`Saved ${n} times.`)) throw new Error('the page does not show what was saved');
      times.push(performance.now() - saved);
    }
    socket.close();
    const took = median(times);
    note(`dev: ready after ${Math.round(start)} ms; saves ${times.map(Math.round).join(', ')} ms`);
    return [
      {
        what: `a save at the writing desk, ${PIECES} pieces, to the page that shows it`,
        ours: `${Math.round(took)} ms (ready after ${(start / 1_000).toFixed(1)} s)`,
        other: '',
        ratio: null,
        budget: `< ${BUDGET} ms`,
        holds: took < BUDGET,
      },
    ];
  } finally {
    for (const end of ends) await end();
  }
}
