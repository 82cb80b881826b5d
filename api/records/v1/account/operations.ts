import type { AppContext } from '../../../../src/app/context.ts';
import { alertOperations } from './alerts.ts';
import { groupOperations } from './groups.ts';
import { keyOperations } from './keys.ts';
import { watchOperations } from './watch.ts';

/** What an account holds, over the API. */
export const accountOperations = (app: AppContext) => ({
  alerts: alertOperations(app),
  groups: groupOperations(app),
  keys: keyOperations(app),
  watch: watchOperations(app),
});
