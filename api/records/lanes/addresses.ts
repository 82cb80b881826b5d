import type { Settings } from '../../../src/env.ts';

type At = Pick<Settings, 'dataOrigin'>;

/** Whom a message tells to ask: the operator, and where that one is written to if a setting says it. */
export const operatorOf = ({ contact }: Pick<Settings, 'contact'>) =>
  `the operator of this service${contact === null ? '' : ` (${contact.text})`}`;

/** Where the lanes are explained. */
export const docsUrl = ({ dataOrigin }: At) => `${dataOrigin}/docs`;
/** Where keys are made. */
export const signInUrl = ({ dataOrigin }: At) => `${dataOrigin}/account`;
/** Where an account sees its credits, and how to have more. */
export const topUpUrl = ({ dataOrigin }: At) => `${dataOrigin}/account/credits`;
