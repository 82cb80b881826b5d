import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { dependencies } from '../../desk/dependencies.ts';
import { pressPlan } from '../../desk/jobs/press-run.ts';
import { loadBuild } from '../../desk/press/build.ts';
import { memoized } from '../../desk/press/memoized.ts';
import { OUTPUTS, outputName } from '../../desk/press/outputs/all.ts';
import { filesIn } from '../../desk/press/tree.ts';
import type { Portrait } from '../../media/portrait.ts';
import type { AppContext, AppStore } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { digestOf } from '../../shared/files/file-digest.ts';
import { isLink } from '../../shared/files/plain-file.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { Progress } from '../../shared/terminal/progress.ts';
import { isDead } from '../../shared/workers/process-name.ts';
import { type OutputAudit, outputAudit, PRESS_AGAIN, UNCALLED } from './output-audit.ts';

/** How many times a tree that is being pressed is checked, and the pause between two checks, in ms. */
const CHECKS_MAX = 4;
const PAUSE = 500;
/** How many outputs are checked concurrently: sharp draws on its own threads. */
const AT_ONCE = 8;

interface TreeOptions {
  deep: boolean;
  progress: Progress['step'];
}

interface TreeFindings {
  /** Number of files checked. */
  files: number;
  faults: string[];
}

/**
 * Derives every file of a paper from the ledger and compares it with the disk; again, when a server pressed meanwhile.
 */
export async function auditTree(app: AppContext, paper: string, options: TreeOptions): Promise<TreeFindings> {
  const { archive, manifest } = app.store.desk;
  const state = () => `${archive(paper).paper().edition} ${manifest.newestStale(paper)} ${manifest.leaseOwner(paper)}`;
  for (let check = 1; ; check++) {
    const before = state();
    const findings = await checkTree(app, paper, options);
    const isUnchanged = state() === before && manifest.leaseOwner(paper) === null;
    if (findings.faults.length === 0 || isUnchanged || check === CHECKS_MAX) return findings;
    await sleep(PAUSE);
  }
}

async function checkTree(app: AppContext, paper: string, options: TreeOptions): Promise<TreeFindings> {
  const { store, clock } = app;
  const { manifest } = store.desk;
  const archive = memoized(store.desk.archive(paper));
  const staleDependencies = [...manifest.staleDependencies(paper)];
  const stale = staleDependencies.length > 0 ? [waitsForPress(paper)] : [];
  if (!archive.paper().paper_public) {
    return { files: 0, faults: staleDependencies.length > 0 ? stale : privateFaults(app, paper) };
  }
  const build = await loadBuild();
  const { site, stamp, folder } = pressPlan(app, paper, build);
  if (manifest.stamp(paper) !== stamp || staleDependencies.includes(dependencies.config)) {
    // Only the manifest says what a stale tree must contain, and it is incomplete while every file is pressed.
    const isPressing = () =>
      store.database.publications.pressState(paper, Date.now()) === 'pressing' &&
      !isDead(manifest.leaseOwner(paper) ?? '');
    const findings = isPressing() ? null : manifestFindings(store, paper, folder);
    if (findings === null || isPressing()) {
      const cure = 'run the audit again when it has ended';
      const fault = `its files were not checked: a press is running and every file waits for it; ${cure}`;
      return { files: 0, faults: [`${paper}: ${fault}`] };
    }
    if (staleDependencies.length === 0)
      stale.push(
        `${paper}: every file is stale and waits for the press, because the program or its settings changed; run \`${CLI} press\``,
      );
    return { files: findings.files, faults: [...stale, ...findings.faults] };
  }
  const pictures = {
    ...store.pictures,
    // Drawn again, because the press's cache may be wrong.
    portrait: async (portrait: Portrait) => (await import('../../media/draw-portrait.ts')).drawPortrait(portrait),
  };
  const tools = { render: build.render, assets: build.assets, pictures, now: clock.now() };
  const audit = outputAudit({ store, paper, archive, site, folder, tools, deep: options.deep });
  const { files, faults } = await checkOutputs(store, paper, audit, {
    staleDependencies,
    folder,
    progress: options.progress,
  });
  return { files, faults: [...stale, ...faults] };
}

function waitsForPress(paper: string): string {
  return `${paper}: stale files wait for the press; run \`${CLI} press\``;
}

