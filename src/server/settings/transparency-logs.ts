import * as z from 'zod';
import { isLogOrigin } from '../../proof/log/checkpoint.ts';
import { messageOf } from '../../shared/fault.ts';
import { readOwnLogPolicy } from '../../shared/files/log-policy.ts';
import { file, refuse } from './variable.ts';

const logOrigin = () =>
  z
    .string()
    .refine(isLogOrigin, 'must be a name such as papers.example/log: no scheme, no blank, no +, at most 255 bytes')
    .optional();

/** The names of the transparency logs, and their witnesses. */
export const transparencyLogs = z
  .object({
    /**
     * The name of the desk's transparency log, under which its checkpoints are signed. Defaults to the name in its key
     * file, and for a new log to the host of ORIGIN, with its port, and `/log`.
     */
    LOG_ORIGIN: logOrigin(),
    /** The name of the records' transparency log; the host of DATA_ORIGIN likewise. */
    RECORDS_LOG_ORIGIN: logOrigin(),
    /**
     * A file that names the logs' witnesses and their quorum, in the format of C2SP tlog-policy. Without it there are
     * no witnesses.
     */
    LOG_POLICY: file()
      .superRefine((path, context) => {
        try {
          readOwnLogPolicy(path);
        } catch (error) {
          context.addIssue(`${messageOf(error)}; correct the file, or name another in the environment or in .env`);
        }
      })
      .optional(),
  })
  .superRefine((env, context) => {
    if (env.LOG_ORIGIN !== undefined && env.LOG_ORIGIN === env.RECORDS_LOG_ORIGIN) {
      refuse(context, 'RECORDS_LOG_ORIGIN', 'must not be the name of the other log, LOG_ORIGIN');
    }
  })
  .transform((env) => ({
    /** The names of the transparency logs; null where no variable says one. `newLogOrigin` gives the default. */
    logOrigins: { desk: env.LOG_ORIGIN ?? null, records: env.RECORDS_LOG_ORIGIN ?? null },
    /** The policy file; null without witnesses. */
    logPolicy: env.LOG_POLICY ?? null,
  }));
