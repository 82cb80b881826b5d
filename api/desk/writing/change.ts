import { z } from '@hono/zod-openapi';
import { Fault } from '../../../src/shared/fault.ts';
import { shapeProblems } from '../../../src/shared/shape.ts';
import type { ErrorBody } from '../../openapi/responses.ts';

/** A change to a record: members that are left out stay as they are. The merged record is validated, not the change. */
export const changeSchema = <T extends z.ZodRawShape>(schema: z.ZodObject<T>, id: string, example: object) =>
  z
    .looseObject(Object.fromEntries(Object.keys(schema.shape).map((name) => [name, z.unknown().optional()])))
    .openapi(id, {
      description: 'Omitted members keep their values; null removes an optional one.',
      properties: membersOf(schema),
      additionalProperties: false,
      example,
    });

/** A record's members for the document, without defaults: members that are left out keep their value. */
function membersOf(schema: z.ZodType) {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' });
  const members = Object.entries(properties).map(([name, member]) => {
    const { default: _default, ...shown } = typeof member === 'object' ? member : {};
    return [name, shown];
  });
  return Object.fromEntries(members) as NonNullable<Parameters<typeof ErrorBody.openapi>[1]>['properties'];
}

/** Merges a change into a record; null removes optional members. Throws `invalid_request` naming the member. */
export function merged<T extends z.ZodType>(schema: T, before: object, change: object): z.infer<T> {
  const whole = { ...before, ...change };
  const value = Object.fromEntries(Object.entries(whole).filter(([, member]) => member !== null));
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = shapeProblems(parsed.error, value);
  const [first] = problems;
  throw new Fault('invalid_request', `${first?.field}: ${first?.message}`, { field: first?.field, problems });
}
