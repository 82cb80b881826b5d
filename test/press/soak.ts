// Runs the model of a desk for as long as it is told to: node test/press/soak.ts --minutes 60 --seed anything
import { parseArgs } from 'node:util';
import { Random } from './model/random.ts';
import { runModel } from './model/run.ts';
import { type Options, World } from './model/world.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now()) },
    /** Members of the options as JSON, in place of those that the seed gives. */
    options: { type: 'string', default: '{}' },
    /** Ends with the first run that differs. */
    first: { type: 'boolean', default: false },
  },
});
const until = Date.now() + Number(values.minutes) * 60_000;
const kinds = new Map<string, number>();
let [runs, looks, steps] = [0, 0, 0];

function optionsOf(seed: string): Options {
  const random = new Random(`options ${seed}`);
  const isLarge = random.chance(0.25);
  return {
    seed,
    seconds: isLarge ? 40 : random.int(10, 30),
    rounds: isLarge ? 2 : 3,
    cards: !isLarge && random.chance(0.35),
    kills: random.chance(0.8),
    stalls: random.chance(0.15),
    settings: random.chance(0.85),
    privacy: random.chance(0.5),
    twice: random.chance(0.5),
    known: [],
    // From 400 on a full press calls in its workers.
    archive: isLarge ? random.int(420, 900) : random.int(0, 20),
    pressed: random.chance(0.5),
  };
}

let world: World | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await world?.close(false);
    process.exit(1);
  });

while (Date.now() < until) {
  const seed = runs === 0 ? values.seed : `${values.seed}.${runs}`;
  runs++;
  const options = { ...optionsOf(seed), ...(JSON.parse(values.options) as Partial<Options>) };
  process.stdout.write(`${new Date().toISOString()} ${JSON.stringify(options)}\n`);
  world = await World.open(options);
  await runModel(world);
  const { failures, journal, folder } = world;
  looks += journal.looks;
  steps += journal.steps;
  for (const { kind } of failures) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  // What comes after is mostly the same once more, and is in the journal.
  for (const { kind, text, at } of failures.slice(0, 3))
    process.stdout.write(`  DIFFERENCE (${kind}) at ${at} ms: ${text.slice(0, 1_000)}\n`);
  if (failures.length > 0) process.stdout.write(`  seed ${seed}, all of it in ${folder}\n`);
  await world.close();
  const known = journal.differences.length - failures.length;
  process.stdout.write(
    `  ${journal.steps} steps, ${journal.looks} looks, ${world.starts} starts of the server, ${known} known differences\n`,
  );
  if (values.first && kinds.size > 0) break;
}
const said = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ') || 'no difference';
process.stdout.write(`${runs} runs, ${steps} steps, ${looks} looks: ${said}\n`);
process.exitCode = kinds.size > 0 ? 1 : 0;
