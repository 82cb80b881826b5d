import { Fault, refusalOf } from '../../shared/fault.ts';
import { newId } from '../../shared/new-id.ts';
import { FOLDER_ACTOR, factChange, recordActivity } from '../activity.ts';
import { isClaimKey } from '../door/claims.ts';
import type { SignedFact } from '../fact.ts';
import { correctFact, FactOrder } from '../recording-facts.ts';
import type { DeskFolder } from './desk-folder.ts';
import { recordProblems } from './record-problems.ts';
import { storyName } from './story-files.ts';

const FactFile = FactOrder.omit({ version: true });
type FactFile = ReturnType<typeof FactFile.parse>;

/**
 * Corrects facts from files `facts/<claim key>.<version>.yaml`, oldest versions first. Version 1 comes from the pieces
 * that cite the fact. Returns how many versions were made.
 */
export function applyFacts(at: DeskFolder): number {
  const files = at
    .files('facts', '.yaml')
    .map((path) => ({ path, ...storyName(path.replace(/\.yaml$/, '.md')) }))
    .sort((a, b) => a.n - b.n || (a.slug < b.slug ? -1 : 1));
  if (files.length > 0) at.intake.openSigningKey();
  return files.filter(({ path, slug, n }) => at.store.transact(() => applyFact(at, path, slug, n))).length;
}

/** Makes the version of a file. Returns whether it was new. */
function applyFact(at: DeskFolder, path: string, key: string, version: number): boolean {
  const { intake, slug, result } = at;
  if (!isClaimKey(key) || version < 2) {
    at.refuse(
      path,
      'file',
      'name the file after the fact’s claim key and the version that it makes, from 2 on, as in harbour-tonnage-2025.2.yaml; version 1 is in the pieces that cite the fact',
    );
    return false;
  }
  const source = at.read(path, 'yaml');
  result.problems.push(...source.problems);
  if (source.data === null) return false;
  const parsed = FactFile.safeParse(source.data);
  if (!parsed.success) {
    result.problems.push(...source.locate(recordProblems(parsed.error, source.data, FactFile)));
    return false;
  }
  try {
    const versions = intake.store.archive(slug).factVersions(key);
    const made = versions[version - 1];
    if (made !== undefined) return requireSame(parsed.data, made);
    if (versions.length < version - 1) {
      const why =
        versions.length === 0 ? 'no piece cites this fact yet' : `version ${versions.length} is the newest so far`;
      throw new Fault('conflict', `${why}, so there is no version ${version - 1} to correct; file that first`);
    }
    const { fact } = correctFact(intake.desk, slug, key, { ...parsed.data, version: version - 1, by: 'cli' });
    recordActivity(intake.store, { paper: slug, now: intake.now(), newId }, FOLDER_ACTOR, [factChange(fact)]);
    result.filed.push(source.file);
    return true;
  } catch (error) {
    at.report(source, error, 'file');
    return false;
  }
}

/** Returns false. Throws `refused_by_door` when a file differs from the version that was signed. */
function requireSame(file: FactFile, made: SignedFact): false {
  const { quote, note, status, ...texts } = { status: undefined, quote: undefined, ...file };
  const given = { ...texts, note, ...(status && { status }), ...(quote === undefined ? {} : { quote: quote || null }) };
  const other = (Object.keys(given) as (keyof typeof given)[]).find((name) => given[name] !== made[name]);
  if (other === undefined) return false;
  const { claim_key, version } = made;
  const message = `version ${version} of ${claim_key} is signed and says otherwise; undo the change of ${other}, and write ${claim_key}.${version + 1}.yaml`;
  throw refusalOf([{ field: other, rule: 'fact_signed', message }]);
}
