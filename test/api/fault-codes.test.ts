import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS as DESK_FAULTS } from '../../api/desk/openapi/faults.ts';
import { FAULT_STATUS } from '../../api/middleware/fault.ts';
import { FAULTS as RECORDS_FAULTS } from '../../api/records/openapi/faults.ts';

/** Codes of the account's pages, which no OpenAPI document describes. */
const PAGES_ONLY = ['wrong_origin'];

test('an OpenAPI document describes every fault code, under its HTTP status', () => {
  const described = new Set<string>();
  for (const faults of [DESK_FAULTS, RECORDS_FAULTS]) {
    for (const [status, codes] of Object.entries(faults)) {
      for (const code of Object.keys(codes)) described.add(`${status} ${code}`);
    }
  }
  const missing = Object.entries(FAULT_STATUS)
    .filter(([code]) => !PAGES_ONLY.includes(code))
    .map(([code, status]) => `${status} ${code}`)
    .filter((line) => !described.has(line));
  assert.deepEqual(missing, [], 'describe them in api/desk/openapi/faults.ts or api/records/openapi/faults.ts');
});
