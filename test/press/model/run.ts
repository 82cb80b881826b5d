import { Author } from './author.ts';
import { Filer } from './filer.ts';
import { Importer } from './importer.ts';
import { keepKeys } from './keeper.ts';
import { kill, stall } from './killer.ts';
import { readOn } from './reader.ts';
import { Settings } from './settings.ts';
import { settle } from './settle.ts';
import type { World } from './world.ts';

/** How many callers write pieces through the API at once. */
const AUTHORS = ['ada', 'ben', 'cleo'];

/**
 * Runs one desk: authors, settings and keys by the API, two command lines and
 * somebody who kills any of them, all at once; then a quiet point, where it is
 * held against a full press; and again. Whoever closes the world reads its journal first.
 */
export async function runModel(world: World): Promise<void> {
  const { options } = world;
  try {
    const importer = new Importer(world);
    await importer.begin(options.archive);
    if (options.pressed) await world.command('world', ['press']);
    const actors = [
      ...AUTHORS.map((name) => new Author(world, name)),
      ...(options.settings ? [new Settings(world)] : []),
      { act: (isOver: () => boolean) => keepKeys(world, isOver) },
      { act: (isOver: () => boolean) => readOn(world, isOver) },
      new Filer(world),
      importer,
      ...(options.kills ? [{ act: (isOver: () => boolean) => kill(world, isOver) }] : []),
      ...(options.stalls ? [{ act: (isOver: () => boolean) => stall(world, isOver) }] : []),
    ];
    const hasFailed = () => world.failures.length > 0;
    for (let round = 0; round < options.rounds && !hasFailed(); round++) {
      const until = Date.now() + options.seconds * 1_000;
      const isOver = () => Date.now() > until || hasFailed();
      world.isStopping = false;
      const serving = world.keepServing(world.random(`server ${round}`));
      await Promise.all(actors.map((actor) => actor.act(isOver)));
      await settle(world);
      await serving;
    }
  } catch (error) {
    if (world.isClosed) return;
    world.journal.looked('model', 'harness', 'the model runs', [(error as Error).stack ?? String(error)]);
  }
}
