import { badgeDoor } from './badge.ts';
import { changesFeed } from './changes-feed.ts';
import { changesOfDay } from './changes-of-day.ts';
import type { RecordsDoors } from './doors.ts';
import { landingDoor } from './landing.ts';
import { robotsDoor } from './robots.ts';
import { tapeDoor } from './tape.ts';
import { timeMachineDoor } from './time-machine.ts';

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
