import type { Settings } from '../../../src/env.ts';

type At = Pick<Settings, 'dataOrigin'>;

/** The operator as messages name it, with the contact address if one is set. */
export const operatorOf = ({ contact }: Pick<Settings, 'contact'>) =>
  `the operator of this service${contact === null ? '' : ` (${contact.text})`}`;

/** The page that explains the lanes. */
export const docsUrl = ({ dataOrigin }: At) => `${dataOrigin}/docs`;
/** The public page of a hostname, which shows what its preview does. */
export const pageUrl = ({ dataOrigin }: At, domain: string) => `${dataOrigin}/t/${encodeURIComponent(domain)}`;
/** The page where keys are made. */
export const signInUrl = ({ dataOrigin }: At) => `${dataOrigin}/account`;
/** The page where an account sees and buys credits. */
export const topUpUrl = ({ dataOrigin }: At) => `${dataOrigin}/account/credits`;
