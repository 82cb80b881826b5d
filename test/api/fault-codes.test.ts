import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS as DESK_FAULTS } from '../../api/desk/openapi/faults.ts';
import { FAULT_STATUS } from '../../api/middleware/fault.ts';
import { FAULTS as RECORDS_FAULTS } from '../../api/records/openapi/faults.ts';

/** Codes of the account's pages, which no OpenAPI document describes. */
const PAGES_ONLY = ['wrong_origin'];

test('an OpenAPI document describes every fault code', () => {
  const described = new Set([DESK_FAULTS, RECORDS_FAULTS].flatMap((faults) => Object.keys(faults)));
  const missing = Object.keys(FAULT_STATUS).filter((code) => !PAGES_ONLY.includes(code) && !described.has(code));
  assert.deepEqual(missing, [], 'describe them in api/desk/openapi/faults.ts or api/records/openapi/faults.ts');
});
