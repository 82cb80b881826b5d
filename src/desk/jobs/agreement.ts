import { join } from 'node:path';
import type { Settings } from '../../server/env.ts';
import { PROJECT } from '../../shared/project.ts';
import { readAgreement } from '../papers/agreement.ts';
import type { Agreement } from '../papers/terms.ts';

/** The agreement for agents in force: the content folder's own, or the one that ships with the project. */
export function currentAgreement({ contentDir }: Pick<Settings, 'contentDir'>): Agreement {
  return readAgreement([contentDir, join(PROJECT, 'content')]);
}
