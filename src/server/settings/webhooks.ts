import * as z from 'zod';
import { webhookProblem } from '../../shared/outbound/webhook-url.ts';
import { refuse } from './variable.ts';

/** The requests that the server sends when something happens, and the sources of the demo papers. */
export const webhooks = z
  .object({
    /**
     * `allow` permits webhooks over plain http and to private addresses: for tests, and for receivers on the desk's own
     * network.
     */
    WEBHOOK_PRIVATE: z.enum(['allow', 'refuse'], { error: 'must be allow or refuse' }).default('refuse'),
    /** Whether the server itself serves the documents that the demo paper cites, on loopback, and reads them there. */
    DEMO_SOURCES: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
    /**
     * Whether the demo papers' pieces are dated from the day on which they were first filed; with `off`, as their files say.
     */
    DEMO_DATES: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
    /**
     * A WebSub hub: feeds name it, and it is notified which feeds of public papers a press changed. It must be a public
     * https address, unless WEBHOOK_PRIVATE is `allow`.
     */
    HUB_URL: z.string().optional(),
  })
  .superRefine((env, context) => {
    const problem = env.HUB_URL === undefined ? null : webhookProblem(env.HUB_URL, env.WEBHOOK_PRIVATE === 'allow');
    if (problem === null) return;
    refuse(
      context,
      'HUB_URL',
      `${problem}; give the address of a WebSub hub, such as https://pubsubhubbub.appspot.com/`,
    );
  })
  .transform((env) => ({
    webhookPrivate: env.WEBHOOK_PRIVATE === 'allow',
    demoSources: env.DEMO_SOURCES === 'on',
    demoDates: env.DEMO_DATES === 'on',
    /** The WebSub hub; null without one. */
    hubUrl: env.HUB_URL === undefined ? null : new URL(env.HUB_URL).href,
  }));
