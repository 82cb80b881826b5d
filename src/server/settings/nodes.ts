import * as z from 'zod';
import { parseNodes, type RecordsNodes } from '../../shared/nodes.ts';
import { list, refuse } from './variable.ts';

/** How several services share the domain records. */
export const nodes = z
  .object({
    /**
     * The nodes that share the domain records, separated by commas, the same list on each of them. A node is its name,
     * its range of the first byte of names' hashes, and its address: `a=00-7f@https://a.example`; `b=gone` is a former
     * node whose range others may take. See docs/many-nodes.md.
     */
    RECORDS_NODES: list(),
    /** The name of this node. Without it, this server has no names and refers readers to the nodes. Needs LEASE_URL. */
    RECORDS_NODE: z.string().trim().optional(),
  })
  .transform((env, context): { nodes: RecordsNodes | null } => {
    const [entries, own] = [env.RECORDS_NODES, env.RECORDS_NODE];
    if (entries.length === 0) {
      if (own !== undefined) refuse(context, 'RECORDS_NODE', 'must be unset without RECORDS_NODES');
      return { nodes: null };
    }
    const nodes = parseNodes(entries, own);
    if (typeof nodes === 'string') {
      refuse(context, 'RECORDS_NODES', nodes);
      return { nodes: null };
    }
    if (own !== undefined && nodes.own === null) {
      const why = nodes.gone.includes(own) ? 'which is gone' : 'which does not have it';
      refuse(context, 'RECORDS_NODE', `must be a node of RECORDS_NODES with a range, ${why}`);
    }
    return { nodes };
  });
