import { Fault } from '../../fault.ts';

/** What was found about one part of an installation. */
export interface Finding {
  name: string;
  /** `open`: a part that no setting asks for. */
  state: 'holds' | 'open' | 'fault';
  /** In a sentence. */
  found: string;
  /** What to do; with every fault. */
  cure?: string;
}

/** What a check says when it is well, and when it is not. */
export const holds = (found: string): Omit<Finding, 'name'> => ({ state: 'holds', found });
export const open = (found: string): Omit<Finding, 'name'> => ({ state: 'open', found });
export const fault = (found: string, cure: string): Omit<Finding, 'name'> => ({ state: 'fault', found, cure });

/** Makes one check; what it throws is a fault, whose words hold the cure. */
export async function checked(
  name: string,
  work: () => Omit<Finding, 'name'> | Promise<Omit<Finding, 'name'>>,
): Promise<Finding> {
  try {
    return { name, ...(await work()) };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof Fault) {
      // A fault's words end with what to do.
      const at = message.lastIndexOf('; ');
      if (at !== -1) return { name, ...fault(message.slice(0, at), message.slice(at + 2)) };
    }
    return { name, ...fault(message, 'if the manual in docs/ does not help, this is a defect: tell us') };
  }
}
