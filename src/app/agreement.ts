import { join } from 'node:path';
import type { Agreement } from '../desk/terms.ts';
import type { Settings } from '../env.ts';
import { readAgreement } from '../files/agreement.ts';
import { PROJECT } from '../project.ts';

/** The agreement for agents in force: the content folder's own, or the one that ships with the project. */
export function currentAgreement({ contentDir }: Pick<Settings, 'contentDir'>): Agreement {
  return readAgreement([contentDir, join(PROJECT, 'content')]);
}
