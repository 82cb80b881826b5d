import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import { failuresIn, type Outcome, type Running, start } from '../../support/program.ts';
import { enterPapers } from '../../support/small-papers.ts';
import { Disk } from './disk.ts';
import { type Difference, Journal } from './journal.ts';
import { type Piece, standingAt } from './piece.ts';
import { Random } from './random.ts';

export const PAPER = 'the-tide';

/** Sections that pieces are filed in; `SPARE` comes and goes. */
export const SECTIONS = ['Tides', 'Lights', 'Harbours'];
export const SPARE = 'Wrecks';

const PLAIN_CARDS = new URL('./plain-cards.mjs', import.meta.url).href;

/** How many pieces are looked at in one moment. */
const LOOKS_MAX = 80;

export interface Options {
  seed: string;
  /** For how long the actors act before each quiet point. */
  seconds: number;
  /** Quiet points of one run. */
  rounds: number;
  /** Whether share cards are drawn, or files of a few bytes stand for them. */
  cards: boolean;
  /** Whether processes are killed. */
  kills: boolean;
  /** Whether processes are stopped for longer than their leases last, and go on. */
  stalls: boolean;
  /** Whether the paper is made private now and then. */
  privacy: boolean;
  /** Whether the paper's settings, its masthead and its video editions change. */
  settings: boolean;
  /** Whether writes are sent twice at once now and then, so that one of them changes nothing. */
  twice: boolean;
  /** Kinds of differences that end no run: those that are known. */
  known: string[];
  /** How many pieces the paper has on air before anybody acts. */
  archive: number;
  /** Whether that is pressed; else the first press is under way while everybody acts. */
  pressed: boolean;
}

/** One desk, its processes, and what its actors know. */
export class World {
  readonly options: Options;
  readonly folder: string;
  readonly journal: Journal;
  readonly pieces = new Set<Piece>();
  /** Set while the paper may be private: from before it is asked for until the answer that its files are back. */
  mayBePrivate = false;
  /** How many changes and command lines may have left cards to come after the pages that name them. */
  owingCards = 0;
  /** Every generation that an answer named: `piece revision` by its `seq`. */
  readonly answered = new Map<number, string>();
  /** How many processes were killed or stopped so far. */
  breaks = 0;
  /** The commands that run. */
  readonly commands = new Set<Running>();
  /** Processes that stood still for a while; what they cannot do then, they may say. */
  readonly stalled = new Set<Running>();
  /** How often the server was started. */
  starts = 0;
  server: Running | null = null;
  isStopping = false;
  readonly #choice: Random;
  readonly #more: Record<string, string>;
  readonly #port: string;
  readonly #ends: (() => unknown)[] = [];
  isClosed = false;
  #admin = '';
  #url: Promise<string>;
  #isUp: (url: string) => void = () => undefined;

