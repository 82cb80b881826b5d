import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { memoized } from '../../desk/press/memoized.ts';
import { OUTPUTS, outputName } from '../../desk/press/outputs/all.ts';
import { filesIn } from '../../desk/press/tree.ts';
import { tags } from '../../desk/tags.ts';
import { digestOf } from '../../shared/files/file-digest.ts';
import { isLink } from '../../shared/files/plain-file.ts';
import { OutputAudit } from './output-audit.ts';
import { type AuditParts, PRESS_AGAIN } from './parts.ts';

/** How many times a tree that is being pressed is checked, and the pause between two checks, in ms. */
const CHECKS_MAX = 4;
const PAUSE = 500;
/** How many outputs are checked concurrently: sharp draws on its own threads. */
const AT_ONCE = 8;

interface TreeFindings {
  /** Number of files checked. */
  files: number;
  faults: string[];
}

/**
 * Derives every file of a paper from the ledger and compares it with the disk; again, when a server pressed meanwhile.
 */
export async function auditTree(parts: AuditParts, paper: string, deep: boolean): Promise<TreeFindings> {
  const { store } = parts;
  const state = () =>
    `${store.desk.archive(paper).paper().edition} ${store.desk.manifest.newestMark(paper)} ${store.desk.manifest.leaseOwner(paper)}`;
  for (let check = 1; ; check++) {
    const before = state();
    const findings = await checkTree(parts, paper, deep);
    const isUnchanged = state() === before && store.desk.manifest.leaseOwner(paper) === null;
    if (findings.faults.length === 0 || isUnchanged || check === CHECKS_MAX) return findings;
    await sleep(PAUSE);
  }
}

async function checkTree(parts: AuditParts, paper: string, deep: boolean): Promise<TreeFindings> {
  const {
    desk: { manifest },
  } = parts.store;
  const archive = memoized(parts.store.desk.archive(paper));
  const staleTags = [...manifest.staleTags(paper)];
  const stale = staleTags.length > 0 ? [waitsForPress(paper)] : [];
  if (!archive.paper().paper_public) {
    return { files: 0, faults: staleTags.length > 0 ? stale : privateFaults(parts, paper) };
  }
  const build = await parts.loadBuild();
  const { site, stamp, folder } = parts.planOf(paper, build);
  if (manifest.stamp(paper) !== stamp || staleTags.includes(tags.config)) {
    // Only the manifest knows what a stale tree must contain.
    if (staleTags.length === 0)
      stale.push(
        `${paper}: every file is stale and waits for the press, because the program or its settings changed; run \`npm run -s broadsheet -- press\``,
      );
    const { files, faults } = manifestFindings(parts, paper, folder);
    return { files, faults: [...stale, ...faults] };
  }
  const audit = new OutputAudit({
    paper,
    archive,
    site,
    folder,
    listed: (output) => ({ files: manifest.files(paper, output), tags: parts.store.desk.tagsRead(paper, output) }),
    tools: { render: build.render, assets: build.assets, pictures: parts.pictures, now: parts.now() },
    deep,
  });
  const { files, faults } = await checkOutputs(parts, paper, audit, staleTags, folder);
  return { files, faults: [...stale, ...faults] };
}

function waitsForPress(paper: string): string {
  return `${paper}: stale files wait for the press; run \`npm run -s broadsheet -- press\``;
}

/** Checks every output that the ledger requires, then looks for files that it does not require. */
async function checkOutputs(parts: AuditParts, paper: string, audit: OutputAudit, staleTags: string[], folder: string) {
  const {
    desk: { manifest },
  } = parts.store;
  const staleNames = staleOutputs(manifest, paper, staleTags, audit);
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
    parts.progress(`audit ${paper}`, ++done, names.size, name);
  };
  const all = [...names];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    await Promise.all(all.slice(at, at + AT_ONCE).map(check));
    await setImmediate();
  }
  const faults: string[] = [];
  // The press may have been writing a file at that moment, and what has become stale since waits for it.
  const staleNow =
    faulty.length === 0 ? staleNames : staleOutputs(manifest, paper, [...manifest.staleTags(paper)], audit);
  const wait = faulty.filter((name) => staleNow.has(name));
  if (wait.length > 0 && staleTags.length === 0) faults.push(waitsForPress(paper));
  for (const name of faulty) if (!staleNow.has(name)) faults.push(...(await audit.check(name)).faults);

  for (const name of manifest.outputs(paper)) {
    if (names.has(name)) continue;
    for (const { path } of manifest.files(paper, name)) {
      expected.add(path);
      if (!staleNames.has(name))
        faults.push(
          `${paper}/${path}: the manifest lists this file, which the ledger does not call for; ${PRESS_AGAIN}`,
        );
    }
  }
  for (const name of staleNames) for (const { path } of manifest.files(paper, name)) expected.add(path);
  for (const path of filesIn(folder)) {
    if (!expected.has(path)) faults.push(`${paper}/${path}: the ledger does not call for this file; ${PRESS_AGAIN}`);
    else if (isLink(join(folder, path))) faults.push(`${paper}/${path}: ${LINKED}`);
  }
  return { files, faults: [...faults, ...parts.store.desk.readsFaults(paper)] };
}

const LINKED = `this is a link, which is never served; ${PRESS_AGAIN}`;

/** Outputs that the next press will render, and that may be stale. */
function staleOutputs(
  manifest: AuditParts['store']['desk']['manifest'],
  paper: string,
  staleTags: string[],
  audit: OutputAudit,
): Set<string> {
  const staleNames = new Set<string>();
  const edition = audit.edition();
  for (const tag of staleTags) {
    for (const name of manifest.outputsReading(paper, tag)) staleNames.add(name);
    for (const output of OUTPUTS)
      for (const key of output.keysForTag(tag, edition)) staleNames.add(outputName(output, key));
  }
  return staleNames;
}

/** The faults of a private paper, which must have no tree. */
function privateFaults({ store, distDir }: AuditParts, paper: string): string[] {
  const faults: string[] = [];
  for (const path of filesIn(join(distDir, paper)))
    faults.push(`${paper}/${path}: the paper is private, and this file is in a public folder; ${PRESS_AGAIN}`);
  for (const { path } of store.desk.manifest.allFiles(paper))
    faults.push(`${paper}/${path}: the manifest lists this file, but the paper is private; ${PRESS_AGAIN}`);
  return faults;
}

/** The differences between the tree and the manifest. */
function manifestFindings({ store }: AuditParts, paper: string, folder: string): TreeFindings {
  const faults: string[] = [];
  const listed = new Set<string>();
  for (const { path, digest } of store.desk.manifest.allFiles(paper)) {
    listed.add(path);
    const found = digestOf(join(folder, path));
    if (found === null) faults.push(`${paper}/${path}: the file is missing; ${PRESS_AGAIN}`);
    else if (found !== digest) faults.push(`${paper}/${path}: the file was altered; ${PRESS_AGAIN}`);
  }
  for (const path of filesIn(folder)) {
    if (!listed.has(path)) faults.push(`${paper}/${path}: the manifest does not list this file; ${PRESS_AGAIN}`);
    else if (isLink(join(folder, path))) faults.push(`${paper}/${path}: ${LINKED}`);
  }
  return { files: listed.size, faults };
}
