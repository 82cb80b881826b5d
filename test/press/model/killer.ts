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
    world.breaks++;
    victim.child.kill('SIGKILL');
  }
}

/** Longer than a lease lasts that is not renewed, in ms. */
const STALL = 33_000;

/** Has a command or the server stand still for so long that others take its press over, and then go on. */
export async function stall(world: World, isOver: () => boolean): Promise<void> {
  const random = world.random('stall');
  while (!isOver()) {
    await sleep(random.int(500, 5_000));
    const pressing = [...world.commands].filter(({ child }) => /press|import|file/.test(child.spawnargs[2] ?? ''));
    const victim = pressing.length > 0 && random.chance(0.8) ? random.pick(pressing) : world.server;
    if (isOver() || victim === null) continue;
    const name = victim === world.server ? 'the server' : victim.child.spawnargs.slice(2, 4).join(' ');
    world.journal.step('stall', `stops ${name}`);
    world.breaks++;
    world.stalled.add(victim);
    victim.child.kill('SIGSTOP');
    await sleep(STALL);
    victim.child.kill('SIGCONT');
    world.journal.step('stall', `wakes ${name}`);
  }
}
