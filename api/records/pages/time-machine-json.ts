import type { Settings } from '../../../src/env.ts';
import type { Observation } from '../../../src/records/observation.ts';
import type { Preview } from '../../../src/records/preview.ts';
import { previewOf } from '../../../src/records/preview.ts';
import { offerOfLookup } from '../lanes/payable.ts';

/** A preview as the time machine's JSON. It says what is at this address, and where the whole record is. */
interface TimeMachineJson extends Preview {
  view: 'time-machine';
  /** The address of the page, which is that of this JSON. */
  page: string;
  /** The requested time; null for the latest observation. */
  as_of: string | null;
  /** Where a key or a payment reads every field of this observation. */
  record: string;
}

/** The time machine's JSON of an observation; `asOf` is the requested time as the request gave it. */
export function timeMachineJson(settings: Settings, observation: Observation, asOf: string | null): string {
  const root = settings.dataOrigin;
  const preview = previewOf(observation);
  const query = asOf === null ? '' : `?as_of=${encodeURIComponent(asOf)}`;
  const path = `/v1/domains/${preview.domain}${query}`;
  const record = root + path;
  const json: TimeMachineJson = {
    view: 'time-machine',
    page: `${root}/t/${preview.domain}${query}`,
    as_of: asOf,
    record,
    ...preview,
    held_back: {
      ...preview.held_back,
      how: `This address shows everyone this preview, with a key too; its page shows every field to a signed-in account. GET ${record} shows every field to a key or a payment. Held-back fields are salted leaves of the same signed tree; they can be checked against this receipt when they are shown.`,
      ...offerOfLookup(settings, path),
    },
  };
  return JSON.stringify(json);
}
