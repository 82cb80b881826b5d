import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Presses by command, in one of the ways there are; what it says is held against the disk. */
export async function pressByCommand(world: World, actor: string, random: Random): Promise<void> {
  const full = random.chance(0.35) ? ['--full'] : [];
  if (random.chance(0.75)) return void (await pressed(world, actor, full));
  // Cards that this one leaves are owed until a press that leaves none has ended.
  world.owingCards++;
  await world.command(actor, ['press', ...full, '--no-cards']);
  await untilPressed(world, actor);
  world.owingCards--;
}

/** Presses until a press comes to its end. */
export async function untilPressed(world: World, actor: string): Promise<void> {
  while (!(await pressed(world, actor, [])));
}

async function pressed(world: World, actor: string, options: string[]): Promise<boolean> {
  const since = Date.now();
  const outcome = await world.command(actor, ['press', ...options]);
  if (outcome === null) return false;
  holdPress(world, actor, `press ${options.join(' ')}`, outcome, since);
  return true;
}

/** A command that says that it pressed, or that nothing was left, says so of all that was written before it began. */
export function holdPress(
  world: World,
  actor: string,
  what: string,
  { code, stdout, stderr }: { code: number | null; stdout: string; stderr: string },
  since: number,
): void {
  const says = /^(?:nothing left to press|pressed )/m.test(stdout);
  world.journal.looked(actor, 'command', what, [
    ...(code === 0 && says ? [] : [`it ended with ${code} and said ${`${stdout}${stderr}`.slice(-500)}`]),
  ]);
  if (code === 0 && says) world.lookAtAll(actor, `${what} said ${JSON.stringify(stdout.trim().slice(-80))};`, since);
}