/** Checks every output that the ledger requires, then looks for files that it does not require. */
async function checkOutputs(
  store: AppStore,
  paper: string,
  audit: OutputAudit,
  { staleDependencies, folder, progress }: { staleDependencies: string[]; folder: string; progress: Progress['step'] },
): Promise<TreeFindings> {
  const { manifest } = store.desk;
  const staleNames = staleOutputs(manifest, paper, staleDependencies, audit);
  const names = new Set<string>();
  for (const output of OUTPUTS) for (const key of output.allKeys(audit.edition())) names.add(outputName(output, key));
  const expected = new Set<string>();
  const faulty: string[] = [];
  let done = 0;
  let files = 0;
  const check = async (name: string): Promise<void> => {
    const { paths, faults } = await audit.check(name);
    for (const path of paths) expected.add(path);
    if (!staleNames.has(name)) {
      files += paths.length;
      if (faults.length > 0) faulty.push(name);
    }
    progress(`audit ${paper}`, ++done, names.size, name);
  };
  const all = [...names];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    await Promise.all(all.slice(at, at + AT_ONCE).map(check));
    await setImmediate();
  }
  const faults: string[] = [];
  // The press may have been writing a file at that moment; outputs that became stale since are not faults.
  const staleNow =
    faulty.length === 0 ? staleNames : staleOutputs(manifest, paper, [...manifest.staleDependencies(paper)], audit);
  if (staleDependencies.length === 0 && faulty.some((name) => staleNow.has(name))) faults.push(waitsForPress(paper));
  for (const name of faulty) if (!staleNow.has(name)) faults.push(...(await audit.check(name)).faults);

  for (const name of manifest.outputs(paper)) {
    if (names.has(name)) continue;
    for (const { path } of manifest.files(paper, name)) {
      expected.add(path);
      if (!staleNames.has(name)) faults.push(`${paper}/${path}: ${UNCALLED}`);
    }
  }
  for (const name of staleNames) for (const { path } of manifest.files(paper, name)) expected.add(path);
  const stray = `the ledger does not call for this file; ${PRESS_AGAIN}`;
  pushAll(faults, strayFaults(paper, folder, expected, stray));
  pushAll(faults, store.desk.readsFaults(paper));
  return { files, faults };
}

/** Outputs that may be stale, because the next press will render them. */
function staleOutputs(
  manifest: AppStore['desk']['manifest'],
  paper: string,
  staleDependencies: string[],
  audit: OutputAudit,
): Set<string> {
  const edition = audit.edition();
  const named = staleDependencies.flatMap((dependency) => [
    ...manifest.outputsReading(paper, dependency),
    ...OUTPUTS.flatMap((output) =>
      [...output.keysForDependency(dependency, edition)].map((key) => outputName(output, key)),
    ),
  ]);
  return new Set(named);
}

/** The faults of a private paper, which must have no tree. */
function privateFaults({ store, settings }: AppContext, paper: string): string[] {
  const inFolder = `the paper is private, and this file is in a public folder; ${PRESS_AGAIN}`;
  const inManifest = `the manifest lists this file, but the paper is private; ${PRESS_AGAIN}`;
  return [
    ...[...filesIn(join(settings.distDir, paper))].map((path) => `${paper}/${path}: ${inFolder}`),
    ...[...store.desk.manifest.allFiles(paper)].map(({ path }) => `${paper}/${path}: ${inManifest}`),
  ];
}

/** The differences between the tree and the manifest. */
function manifestFindings(store: AppStore, paper: string, folder: string): TreeFindings {
  const faults: string[] = [];
  const listed = new Set<string>();
  for (const { path, digest } of store.desk.manifest.allFiles(paper)) {
    listed.add(path);
    const found = digestOf(join(folder, path));
    if (found === null) faults.push(`${paper}/${path}: the file is missing; ${PRESS_AGAIN}`);
    else if (found !== digest) faults.push(`${paper}/${path}: the file was altered; ${PRESS_AGAIN}`);
  }
  const stray = `the manifest does not list this file; ${PRESS_AGAIN}`;
  return { files: listed.size, faults: [...faults, ...strayFaults(paper, folder, listed, stray)] };
}

/** Files of a folder that are not expected there, and links. */
function strayFaults(paper: string, folder: string, expected: ReadonlySet<string>, stray: string): string[] {
  return [...filesIn(folder)].flatMap((path) => {
    if (!expected.has(path)) return [`${paper}/${path}: ${stray}`];
    if (isLink(join(folder, path))) return [`${paper}/${path}: this is a link, which is never served; ${PRESS_AGAIN}`];
    return [];
  });
}
