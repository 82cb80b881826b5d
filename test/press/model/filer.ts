import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../support/program.ts';
import { storyBody } from '../../support/small-papers.ts';
import { headlineOf, newPiece, type Piece } from './piece.ts';
import { holdPress, pressByCommand } from './presses.ts';
import type { Random } from './random.ts';
import { PAPER, SECTIONS, type World } from './world.ts';

const ACTOR = 'filer';
const HOUR = 3_600_000;

/** One command line that files a content folder, airs, withdraws and presses. */
export class Filer {
  readonly #world: World;
  readonly #random: Random;
  readonly #pieces: Piece[] = [];
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random(ACTOR);
  }

  async act(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#step();
      await sleep(this.#random.int(0, 500));
    }
  }

  #step(): Promise<void> {
    const random = this.#random;
    const chance = random.next();
    const known = this.#pieces.filter(({ unsure }) => !unsure);
    if (known.length === 0 || chance < 0.45) return this.#file();
    if (chance < 0.73) return pressByCommand(this.#world, ACTOR, random);
    if (chance < 0.76) return this.#rotate();
    const piece = random.pick(known);
    return piece.state === 'on_air' ? this.#withdraw(piece) : this.#air(piece);
  }

  /** A new key of the door: every proof and the list of keys stay sound, whenever it comes. */
  async #rotate(): Promise<void> {
    const outcome = await this.#world.command(ACTOR, ['key', 'rotate']);
    const { code, stderr } = outcome ?? { code: 0, stderr: '' };
    const faults = code === 0 ? [] : [`it ended with ${code} and said ${stderr.slice(-500)}`];
    this.#world.journal.looked(ACTOR, 'command', 'key rotate', faults);
  }

  /** Writes a few files, new pieces and new revisions, and files them until a command came to its end. */
  async #file(): Promise<void> {
    const random = this.#random;
    const changed = new Set<Piece>();
    for (let n = random.int(1, 3); n > 0; n--) {
      const known = this.#pieces.filter((piece) => !piece.unsure && !changed.has(piece));
      const isNew = known.length === 0 || random.chance(0.5);
      const piece = isNew
        ? newPiece(ACTOR, `from-a-folder-${this.#count++}`, random.pick(SECTIONS))
        : random.pick(known);
      if (isNew) {
        this.#pieces.push(piece);
        this.#world.pieces.add(piece);
      }
      changed.add(piece);
      this.#put(piece);
    }
    const paths = [...changed].map((piece) => this.#path(piece));
    const args = ['file', ...(random.chance(0.5) ? paths : [])];
    for (;;) {
      const since = Date.now();
      const outcome = await this.#world.command(ACTOR, args);
      if (outcome === null) continue;
      if (outcome.code === 0) for (const piece of changed) this.#filed(piece);
      return holdPress(this.#world, ACTOR, 'file', outcome, since);
    }
  }

  /** What the newest file of a piece says is so now. */
  #filed(piece: Piece): void {
    piece.unsure = false;
    piece.promised = true;
    piece.answered_at = Date.now();
  }

  #path({ slug, revision }: Piece): string {
    return join(this.#world.content, `stories/${slug}${revision > 1 ? `.${revision}` : ''}.md`);
  }

  #put(piece: Piece): void {
    piece.unsure = true;
    piece.revision++;
    piece.headline = headlineOf(piece.slug, piece.revision);
    const {
      slug: _slug,
      prose,
      ...fields
    } = { ...storyBody(piece.slug), headline: piece.headline, category: piece.section };
    const air = piece.withdrawn || piece.state === 'on_air' ? undefined : this.#when(piece);
    const matter = { ...fields, ...(air === undefined ? {} : { air }) };
    // A server that starts meanwhile files the folder too: it sees a whole file or none.
    const path = this.#path(piece);
    const aside = join(this.#world.folder, `${ACTOR}.aside`);
    writeFileSync(aside, `---\n${JSON.stringify(matter)}\n---\n\n${prose}\n`);
    renameSync(aside, path);
    this.#world.journal.step(
      ACTOR,
      `wrote ${path.split('/').at(-1)} ${JSON.stringify({ air, category: piece.section })}`,
    );
  }

  /** What a file says of its air, and how the piece stands once it is filed. */
  #when(piece: Piece): boolean | string | undefined {
    const chance = this.#random.next();
    // A schedule may have come true meanwhile: with any other date the file would say nothing.
    if (piece.state !== 'scheduled') {
      if (chance < 0.15) return false;
      if (chance < 0.3) {
        // Dated back, and not near the age at which the news sitemap drops it.
        const at = Date.now() - this.#random.int(60, 900) * HOUR;
        piece.state = 'on_air';
        piece.published_at ??= at;
        return new Date(at).toISOString();
      }
      if (chance < 0.4) return this.#schedule(piece);
    }
    piece.state = 'on_air';
    piece.published_at = null;
    return chance < 0.6 ? true : undefined;
  }

  #schedule(piece: Piece): string {
    const at = Date.now() + this.#random.int(500, 5_000);
    piece.state = 'scheduled';
    piece.scheduled_at = at;
    return new Date(at).toISOString();
  }

  async #withdraw(piece: Piece): Promise<void> {
    piece.unsure = true;
    piece.reason = `It was withdrawn by command ${this.#random.int(1, 1_000_000)}.`;
    const args = ['withdraw', piece.slug, '--paper', PAPER, '--reason', piece.reason];
    const since = Date.now();
    let outcome = await this.#world.command(ACTOR, args);
    // Killed: before it was withdrawn, or after.
    if (outcome === null) outcome = await this.#again(args, /is not on air/);
    piece.state = 'withdrawn';
    piece.withdrawn = true;
    this.#filed(piece);
    holdPress(this.#world, ACTOR, args.slice(0, 2).join(' '), outcome, since);
  }

  async #air(piece: Piece): Promise<void> {
    piece.unsure = true;
    const isLater = piece.state === 'draft' && this.#random.chance(0.3);
    const args = ['air', piece.slug, '--paper', PAPER, ...(isLater ? ['--at', this.#schedule(piece)] : [])];
    const since = Date.now();
    const outcome = (await this.#world.command(ACTOR, args)) ?? (await this.#again(args));
    // It may have gone on air by its schedule meanwhile, or with this command: its Markdown tells when.
    if (!isLater) Object.assign(piece, { state: 'on_air', withdrawn: false, published_at: null });
    this.#filed(piece);
    holdPress(this.#world, ACTOR, args.slice(0, 2).join(' '), outcome, since);
  }

  /** Runs a command that was killed once more; where it says that it was done before, a press follows. */
  async #again(args: string[], done?: RegExp): Promise<Outcome> {
    for (;;) {
      const outcome = await this.#world.command(ACTOR, args);
      if (outcome === null) continue;
      if (!done?.test(outcome.stderr)) return outcome;
      const pressed = await this.#world.command(ACTOR, ['press']);
      if (pressed !== null) return pressed;
    }
  }
}
