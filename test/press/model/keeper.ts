import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from './world.ts';
import { write } from './writes.ts';

/** Makes and removes what no page shows: keys and webhooks. */
export async function keepKeys(world: World, isOver: () => boolean): Promise<void> {
  const random = world.random('keeper');
  for (let count = 0; !isOver(); count++) {
    await sleep(random.int(500, 3_000));
    const what = random.pick(['keys', 'webhooks']);
    const body = what === 'keys' ? { level: 'read', name: `Reader ${count}` } : { url: `http://127.0.0.1:9/${count}` };
    const made = await write(world, 'keeper', { method: 'POST', path: `/${what}`, body });
    if (made === null) continue;
    hold(world, `POST /${what}`, made.status === 201, made.body);
    if (made.status !== 201) continue;
    const path = `/${what}/${made.body.id}`;
    const removed = await write(world, 'keeper', { method: 'DELETE', path, name: `keeper ${world.journal.steps}` });
    if (removed !== null) hold(world, `DELETE ${path}`, removed.status === 200, removed.body);
  }
}

/** Such a write touches no page: it waits for no press, and counts nobody else's files. */
function hold(world: World, what: string, isDone: boolean, body: Record<string, unknown>): void {
  world.journal.looked('keeper', 'no page', `${what} touches no page`, [
    ...(isDone ? [] : [`it was answered ${JSON.stringify(body).slice(0, 300)}`]),
    ...(body.pressed === false ? ['it waited for a press'] : []),
    ...(Number(body.files ?? 0) === 0 ? [] : [`it counts ${body.files} files`]),
  ]);
}
