import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_THEME, THEMES, type Theme } from '../../../src/desk/papers/themes.ts';
import type { Random } from './random.ts';
import { SECTIONS, SPARE, type World } from './world.ts';
import { untilPressed, write } from './writes.ts';

const HUES = [30, 120, 210];
const NAMES = ['The Tide Table', 'The Evening Tide'];
const PEOPLE = ['Vera Holm', 'Ibo Sand', '凪'];
const TITLES = ['Watch', 'Harbour watch'];
const CAST_DAYS = ['2026-11-19', '2026-11-17'];

/** Changes what every page shows: the paper's settings, its masthead, its video editions. */
export class Settings {
  readonly #world: World;
  readonly #random: Random;
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random('settings');
  }

  async act(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await sleep(this.#random.int(300, 2_500));
      await this.#step();
    }
  }

  #step(): Promise<void> {
    const random = this.#random;
    const chance = random.next();
    if (chance < 0.2) return this.#everyCard({ hue: random.pick(HUES) });
    if (chance < 0.3) return this.#everyCard({ nameplate: random.pick(NAMES) });
    if (chance < 0.4) return this.#front();
    if (chance < 0.45) {
      const sections = random.shuffled([...SECTIONS, ...(random.chance(0.5) ? [SPARE] : [])]);
      return this.#config(random.chance(0.5) ? { sections } : { theme: random.pick(THEMES) });
    }
    if (chance < 0.75)
      return this.#persona(random.pick(['vera-holm', 'ibo-sand']), random.pick(PEOPLE), random.pick(TITLES));
    if (chance < 0.9 || !this.#world.options.privacy)
      return this.#cast(random.pick(CAST_DAYS), `Half a minute, cut ${random.int(1, 3)}`);
    return this.#hide();
  }

  /** An editor's placement, which a short time ends. A piece may be off the air by then: that is refused. */
  async #front(): Promise<void> {
    const random = this.#random;
    const [lead, pin] = random.shuffled([...this.#world.pieces].filter(({ state }) => state === 'on_air'));
    if (lead === undefined || pin === undefined) return;
    const until = new Date(Date.now() + random.int(300, 4_000)).toISOString();
    const body = { lead: random.chance(0.2) ? null : { story: lead.slug, until }, pins: [pin.slug] };
    const name = `settings ${this.#count++} /front`;
    const written = await write(this.#world, 'settings', { method: 'PUT', path: '/front', body, name });
    const isRefused =
      written?.status === 422 && /withdrawn|draft|has passed|not a piece/.test(String(written.body.message));
    this.#world.journal.looked('settings', 'settings', `PUT /front ${JSON.stringify(body)}`, [
      ...(written?.status === 200 || isRefused ? [] : [`it was answered ${written?.status}`]),
    ]);
    if (written?.status === 200) await untilPressed(this.#world, 'settings', written);
  }

  /** A change that every card shows: of many cards all come last, after the pages that name them. */
  async #everyCard(change: { hue: number } | { nameplate: string }): Promise<void> {
    this.#world.owingCards++;
    await this.#config(change);
    this.#world.owingCards--;
  }

  async #config(change: { hue?: number; nameplate?: string; sections?: string[]; theme?: Theme }): Promise<void> {
    await this.#put('/config', change, () => {
      const { disk } = this.#world;
      const { paper } = JSON.parse(disk.read('front.json') ?? '{"paper":{}}') as { paper: Record<string, unknown> };
      const page = disk.read('index.html') ?? '';
      const faults = Object.entries(change).flatMap(([name, value]) =>
        name === 'theme' || JSON.stringify(paper[name]) === JSON.stringify(value)
          ? []
          : [`front.json has ${name} ${JSON.stringify(paper[name])}`],
      );
      if (change.theme !== undefined && page.includes('/theme-') !== (change.theme !== DEFAULT_THEME))
        faults.push(`index.html is not laid out as ${change.theme}`);
      if (change.nameplate !== undefined && !page.includes(`<title>${change.nameplate}</title>`))
        faults.push(`index.html is not titled ${change.nameplate}`);
      for (const section of change.sections ?? [])
        if (disk.read(`sections/${section.toLowerCase()}/index.html`) === null) faults.push(`${section} has no page`);
      if (
        change.sections?.includes(SPARE) === false &&
        disk.read(`sections/${SPARE.toLowerCase()}/index.html`) !== null
      )
        faults.push(`${SPARE} still has a page`);
      return faults;
    });
  }

  #persona(slug: string, name: string, title: string): Promise<void> {
    return this.#put(`/masthead/${slug}`, { name, title }, () =>
      ['masthead/index.html', `masthead/${slug}/index.html`].flatMap((path) => {
        const page = this.#world.disk.read(path);
        return page?.includes(title) ? [] : [`${path} does not show the title ${title}`];
      }),
    );
  }

  #cast(day: string, title: string): Promise<void> {
    const body = { title, video: 'media/cast/2026-11-16.mp4', poster: 'media/cast/2026-11-16.jpg' };
    return this.#put(`/cast/${day}`, body, () =>
      [`cast/${day}/index.html`, 'podcast.xml'].flatMap((path) =>
        this.#world.disk.read(path)?.includes(title) ? [] : [`${path} does not show the title ${title}`],
      ),
    );
  }

  /** A private paper has no file; when it is public again it has all of them. */
  async #hide(): Promise<void> {
    const world = this.#world;
    world.mayBePrivate = true;
    await this.#answered('/config', { paper_public: false }, () => {
      const files = world.disk.count();
      return files === 0 ? [] : [`${files} files of the private paper are on disk`];
    });
    await sleep(this.#random.int(0, 1_500));
    await this.#answered('/config', { paper_public: true }, () => {
      world.mayBePrivate = false;
      return world.disk.read('index.html') === null ? ['there is no front page'] : [];
    });
    world.mayBePrivate = false;
  }

  async #put(path: string, body: object, faults: () => string[]): Promise<void> {
    const isTwice = this.#world.options.twice && this.#random.chance(0.25);
    const other = isTwice ? this.#besides(path, body, faults) : Promise.resolve();
    await this.#answered(path, body, faults);
    await other;
  }

  /** The same once more at the same time: whichever comes second changes nothing, and promises as much. */
  async #besides(path: string, body: object, faults: () => string[]): Promise<void> {
    const written = await write(this.#world, 'settings', { method: 'PUT', path, body });
    if (written?.status !== 200 || written.body.pressed !== true || this.#world.mayBePrivate) return;
    this.#world.journal.looked('settings', 'settings', `PUT ${path}, one of two at once, "pressed": true`, faults());
  }

  async #answered(path: string, body: object, faults: () => string[]): Promise<void> {
    const world = this.#world;
    const written = await write(world, 'settings', {
      method: 'PUT',
      path,
      body,
      name: `settings ${this.#count++} ${path}`,
    });
    if (written?.status !== 200) {
      world.journal.looked('settings', 'status', `PUT ${path}`, [`it was answered ${written?.status}`]);
      return;
    }
    const promise = `PUT ${path} ${JSON.stringify(body)}, "pressed": ${written.body.pressed}`;
    await untilPressed(world, 'settings', written);
    if (!world.mayBePrivate || 'paper_public' in body) world.journal.looked('settings', 'settings', promise, faults());
    // No press takes back what an earlier one put there.
    world.lookAtAll('settings', `after ${promise}, what was promised`, 0);
  }
}
