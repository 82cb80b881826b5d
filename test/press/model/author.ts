import { setTimeout as sleep } from 'node:timers/promises';
import { storyBody } from '../../support/small-papers.ts';
import { headlineOf, newPiece, type Piece } from './piece.ts';
import type { Random } from './random.ts';
import { SECTIONS, type World } from './world.ts';
import { untilPressed, type Write, type Written, write } from './writes.ts';

/** How many pieces an author has in hand. */
const PIECES_MAX = 7;
const PERSONAS = ['vera-holm', 'ibo-sand'];

interface AnsweredStory {
  id: string;
  headline: string;
  revision: number;
  state: Piece['state'];
  published_at: string | null;
  scheduled_at: string | null;
}
interface AnsweredProof {
  generations: { seq: number; revision: number }[];
}

/** One caller of the API with pieces of its own: nobody else writes them, so it knows what each answer promised. */
export class Author {
  readonly #world: World;
  readonly #name: string;
  readonly #random: Random;
  readonly #pieces: Piece[] = [];
  #count = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
    this.#random = world.random(name);
  }

  async act(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#step();
      await sleep(this.#random.int(0, 250));
    }
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const known = this.#pieces.filter(({ unsure }) => !unsure);
    if (known.length === 0 || (this.#pieces.length < PIECES_MAX && random.chance(0.35))) return this.#file();
    const piece = random.pick(known);
    const { state } = piece;
    if (state === 'on_air') return random.chance(0.65) ? this.#revise(piece) : this.#withdraw(piece);
    if (state === 'scheduled') return random.chance(0.5) ? this.#revise(piece) : this.#withdraw(piece);
    return random.chance(0.65) ? this.#air(piece) : this.#revise(piece);
  }

  async #file(): Promise<void> {
    const piece = newPiece(this.#name, `${this.#name}-${this.#count++}`, this.#random.pick(SECTIONS));
    this.#pieces.push(piece);
    this.#world.pieces.add(piece);
    const air = this.#when();
    await this.#write(piece, { method: 'POST', path: '/stories', body: { ...this.#filing(piece), air } }, 201);
  }

  async #revise(piece: Piece): Promise<void> {
    if (this.#random.chance(0.2)) piece.section = this.#random.pick(SECTIONS);
    const correction = this.#random.chance(0.3) ? { correction: `Revision ${piece.revision} was wrong.` } : {};
    const air = piece.state === 'draft' && this.#random.chance(0.3) ? { air: this.#when() } : {};
    const body = { ...this.#filing(piece), ...correction, ...air, revision: piece.revision };
    await this.#write(piece, { method: 'PUT', path: `/stories/${piece.id}`, body }, 200);
  }

  async #air(piece: Piece): Promise<void> {
    const at = this.#random.chance(0.3) ? { at: this.#soon() } : {};
    const asked: Write = { method: 'POST', path: `/stories/${piece.id}/airing`, body: at };
    const isTwice = this.#world.options.twice && Object.keys(at).length === 0 && this.#random.chance(0.3);
    const other = isTwice ? this.#besides(piece, asked) : Promise.resolve();
    await this.#write(piece, asked, 200, isTwice);
    await other;
  }

  /** The same once more at the same time: whichever comes second changes nothing, and promises as much. */
  async #besides(piece: Piece, asked: Write): Promise<void> {
    const { headline, revision } = piece;
    const written = await write(this.#world, this.#name, asked);
    if (written?.status !== 200 || written.body.pressed !== true) return;
    const { published_at } = written.body.story as AnsweredStory;
    const aired: Piece = { ...piece, headline, revision, state: 'on_air', withdrawn: false };
    aired.published_at = Date.parse(published_at ?? '');
    this.#world.look(this.#name, '"pressed": true, to one of two at once,', aired);
  }

  async #withdraw(piece: Piece): Promise<void> {
    piece.reason = `It was wrong for reason ${this.#random.int(1, 1_000_000)} of ${piece.slug}.`;
    const body = { reason: piece.reason };
    await this.#write(piece, { method: 'DELETE', path: `/stories/${piece.id}/airing`, body }, 200);
  }

  #filing(piece: Piece) {
    const revision = piece.revision + 1;
    return {
      ...storyBody(piece.slug),
      headline: headlineOf(piece.slug, revision),
      category: piece.section,
      byline: this.#random.pick(PERSONAS),
    };
  }

  #when(): boolean | string {
    const chance = this.#random.next();
    return chance < 0.6 ? true : chance < 0.8 ? false : this.#soon();
  }

  #soon(): string {
    return new Date(Date.now() + this.#random.int(200, 2_500)).toISOString();
  }

  /** Writes, learns from the answer how the piece stands, and holds the answer against the disk. */
  async #write(piece: Piece, asked: Omit<Write, 'name'>, wanted: number, isTwice = false): Promise<void> {
    // A notice tells of a new revision and a new reason, and nothing of a schedule.
    const wasVisible = piece.state === 'on_air' || (piece.withdrawn && asked.method !== 'POST');
    const named = this.#random.chance(0.8) ? { name: `${this.#name} ${this.#world.journal.steps} ${piece.slug}` } : {};
    piece.unsure = true;
    const { journal } = this.#world;
    const written = await write(this.#world, this.#name, { ...asked, ...named });
    if (written === null) return;
    if (written.status !== wanted) {
      // What was to come may have come meanwhile: nothing was written then, and nothing is known of a new piece.
      const isLate = written.status === 400 && /has passed/.test(String(written.body.message));
      const isOff = written.status === 409 && asked.method === 'DELETE';
      if (!isLate && !isOff)
        journal.looked(this.#name, 'status', `${asked.method} ${asked.path} of ${piece.slug}`, [
          `it was answered ${written.status} ${JSON.stringify(written.body).slice(0, 300)}`,
        ]);
      piece.unsure = piece.revision === 0 || !isLate;
      return;
    }
    this.#learn(piece, asked, written);
    const said = written.body.pressed;
    await this.#hold(piece, written, !isTwice && (wasVisible || piece.state === 'on_air'));
    if (!('name' in named) || !this.#random.chance(0.25)) return;
    const again = await write(this.#world, this.#name, { ...asked, ...named });
    const [first, second] = [written, again].map((one) =>
      JSON.stringify([one?.status, one?.body.story, one?.body.proof]),
    );
    journal.looked(this.#name, 'again', `${asked.method} ${asked.path} sent again is answered as before`, [
      ...(first === second ? [] : [`first ${first}, then ${second}`.slice(0, 900)]),
      ...(said === true && again?.body.pressed !== true ? ['it is no longer pressed'] : []),
    ]);
    if (again !== null) await this.#hold(piece, again, false);
  }

  #learn(piece: Piece, asked: Omit<Write, 'name'>, { body }: Written): void {
    const story = body.story as AnsweredStory;
    const proof = body.proof as AnsweredProof | undefined;
    piece.id = story.id;
    const isFiling = proof !== undefined;
    const revision = piece.revision + (isFiling ? 1 : 0);
    const faults: string[] = [];
    if (story.revision !== revision || story.headline !== headlineOf(piece.slug, revision))
      faults.push(`it shows revision ${story.revision}, ${story.headline}`);
    if (proof !== undefined) {
      const last = proof.generations.at(-1);
      if (last?.revision !== revision) faults.push(`the newest generation is ${last?.revision}`);
      const other = this.#world.answered.get(last?.seq ?? 0);
      if (other !== undefined) faults.push(`seq ${last?.seq} was given to ${other} too`);
      this.#world.answered.set(last?.seq ?? 0, `${story.id} ${revision}`);
    }
    this.#world.journal.looked(
      this.#name,
      'answer',
      `${asked.method} ${asked.path} answers with what it wrote`,
      faults,
    );
    piece.revision = story.revision;
    piece.headline = story.headline;
    const isWithdrawal = asked.method === 'DELETE';
    if (isWithdrawal) piece.withdrawn = story.published_at !== null;
    else if (story.state === 'on_air') piece.withdrawn = false;
    piece.state = story.state;
    piece.published_at = story.published_at === null ? null : Date.parse(story.published_at);
    piece.scheduled_at = story.scheduled_at === null ? null : Date.parse(story.scheduled_at);
    piece.answered_at = Date.now();
    piece.promised = false;
    piece.unsure = false;
  }

  /** What the answer said of the press, held against the disk before anything else is done. */
  async #hold(piece: Piece, written: Written, visible: boolean): Promise<void> {
    const { body } = written;
    const world = this.#world;
    if (body.pressed !== true) await untilPressed(world, this.#name, written);
    piece.promised = true;
    const { state, scheduled_at } = piece;
    // What was due in the meantime may be on disk or not.
    if (state === 'scheduled' && (scheduled_at ?? 0) <= Date.now()) return;
    world.look(this.#name, body.pressed === true ? '"pressed": true' : `${body.pressing} says pressed`, piece);
    if (body.pressed === true && visible && written.isCounted && !world.mayBePrivate)
      world.journal.looked(this.#name, 'files', `a write that readers see, of ${piece.slug}, was pressed`, [
        ...(Number(body.files) > 0 ? [] : [`its press changed ${body.files} files`]),
      ]);
  }
}
