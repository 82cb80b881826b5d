import type { RecordsDoors } from './route.ts';
import { analyticsDoor } from './v1/analytics.ts';
import { changesDoor } from './v1/changes.ts';
import { domainDoor } from './v1/domain.ts';
import { domainsDoor } from './v1/domains.ts';
import { exportDoors } from './v1/exports.ts';
import { seenDoors } from './v1/facets.ts';
import { historyDoor } from './v1/history.ts';
import { provenanceDoor } from './v1/provenance.ts';
import { searchDoor } from './v1/search.ts';
import { seriesDoor } from './v1/series.ts';

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
