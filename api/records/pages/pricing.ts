import { creditsOf, REQUEST_COST } from '../../../src/records/meter/credits.ts';
import { planRows } from '../../../src/records/plans.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { paidOf, plansState } from './docs.ts';
import type { PageSender } from './page.ts';

export const pricingPage = (app: AppContext, pages: PageSender) => {
  const cache = new ResponseCache();
  return (c: RecordsContext) => {
    const description = 'What the domain records cost: what every account has, plans, credits, and prices per call.';
    const frame = pages.frame(c, { title: 'Pricing · Domain Records', description, path: '/pricing' });
    const view = () => ({
      frame,
      plans: planRows(app),
      credits_per_request: creditsOf(REQUEST_COST),
      paid: paidOf(app.settings),
    });
    return pages.sendCached(
      c,
      '/records/pricing',
      { frame, view },
      { cache, name: '/pricing', state: plansState(app.store) },
    );
  };
};
