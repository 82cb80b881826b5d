import type { Stage } from './output.ts';
import { STAGES } from './output.ts';
import { outputNamed } from './outputs/all.ts';
import { hosting } from './outputs/hosting.ts';

/**
 * Above this number, cards are drawn after the pages are public. Otherwise they are drawn first, so that no page
 * links to a missing one.
 */
const CARDS_FIRST_MAX = 50;
/** Stages whose outputs are drawn, by sharp's own threads, or few. */
const DRAWN: ReadonlySet<Stage> = new Set(['assets', 'picture', 'card', 'cover']);

/** Stages that worker threads print with another: proofs and the cover with the stories, feeds with the front. */
const TAKEN: ReadonlySet<Stage> = new Set(['proof', 'cover', 'feed']);

/** Names of outputs by stage, in the order of the stages. Many cards come last. */
export type ByStage = ReadonlyMap<Stage, string[]>;

/** Names of outputs that one thread prints in this order. */
export type Run = string[];

/** A part of a press. It begins when the part before it is on disk. */
export interface Step {
  /** What the thread of the press prints. */
  here: Run;
  /** What worker threads print meanwhile. */
  inPool: Run[];
}

export function byStage(names: Iterable<string>): ByStage {
  const groups = new Map<Stage, string[]>(STAGES.map((stage) => [stage, []]));
  for (const name of names) {
    const stage = outputNamed(name)?.output.stage;
    if (stage !== undefined) groups.get(stage)?.push(name);
  }
  const cards = groups.get('card') ?? [];
  if (cards.length > CARDS_FIRST_MAX) {
    groups.delete('card');
    groups.set('card', cards);
  }
  return groups;
}

/** The most outputs of a stage that worker threads would print. */
export function largestStage(stages: ByStage): number {
  return Math.max(0, ...[...stages].filter(([stage]) => !DRAWN.has(stage)).map(([, names]) => names.length));
}

/** The steps of a press without worker threads. */
export function stepsHere(stages: ByStage): Step[] {
  return [...stages.values()].map((here) => ({ here, inPool: [] }));
}

/** The steps of a press with worker threads. */
export function stepsInPool(stages: ByStage): Step[] {
  return [...stages].map(([stage, names]) => {
    if (TAKEN.has(stage)) return { here: [], inPool: [] };
    // Nothing before the feeds links to the cover, so no output waits for it.
    if (stage === 'story') return { here: stages.get('cover') ?? [], inPool: pieceRuns(stages) };
    if (DRAWN.has(stage)) return { here: names, inPool: [] };
    return { here: [], inPool: eachAlone(stage === 'front' ? [...names, ...(stages.get('feed') ?? [])] : names) };
  });
}

/**
 * The steps of a press with worker threads into a new tree: everything in parallel, because no reader sees the tree
 * before its last file. Lists and feeds come first. They take longest, and the threads are to end together.
 */
export function stepsInNewTree(stages: ByStage): Step[] {
  const late = [...stages.keys()].at(-1) === 'card' ? (stages.get('card') ?? []) : [];
  const first: Step = { here: [], inPool: [] };
  for (const [stage, names] of stages) {
    if (stage === 'proof' || stage === 'story' || names === late) continue;
    if (DRAWN.has(stage)) first.here.push(...names);
    else first.inPool.push(...eachAlone(names.filter((name) => name !== hosting.kind)));
  }
  first.inPool.push(...pieceRuns(stages));
  const last = stages.get('host')?.filter((name) => name === hosting.kind) ?? [];
  return [first, { here: last, inPool: [] }, { here: late, inPool: [] }];
}

function eachAlone(names: string[]): Run[] {
  return names.map((name) => [name]);
}

/**
 * The proof of each piece and then its story, which links to it. A thread that prints both reads the piece once.
 */
function pieceRuns(stages: ByStage): Run[] {
  const proofs = new Map(stages.get('proof')?.map((name) => [keyOf(name), name]));
  const runs: Run[] = [];
  for (const story of stages.get('story') ?? []) {
    const proof = proofs.get(keyOf(story));
    proofs.delete(keyOf(story));
    runs.push(proof === undefined ? [story] : [proof, story]);
  }
  return [...eachAlone([...proofs.values()]), ...runs];
}

function keyOf(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