  private constructor(options: Options, port: string) {
    this.options = options;
    this.folder = mkdtempSync(join(tmpdir(), 'broadsheet-model-'));
    this.journal = new Journal(join(this.folder, 'journal.log'));
    this.#port = port;
    this.#choice = this.random('looks');
    this.#more = {
      PORT: port,
      ORIGIN: `http://127.0.0.1:${port}`,
      SERVICES: 'desk',
      LOG_LEVEL: 'error',
      WEBHOOK_PRIVATE: 'allow',
      LOG_POLICY: this.#policy(),
      ...(options.cards ? {} : { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${PLAIN_CARDS}` }),
    };
    this.#url = this.#nextUrl();
  }

  /** A policy without witnesses: each head has its quorum as soon as it is signed, and proofs are pressed again. */
  #policy(): string {
    const file = join(this.folder, 'policy');
    writeFileSync(file, 'quorum none\n');
    return file;
  }

  static async open(options: Options): Promise<World> {
    const world = new World(options, String(await freePort()));
    const keys = await enterPapers(world.folder, [{ slug: PAPER }]);
    world.#admin = keys.get(PAPER)?.admin ?? '';
    const yaml = join(world.content, 'paper.yaml');
    const record = JSON.parse(readFileSync(yaml, 'utf8')) as object;
    writeFileSync(yaml, `${JSON.stringify({ ...record, sections: SECTIONS })}\n`);
    await world.command('world', ['file', '--no-press']);
    return world;
  }

  /** Choices of one actor's own. */
  random(actor: string): Random {
    return new Random(`${this.options.seed} ${actor}`);
  }

  get admin(): string {
    return this.#admin;
  }

  get root(): string {
    return `http://127.0.0.1:${this.#port}/${PAPER}`;
  }

  /** The paper's content folder. */
  get content(): string {
    return join(this.folder, 'content', PAPER);
  }

  get disk(): Disk {
    return new Disk(join(this.folder, 'papers', PAPER), this.root);
  }

  /** The server's address, as soon as it serves. */
  up(): Promise<string> {
    return this.#url;
  }

  /** Keeps a server running until the world stops: one that was killed is started again. */
  async keepServing(random: Random): Promise<void> {
    while (!this.isStopping) {
      const server = this.#start(['serve']);
      this.server = server;
      this.starts++;
      let isUp = false;
      const serves = setInterval(() => {
        const url = /^ready desk=(\S+)/m.exec(server.said.stdout)?.[1];
        if (url === undefined) return;
        clearInterval(serves);
        isUp = true;
        this.journal.step('server', 'ready');
        this.#isUp(url);
      }, 10);
      const { code, signal, stderr } = await server.ended;
      clearInterval(serves);
      // Who waits for a server that never came up waits for the next one.
      if (isUp) this.#url = this.#nextUrl();
      this.server = null;
      this.journal.step('server', `ended: ${code} ${signal}`);
      // Nothing starts while a process that stands still has the database's lock.
      const isLocked = code === 1 && !isUp && this.isOfStall(stderr);
      const wants = signal === 'SIGKILL' || (this.isStopping && code === 0) || isLocked;
      this.journal.looked('server', 'server', 'serves until it is told to stop', [
        ...(wants ? [] : [`it ended with ${code ?? signal}: ${stderr.slice(-500)}`]),
        ...failuresIn({ stderr })
          .filter((line) => !this.isOfStall(line))
          .map((line) => line.slice(0, 500)),
      ]);
      if (!this.isStopping) await sleep(random.int(0, 400));
    }
  }

  /** Ends the server as an operator does, and starts no other. */
  async stopServing(): Promise<void> {
    this.isStopping = true;
    this.server?.child.kill('SIGTERM');
    await this.server?.ended;
  }

  /** Runs a command to its end; null when it was killed, or lost its press while it stood still. */
  async command(actor: string, args: string[], more: Record<string, string> = {}): Promise<Outcome | null> {
    const running = this.#start(args, more);
    this.commands.add(running);
    this.journal.step(actor, `$ ${args.join(' ')}`);
    const outcome = await running.ended;
    this.commands.delete(running);
    const { code, signal, stdout, stderr } = outcome;
    this.journal.step(actor, `= ${code ?? signal} ${`${stdout}${stderr}`.trim().slice(-600).replaceAll('\n', ' | ')}`);
    const isBrokenOff = signal === 'SIGKILL' || (code !== 0 && this.isOfStall(stderr));
    return isBrokenOff ? null : outcome;
  }

  /** Whether a process says that it, or another one that has the database's lock, stood still. */
  isOfStall(said: string): boolean {
    return this.stalled.size > 0 && /stood still for so long|is locked by another process/.test(said);
  }

  /** Holds what is promised of a piece against the disk, in the same moment. */
  look(actor: string, promise: string, piece: Piece, disk = this.disk): void {
    if (this.mayBePrivate) return;
    const faults = disk.faults(piece, this.owingCards === 0);
    this.journal.looked(
      actor,
      'pressed',
      `${promise} of ${piece.slug} (${piece.state}, revision ${piece.revision})`,
      faults,
    );
  }

  /**
   * Looks at every piece whose state is known and on disk: what an answer
   * promised, or, after a press that began at `since`, what was written before.
   * Of many it takes some, for all this is done in one moment.
   */
  lookAtAll(actor: string, promise: string, since: number, most = LOOKS_MAX): void {
    const now = Date.now();
    const { disk } = this;
    for (const piece of this.#choice.shuffled([...this.pieces]).slice(0, most)) {
      if (piece.unsure || !(piece.promised || piece.answered_at < since)) continue;
      const standing = standingAt(piece, since);
      // What falls due about now may be on disk or not.
      if (standing.state === 'scheduled' && (standing.scheduled_at ?? 0) <= now) continue;
      this.look(actor, promise, standing, disk);
    }
  }

  /** What did not hold and is not known. */
  get failures(): Difference[] {
    return this.journal.differences.filter(({ kind }) => !this.options.known.includes(kind));
  }

  end(work: () => unknown): void {
    this.#ends.unshift(work);
  }

  /** Ends what still runs; the folder stays when there is something in it to study. */
  async close(keeps = this.failures.length > 0): Promise<void> {
    this.isStopping = true;
    this.isClosed = true;
    for (const work of this.#ends) await work();
    if (!keeps) rmSync(this.folder, { recursive: true, force: true });
  }

  #start(args: string[], more: Record<string, string> = {}): Running {
    if (this.isClosed) throw new Error('the world is closed');
    const running = start({ after: (work: () => unknown) => this.end(work) } as never, this.folder, args, {
      ...this.#more,
      ...more,
    });
    return running;
  }

  #nextUrl(): Promise<string> {
    return new Promise((resolve) => {
      this.#isUp = resolve;
    });
  }
}
