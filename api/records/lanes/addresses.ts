import type { Settings } from '../../../src/server/env.ts';

/** The operator as messages name it, with the contact address if one is set. */
export const operatorOf = ({ contact }: Settings) =>
  `the operator of this service${contact === null ? '' : ` (${contact.text})`}`;

export const docsUrl = ({ dataOrigin }: Settings) => `${dataOrigin}/docs`;
/** The public page of a hostname, which shows what its preview does. */
export const pageUrl = ({ dataOrigin }: Settings, domain: string) => `${dataOrigin}/t/${encodeURIComponent(domain)}`;
export const signInUrl = ({ dataOrigin }: Settings) => `${dataOrigin}/account`;
export const topUpUrl = ({ dataOrigin }: Settings) => `${dataOrigin}/account/credits`;
