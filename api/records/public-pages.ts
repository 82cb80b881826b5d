import { badgeDoor } from './pages/badge.ts';
import { changesOfDay } from './pages/changes.ts';
import { changesFeed } from './pages/changes-feed.ts';
import { landingDoor } from './pages/landing.ts';
import { robotsDoor } from './pages/robots.ts';
import { timeMachineDoor } from './pages/time-machine.ts';
import type { RecordsDoors } from './route.ts';
import { tapeDoor } from './v1/tape.ts';

/** What everybody may read of the hostnames, without a key and without an account. */
export function publicPages(doors: RecordsDoors): void {
  landingDoor(doors);
  timeMachineDoor(doors);
  changesOfDay(doors);
  changesFeed(doors);
  tapeDoor(doors);
  badgeDoor(doors);
  robotsDoor(doors);
}
