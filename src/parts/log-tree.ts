/**
 * The drawing of a Merkle tree (RFC 9162, section 2.1): perfect trees side by side, joined to the root from the right.
 */
export interface TreeDrawing {
  width: number;
  top: number;
  bottom: number;
  /** The perfect trees with their leaves, from the left. Below `knee` their branches are not drawn. */
  peaks: { leaves: number; x: number; y: number; half: number; depth: number; knee: number }[];
  /** Lines from a node to its children. */
  edges: { x1: number; y1: number; x2: number; y2: number; isNewest: boolean }[];
  nodes: { x: number; y: number; what: 'root' | 'inner' | 'peak' | 'leaf' }[];
  /** The y coordinate of the leaves. */
  base: number;
}

const [WIDTH, LEVEL, JOIN, MARGIN] = [960, 15, 40, 16];
/** The maximum height of all joins together, so that a log of twenty perfect trees still fits its page. */
const JOINS = 320;
/** The levels of a perfect tree drawn as lines; deeper ones are an area. */
const DRAWN = 4;

/** The drawing of a tree of `size` leaves, at least 1. The path of the newest leaf is marked. */
export function drawTree(size: number): TreeDrawing {
  const counts = perfectTrees(size);
  const depths = counts.map((leaves) => Math.log2(leaves));
  // Widths grow with the depth, not with the number of leaves: otherwise the newest trees would be too small to see.
  const shares = depths.map((depth) => 1 + depth * 1.6);
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const base = Math.max(...depths, 1) * LEVEL;
  const join = Math.min(JOIN, JOINS / counts.length);
  let left = MARGIN;
  const peaks = counts.map((leaves, at) => {
    const width = ((WIDTH - 2 * MARGIN) * (shares[at] ?? 0)) / whole;
    const depth = depths[at] ?? 0;
    const y = base - depth * LEVEL;
    const knee = y + Math.min(depth, DRAWN) * LEVEL;
    const peak = { leaves, depth, half: (width / 2) * 0.86, x: left + width / 2, y, knee };
    left += width;
    return peak;
  });
  const edges: TreeDrawing['edges'] = [];
  const nodes: TreeDrawing['nodes'] = [];
  let right = peaks.at(-1) ?? { x: 0, y: 0 };
  nodes.push({ ...pick(right), what: peaks.length === 1 ? 'root' : 'peak' });
  for (const [at, peak] of [...peaks.entries()].reverse().slice(1)) {
    const joined = { x: (peak.x + right.x) / 2, y: Math.min(peak.y, right.y) - join };
    for (const child of [peak, right]) {
      edges.push({ x1: joined.x, y1: joined.y, x2: child.x, y2: child.y, isNewest: child === right });
    }
    nodes.push({ ...pick(peak), what: 'peak' }, { ...joined, what: at === 0 ? 'root' : 'inner' });
    right = joined;
  }
  for (const [at, peak] of peaks.entries()) branches(peak, at === peaks.length - 1, { edges, nodes, base });
  return {
    width: WIDTH,
    top: Math.min(...nodes.map(({ y }) => y)) - MARGIN,
    bottom: base + MARGIN,
    peaks,
    edges,
    nodes,
    base,
  };
}

const pick = ({ x, y }: { x: number; y: number }) => ({ x, y });

/** The upper levels of a perfect tree, and its right edge if the newest leaf is in it. */
function branches(
  { x, y, half, depth }: TreeDrawing['peaks'][number],
  isNewest: boolean,
  { edges, nodes, base }: Pick<TreeDrawing, 'edges' | 'nodes' | 'base'>,
): void {
  const levels = Math.min(depth, DRAWN);
  for (let level = 0; level < levels; level++) {
    const step = (base - y) / depth;
    for (let at = 0; at < 2 ** level; at++) {
      const from = { x: x - half + (half * (2 * at + 1)) / 2 ** level, y: y + level * step };
      for (const side of [0, 1]) {
        const child = 2 * at + side;
        const to = { x: x - half + (half * (2 * child + 1)) / 2 ** (level + 1), y: from.y + step };
        const isEdge = isNewest && child === 2 ** (level + 1) - 1;
        edges.push({ x1: from.x, y1: from.y, x2: to.x, y2: to.y, isNewest: isEdge });
        if (isEdge && level === levels - 1) {
          const leaf = { x: x + half * (1 - 1 / 2 ** depth), y: base };
          if (depth > levels) edges.push({ x1: to.x, y1: to.y, x2: leaf.x, y2: leaf.y, isNewest: true });
          nodes.push({ ...leaf, what: 'leaf' });
        }
      }
    }
  }
  if (isNewest && depth === 0) nodes.push({ x, y: base, what: 'leaf' });
}

/** The sizes of the perfect trees that make up a tree, the largest first: the binary digits of its size. */
function perfectTrees(size: number): number[] {
  const found: number[] = [];
  for (let power = 2 ** Math.floor(Math.log2(Math.max(size, 1))); power >= 1; power /= 2) {
    if (Math.floor(size / power) % 2 === 1) found.push(power);
  }
  return found;
}
