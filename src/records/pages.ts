import type { ReadingPages } from './reading-views.ts';
import type { ChangesView, FaultView, LandingView, TimeMachineView } from './views.ts';

/** The routes of the pages, with the view of each. */
export interface RecordsPages extends ReadingPages {
  '/records/fault': FaultView;
  '/records/landing': LandingView;
  '/records/time-machine': TimeMachineView;
  '/records/changes': ChangesView;
}
