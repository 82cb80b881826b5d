/** The Merkle tree over a record's fields: the number of leaves, and which of them are disclosed. */
export interface Tree {
  size: number;
  shown: readonly number[];
}

/** Larger trees are not drawn: a receipt may claim any size. */
const LEAVES_MAX = 64;
const LEAF = 10;
const LEVEL = 16;
const SVG = 'http://www.w3.org/2000/svg';

/** Draws a tree with the paths from the disclosed leaves to the root; null for a tree that is too large. */
export function treeDrawing({ size, shown }: Tree): SVGElement | null {
  if (size < 1 || size > LEAVES_MAX) return null;
  const depth = Math.ceil(Math.log2(size));
  const isShown = new Set(shown);
  const svg = made('svg', { viewBox: `0 0 ${size * LEAF} ${(depth + 1) * LEVEL}`, class: 'tree', role: 'img' });
  svg.setAttribute('aria-label', `A tree with ${size} leaves; the paths of ${isShown.size} of them lead to its root.`);
  const lines = made('g', {});
  const dots = made('g', {});
  svg.append(lines, dots);
  /** Draws the leaves from `first` up to, not including, `end`. Returns the position of their root. */
  const draw = (first: number, end: number, level: number): { x: number; y: number; onPath: boolean } => {
    const isLeaf = end - first === 1;
    const y = (isLeaf ? depth : level) * LEVEL + LEVEL / 2;
    // RFC 9162, section 2.1.1: the left part has the largest power of two smaller than the number of leaves.
    const split = isLeaf ? end : first + 2 ** (Math.ceil(Math.log2(end - first)) - 1);
    const below = isLeaf ? [] : [draw(first, split, level + 1), draw(split, end, level + 1)];
    const x = isLeaf ? (first + 0.5) * LEAF : below.reduce((sum, child) => sum + child.x, 0) / 2;
    const onPath = isLeaf ? isShown.has(first) : below.some((child) => child.onPath);
    for (const child of below) {
      lines.append(made('path', { d: `M${child.x} ${child.y}V${y}H${x}`, class: child.onPath ? 'path' : 'aside' }));
    }
    const r = level === 0 ? 5 : isLeaf ? 3 : 1.5;
    dots.append(made('circle', { cx: x, cy: y, r, class: onPath ? 'path' : 'aside' }));
    return { x, y, onPath };
  };
  draw(0, size, 0);
  // Draws the paths on top of the other lines.
  lines.append(...lines.querySelectorAll('.path'));
  return svg;
}

function made(name: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
