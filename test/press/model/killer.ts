import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from './world.ts';

/** Kills commands and the server at moments that nobody chose: no signal handler runs, and nothing is finished. */
export async function kill(world: World, isOver: () => boolean): Promise<void> {
  const random = world.random('killer');
  while (!isOver()) {
    await sleep(random.int(200, 4_000));
    if (isOver()) return;
    const commands = [...world.commands];
    const victim = commands.length > 0 && random.chance(0.75) ? random.pick(commands) : world.server;
    if (victim === null) continue;
    world.journal.step(
      'killer',
      `kills ${victim === world.server ? 'the server' : victim.child.spawnargs.slice(2).join(' ')}`,
    );
    victim.child.kill('SIGKILL');
  }
}
