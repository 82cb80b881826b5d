/** The access class of a route of the domain records (protocol 9.2). */
export const ACCESSES = ['public', 'lookup', 'read', 'export', 'usage', 'queue', 'operator'] as const;

/**
 * `public` is open to all; `lookup` is the one-domain preview, `read` every other read; `export` needs an account;
 * `usage` is for the account itself, and free; `queue` is for scanners, `operator` for operators.
 */
export type Access = (typeof ACCESSES)[number];

/**
 * The credentials of a request: the level of its key (`bad` when invalid), whether it carries a payment, and whether it
 * asks for the price.
 */
export interface Carried {
  key: 'none' | 'bad' | 'account' | 'service' | 'scanner' | 'operator';
  payment: boolean;
  asksToPay?: boolean;
}

/**
 * How a request is served. `keyless` is throttled, `keyed` metered, `paid` served once the payment settled; `menu`
 * lists the prices; `unmetered` is a service's or an operator's read.
 */
export type Lane = 'public' | 'keyless' | 'keyed' | 'paid' | 'menu' | 'unmetered' | 'operator';

type LaneDecision =
  | { lane: Lane }
  | { refused: 'key_invalid' | 'key_required' | 'level_too_low' | 'export_needs_account' };

/**
 * Decides the lane. A bad key is rejected on every route. A valid key decides alone, and a payment sent with it is not
 * used. A rejected request never falls through to a cheaper lane.
 */
export function laneOf(carried: Carried, access: Access): LaneDecision {
  const { key } = carried;
  if (key === 'bad') return { refused: 'key_invalid' };
  switch (access) {
    case 'public':
      return { lane: 'public' };
    case 'operator':
      if (key === 'none') return { refused: 'key_required' };
      return key === 'operator' ? { lane: 'operator' } : { refused: 'level_too_low' };
    case 'queue':
      if (key === 'none') return { refused: 'key_required' };
      return key === 'operator' || key === 'scanner' ? { lane: 'operator' } : { refused: 'level_too_low' };
    case 'usage':
      if (key === 'none') return { refused: 'key_required' };
      return key === 'account' ? { lane: 'unmetered' } : { refused: 'level_too_low' };
    default:
      return readLane(carried, access);
  }
}

function readLane({ key, payment, asksToPay = false }: Carried, access: 'lookup' | 'read' | 'export'): LaneDecision {
  if (key === 'account') return { lane: 'keyed' };
  if (key === 'service' || key === 'operator') return { lane: 'unmetered' };
  if (key === 'scanner') return { refused: 'level_too_low' };
  if (access === 'export') return { refused: payment ? 'export_needs_account' : 'key_required' };
  if (payment) return { lane: 'paid' };
  return { lane: access === 'lookup' && !asksToPay ? 'keyless' : 'menu' };
}
