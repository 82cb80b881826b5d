import type { Settings } from '../../../src/env.ts';

type At = Pick<Settings, 'dataOrigin'>;

/** Where the lanes are explained. */
export const docsUrl = ({ dataOrigin }: At) => `${dataOrigin}/docs`;
/** Where keys are made. */
export const signInUrl = ({ dataOrigin }: At) => `${dataOrigin}/account`;
/** Where an account sees its credits, and how to have more. */
export const topUpUrl = ({ dataOrigin }: At) => `${dataOrigin}/account/credits`;
