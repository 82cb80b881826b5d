import { changesDoor } from './changes-list.ts';
import { domainDoor } from './domain.ts';
import type { RecordsDoors } from './doors.ts';
import { historyDoor } from './history.ts';
import { provenanceDoor } from './provenance.ts';

/** Every read of the data API, on the keyless, keyed and paid lanes. */
export function readDoors(doors: RecordsDoors): void {
  domainDoor(doors);
  provenanceDoor(doors);
  historyDoor(doors);
  changesDoor(doors);
}
