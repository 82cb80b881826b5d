import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../support/http.ts';
import { send } from '../../support/send.ts';
import { PAPER, type World } from './world.ts';

/** After so long without an answer, in ms, an actor says so: no machine is that slow. */
const PATIENCE = 180_000;

export interface Written {
  status: number;
  body: Record<string, unknown> & { pressed?: boolean; files?: number; pressing?: string };
  /** Whether nothing was killed or stopped meanwhile: a press that was may have written files that nobody counts. */
  isCounted: boolean;
}

/** A write of the API; under a name it is sent again until it is answered. */
export interface Write {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: object;
  /** The Idempotency-Key. */
  name?: string;
}

/** Writes, and waits until the answer, or the address that it gave, says that it is pressed. Null when no answer came. */
export async function write(world: World, actor: string, asked: Write): Promise<Written | null> {
  const { method, path, body, name } = asked;
  const { breaks } = world;
  world.journal.step(actor, `${method} ${path}${name === undefined ? '' : ` [${name}]`} ${short(body)}`);
  const headers: Record<string, string> = name === undefined ? {} : { 'idempotency-key': name };
  const answer = await asking(world, name !== undefined, (url) =>
    send(url, {
      method,
      path: `/${PAPER}/api/v1${path}`,
      headers: { 'x-nrf-key': world.admin, ...headers },
      ...(body === undefined ? {} : { body }),
    }),
  );
  if (answer === null) {
    world.journal.step(actor, `no answer to ${method} ${path}`);
    return null;
  }
  const said = JSON.parse(answer.text) as Written['body'];
  world.journal.step(actor, `${answer.status} to ${method} ${path}: ${short({ ...said, proof: undefined })}`);
  if (answer.status === 503 && world.isOfStall(answer.text)) return null;
  if (answer.status >= 500)
    world.journal.looked(actor, 'fault', `${method} ${path}`, [`it was answered ${answer.status} ${answer.text}`]);
  const isCounted = breaks === world.breaks && world.stalled.size === 0;
  return { status: answer.status, body: said, isCounted };
}

/** Asks again where an answer said, until all is pressed. */
export async function untilPressed(world: World, actor: string, { body }: Written): Promise<void> {
  if (body.pressed === true || body.pressing === undefined) return;
  const path = new URL(body.pressing).pathname;
  const since = Date.now();
  for (;;) {
    const answer = await asking(world, true, (url) => send(url, { path, headers: { 'x-nrf-key': world.admin } }));
    const said = JSON.parse(answer?.text ?? '{}') as { pressed?: boolean };
    if (answer?.status === 200 && said.pressed === true) return void world.journal.step(actor, `${path} says pressed`);
    if (answer?.status !== 200 || Date.now() - since > PATIENCE) {
      const faults = [`it is still ${answer?.status} ${answer?.text}`];
      world.journal.looked(actor, 'pressing', `${path} was given as the address to ask`, faults);
      return;
    }
    await sleep(50);
  }
}

/** Asks the server that is up; where asking twice does no harm, again as long as servers die over it. */
async function asking(world: World, again: boolean, ask: (url: string) => Promise<Answer>): Promise<Answer | null> {
  for (;;) {
    const url = await world.up();
    const late = setTimeout(() => world.journal.looked('server', 'silent', 'answers', ['it does not']), PATIENCE);
    try {
      return await ask(url);
    } catch {
      if (!again) return null;
      await sleep(20);
    } finally {
      clearTimeout(late);
    }
  }
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 300);
}
