import { Fault, messageOf } from '../../shared/fault.ts';

/** The result of one check of an installation. */
export interface Finding {
  name: string;
  /** `open`: not configured, and not required. */
  state: 'holds' | 'open' | 'fault';
  /** The result, as a sentence. */
  found: string;
  /** What to do; set for every fault. */
  cure?: string;
  /** What was counted or measured, for programs. */
  figures?: Record<string, number> | undefined;
}

/** A finding before `runCheck` adds the name of its check. */
export type Found = Omit<Finding, 'name'>;
type Figures = Finding['figures'];

export const holds = (found: string, figures?: Figures): Found => ({ state: 'holds', found, figures });
export const open = (found: string, figures?: Figures): Found => ({ state: 'open', found, figures });
export const fault = (found: string, cure: string, figures?: Figures): Found => ({
  state: 'fault',
  found,
  cure,
  figures,
});

/** A check with its name, and whether it applies here; by default it does. */
type Check = [name: string, work: () => Found | Promise<Found>, applies?: boolean];

/** Runs checks at the same time. */
export function runChecks(checks: Check[]): Promise<Finding[]> {
  const wanted = checks.filter(([, , applies = true]) => applies);
  return Promise.all(wanted.map(([name, work]) => runCheck(name, work)));
}

/** Runs one check. An exception becomes a fault. */
export async function runCheck(name: string, work: () => Found | Promise<Found>): Promise<Finding> {
  try {
    return { name, ...(await work()) };
  } catch (error) {
    const message = messageOf(error);
    if (error instanceof Fault) {
      // The message of a fault ends with the cure.
      const at = message.lastIndexOf('; ');
      if (at !== -1) return { name, ...fault(message.slice(0, at), message.slice(at + 2)) };
    }
    return { name, ...fault(message, 'see docs/; if that does not help, report this as a defect') };
  }
}
