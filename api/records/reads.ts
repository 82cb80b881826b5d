import { analyticsDoor } from './analytics-door.ts';
import { changesDoor } from './changes-list.ts';
import { domainDoor } from './domain.ts';
import { domainsDoor } from './domains.ts';
import type { RecordsDoors } from './doors.ts';
import { exportDoors } from './exports.ts';
import { historyDoor } from './history.ts';
import { provenanceDoor } from './provenance.ts';
import { searchDoor } from './search.ts';
import { seenDoors } from './seen.ts';
import { seriesDoor } from './series.ts';

/** Every read of the data API, on the keyless, keyed and paid lanes, and the exports. */
export function readDoors(doors: RecordsDoors): void {
  domainDoor(doors);
  domainsDoor(doors);
  provenanceDoor(doors);
  historyDoor(doors);
  seriesDoor(doors);
  changesDoor(doors);
  seenDoors(doors);
  searchDoor(doors);
  analyticsDoor(doors);
  exportDoors(doors);
}
