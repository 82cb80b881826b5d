import type { AppContext } from '../../../src/app/context.ts';
import type { RecordsFrame } from '../../../src/records/views.ts';
import { signedIn } from '../../middleware/session.ts';
import type { RecordsContext } from '../route.ts';

/** What a page says about itself. */
export interface PageTitle {
  title: string;
  description: string;
  /** The page's own path from the host's root, without a query: `/changes/2026-11-21`. */
  path: string;
  /** Whether search engines are asked to leave it out. */
  noindex?: boolean;
}

/** What stands around every page of the domain records. */
export function frameOf({ settings }: Pick<AppContext, 'settings'>, c: RecordsContext, page: PageTitle): RecordsFrame {
  const root = settings.dataOrigin;
  return {
    root_absolute: root,
    canonical_absolute: root + page.path,
    title: page.title,
    description: page.description,
    noindex: page.noindex ?? false,
    signed_in: signedIn(c)?.email ?? null,
    contact: settings.contact,
  };
}
