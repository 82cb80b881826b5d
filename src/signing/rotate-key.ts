import { LOG_SERVICES } from '../desk/log-leaves.ts';
import type { AppContext } from '../server/context.ts';
import { signingKeyFile } from '../shared/files/data-folder.ts';
import { assertNotFenced, raiseFence } from './log/log-fence.ts';
import { rotateSigningKey } from './signing-key.ts';
import { signingName } from './signing-name.ts';

/**
 * Replaces the signing key; returns the thumbprint. Throws `unavailable` for an old copy, which would announce a key
 * that the log does not know.
 */
export function rotateKey(app: AppContext): string {
  const {
    store,
    settings,
    clock: { now },
  } = app;
  for (const log of LOG_SERVICES) {
    raiseFence(app, log);
    assertNotFenced(store.database.log, log);
  }
  return rotateSigningKey(store, signingKeyFile(settings), signingName(settings), now()).kid;
}
