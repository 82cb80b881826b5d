import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { storyBody } from '../../support/small-papers.ts';
import { headlineOf, newPiece, type Piece } from './piece.ts';
import { holdPress, pressByCommand } from './presses.ts';
import type { Random } from './random.ts';
import { PAPER, SECTIONS, type World } from './world.ts';

const ACTOR = 'importer';
const HOUR = 3_600_000;
/** How many pieces one run brings in, at most. */
const PIECES_MAX = 160;

/** The other command line: brings archives in, each piece on air at its own date, and presses. */
export class Importer {
  readonly #world: World;
  readonly #random: Random;
  readonly #pieces: Piece[] = [];
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random(ACTOR);
  }

  /** What the paper has before anybody acts. */
  async begin(count: number): Promise<void> {
    if (count > 0) await this.#import(this.#new(count), ['--no-press']);
  }

  async act(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (this.#random.chance(0.5)) await this.#bringIn();
      else await pressByCommand(this.#world, ACTOR, this.#random);
      await sleep(this.#random.int(0, 1_000));
    }
  }

  async #bringIn(): Promise<void> {
    const random = this.#random;
    const begun = this.#count - this.#world.options.archive;
    const fresh = begun < PIECES_MAX ? this.#new(random.int(5, 25)) : [];
    const known = this.#pieces.filter(({ unsure }) => !unsure);
    const revised = random.shuffled(known).slice(0, random.int(fresh.length === 0 ? 1 : 0, 4));
    for (const piece of revised) this.#revise(piece);
    await this.#import([...fresh, ...revised], random.chance(0.3) ? ['--no-press'] : []);
  }

  #new(count: number): Piece[] {
    return Array.from({ length: count }, () => {
      const piece = newPiece(ACTOR, `from-an-archive-${this.#count++}`, this.#random.pick(SECTIONS));
      // Some of it is older than the news sitemap shows, and some is not.
      const hours = this.#random.chance(0.1) ? this.#random.int(1, 40) : this.#random.int(60, 2_000);
      piece.published_at = Date.now() - hours * HOUR;
      piece.state = 'on_air';
      this.#revise(piece);
      this.#pieces.push(piece);
      this.#world.pieces.add(piece);
      return piece;
    });
  }

  #revise(piece: Piece): void {
    piece.unsure = true;
    piece.revision++;
    piece.headline = headlineOf(piece.slug, piece.revision);
  }

  /** Imports lines until a command came to its end: running it again changes nothing. */
  async #import(pieces: Piece[], options: string[]): Promise<void> {
    const file = join(this.#world.folder, `archive-${this.#world.journal.steps}.jsonl`);
    writeFileSync(file, pieces.map((piece) => `${JSON.stringify(lineOf(piece))}\n`).join(''));
    const args = ['import', file, '--paper', PAPER, '--persona', 'ibo-sand', '--air', ...options];
    for (;;) {
      const since = Date.now();
      const outcome = await this.#world.command(ACTOR, args);
      if (outcome === null) continue;
      const { code, stderr } = outcome;
      const isPressed = options.length === 0;
      if (code === 0)
        for (const piece of pieces)
          Object.assign(piece, { unsure: false, promised: isPressed, answered_at: Date.now() });
      if (isPressed) return holdPress(this.#world, ACTOR, `import of ${pieces.length}`, outcome, since);
      const faults = code === 0 ? [] : [`it ended with ${code} and said ${stderr.slice(-500)}`];
      return this.#world.journal.looked(ACTOR, 'command', `import of ${pieces.length}`, faults);
    }
  }
}

function lineOf({ slug, headline, section, published_at }: Piece) {
  const { dek, prose, cited_facts } = storyBody(slug);
  return { slug, headline, dek, section, prose, cited_facts, published_at: new Date(published_at ?? 0).toISOString() };
}
