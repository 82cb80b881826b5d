import { plural } from '../plural.ts';
import type { LogStatus } from './log-status.ts';

/** Describes the state of a log, in lines for operators. */
export function logStatusLines(status: LogStatus): string[] {
  const { log, origin, leaves, head, published, fence } = status;
  return [
    `${log}: ${origin}, ${plural(leaves, 'leaf', 'leaves')}`,
    ...(fence === null ? [] : [`  nothing is signed: ${fence}`]),
    head === null ? '  no head was signed yet' : `  head: ${sized(head.size)}, signed ${head.signed_at}, ${head.root}`,
    published === null ? '  nothing is published yet' : `  published: ${sized(published)}`,
    ...witnessLines(status),
  ];
}

function witnessLines({ cosigned, witnesses, quorum_answers }: LogStatus): string[] {
  if (witnesses === null) return ['  there are no witnesses: LOG_POLICY is not set'];
  return [
    cosigned === null
      ? '  no head has met the quorum yet'
      : `  witnessed: ${sized(cosigned.size)}, signed ${cosigned.signed_at}`,
    ...witnesses.map(({ name, cosigned_size, cosigned_at, fault, fault_at, next_at }) => {
      const signed =
        cosigned_size === null ? 'has cosigned nothing yet' : `cosigned ${sized(cosigned_size)} at ${cosigned_at}`;
      return `  witness ${name}: ${signed}${fault === null ? '' : `; since ${fault_at}: ${fault}; asked again at ${next_at}`}`;
    }),
    ...(quorum_answers ? [] : ['  too few witnesses answer for the quorum']),
  ];
}

const sized = (size: number): string => plural(size, 'leaf', 'leaves');
