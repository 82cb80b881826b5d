import { STAGES, type Stage } from './output.ts';
import { outputNamed } from './outputs/all.ts';

/** More cards than this are drawn after the pages are public; fewer come first, so that no page lacks its card. */
const CARDS_FIRST_MAX = 50;
/** Stages that the thread of the press prints: sharp draws on threads of its own, and `host` is a few files in order. */
const HERE: ReadonlySet<Stage> = new Set(['assets', 'picture', 'card', 'cover', 'host']);

/** Names of outputs by stage, in the order in which the stages are printed. Each begins when the one before it is on disk. */
export type ByStage = ReadonlyMap<Stage, string[]>;

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

export function isPooled(stage: Stage): boolean {
  return !HERE.has(stage);
}

/** The most outputs of a stage that worker threads would print. */
export function largestStage(stages: ByStage): number {
  return Math.max(0, ...[...stages].filter(([stage]) => isPooled(stage)).map(([, names]) => names.length));
}
