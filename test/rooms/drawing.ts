import { ALONE, GROUND, ROOMS } from './rooms.ts';

// Draws docs/architecture.svg from the table of rooms: `node test/rooms/drawing.ts > docs/architecture.svg`.

const WIDTH = 960;
const MARGIN = 24;
const GAP = 12;
const BOX = 62;
const ROW = BOX + 20;

/** The rooms that the drawing shows. Every other room is drawn as a part of the one around it. */
const shown = Object.keys(ROOMS).filter((name) => ROOMS[name]?.brief !== undefined);

/** The drawn room that holds a room or a file: the innermost. */
function shownRoom(room: string): string | undefined {
  return shown
    .filter((name) => room === name || room.startsWith(`${name}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** The drawn rooms from which a room takes code; types alone do not count. */
function below(name: string): string[] {
  const allowed = Object.entries(ROOMS).filter(([room]) => shownRoom(room) === name);
  const ground = ALONE.includes(name) ? [] : GROUND;
  const rooms = allowed.flatMap(([, { imports }]) => imports.filter((room) => !room.startsWith('types ')));
  return [...new Set([...ground, ...rooms].map(shownRoom))].filter(
    (room) => room !== undefined && room !== name,
  ) as string[];
}

/** The height of a room above those that import nothing. The table has no circles: see `rooms.test.ts`. */
function layerOf(name: string, path: readonly string[] = []): number {
  if (path.includes(name)) throw new Error(`rooms import each other in a circle: ${[...path, name].join(' → ')}`);
  return Math.max(0, ...below(name).map((room) => layerOf(room, [...path, name]) + 1));
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function box(kind: string, x: number, y: number, width: number, height: number, [title, ...lines]: string[]): string {
  return [
    `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    `<text class="t" x="${x + 14}" y="${y + 25}">${escaped(title ?? '')}</text>`,
    ...lines.map((line, n) => `<text class="s" x="${x + 14}" y="${y + 45 + n * 18}">${escaped(line)}</text>`),
  ].join('\n');
}

/** One row for each layer, the highest first. */
function rooms(top: number): { text: string; bottom: number } {
  const layers = Map.groupBy(shown, (name) => layerOf(name));
  const rows = [...layers].toSorted(([a], [b]) => b - a).map(([, names]) => names);
  const drawn = rows.map((names, row) => {
    const width = Math.floor((WIDTH - 2 * MARGIN - GAP * (names.length - 1)) / names.length);
    const y = top + row * ROW;
    return names.map((name, n) => {
      const kind = name === 'src/proof' ? 'd' : name === 'src/desk' || name === 'src/records' ? 'r' : 'b';
      return box(kind, MARGIN + n * (width + GAP), y, width, BOX, [name, ROOMS[name]?.brief ?? '']);
    });
  });
  return { text: drawn.flat().join('\n'), bottom: top + rows.length * ROW };
}

const PIECE: [string, string, ...string[]][] = [
  ['b', 'Written', 'a Markdown file,', 'or a POST'],
  ['b', 'Filing door', 'names every problem,', 'or accepts the filing'],
  ['d', 'Ledger', 'hash, receipt, chain,', 'stale data: one commit'],
  ['b', 'Press', 'renders what read a', 'stale data, file by file'],
  ['d', 'Disk', 'pages, feeds, proofs;', 'now it is “pressed”'],
];
const AFTERWARDS: [number, string, ...string[]][] = [
  [2, 'Queues', 'mails, webhooks and', 'leaves of the log'],
  [3, 'Log', 'heads that witnesses', 'have signed'],
  [4, 'Reader', 'checks receipts in a', 'browser or by openssl'],
];

/** The steps of a piece from left to right, and what follows from them. */
function piece(top: number): string {
  const width = 166;
  const xOf = (n: number) => MARGIN + n * 186;
  const steps = PIECE.map(([kind, ...lines], n) => box(kind, xOf(n), top, width, 96, lines));
  const arrows = PIECE.slice(1).map(
    (_, n) => `<path class="l" d="M${xOf(n) + width} ${top + 48}L${xOf(n + 1) - 3} ${top + 48}"/>`,
  );
  const then = AFTERWARDS.map(([n, ...lines]) => box('b', xOf(n), top + 146, width, 78, lines));
  // The log is signed beside the press: its arrow comes from the queues.
  const down = AFTERWARDS.filter(([n]) => n !== 3).map(
    ([n]) => `<path class="l" d="M${xOf(n) + 83} ${top + 96}L${xOf(n) + 83} ${top + 143}"/>`,
  );
  const crash = box('b', MARGIN, top + 146, 352, 78, [
    'After a crash',
    'stale data are rows: outputs that were not on disk',
    'are pressed at the next start',
  ]);
  const across = `<path class="l" d="M${xOf(2) + width} ${top + 185}L${xOf(3) - 3} ${top + 185}"/>`;
  return [...steps, ...arrows, ...then, ...down, across, crash].join('\n');
}

/** The drawing, as SVG. */
export function drawing(): string {
  const title = 'The rooms of the code, and how a piece is published';
  const { text, bottom } = rooms(54);
  const height = bottom + 300;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
<style>
  svg { font: 15px system-ui, -apple-system, "Segoe UI", sans-serif; color: #1d2329; background: #fff }
  text { fill: currentColor } .t { font-weight: 600 } .s { font-size: 13px; fill: #55606b } .h { font-size: 18px; font-weight: 600 }
  .b { fill: #f5f7f9; stroke: #aab4be } .r { fill: #eaf1fb; stroke: #6d94c9 } .d { fill: #fbf3e4; stroke: #c8a15a }
  .l { fill: none; stroke: #55606b; stroke-width: 1.5; marker-end: url(#a) } #a path { fill: #55606b }
  @media (prefers-color-scheme: dark) {
    svg { color: #e6e9ec; background: #14181c } .s { fill: #a3aeb9 }
    .b { fill: #1d2329; stroke: #4a545f } .r { fill: #1a2738; stroke: #5379ad } .d { fill: #2d2618; stroke: #94763c }
    .l { stroke: #a3aeb9 } #a path { fill: #a3aeb9 }
  }
</style>
<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
<rect width="100%" height="100%" fill="none"/>
<text class="h" x="${MARGIN}" y="36">Rooms: higher rows use lower ones, never the other way round</text>
${text}
<text class="h" x="${MARGIN}" y="${bottom + 28}">A piece, from filing to a reader</text>
${piece(bottom + 48)}
</svg>
`;
}

if (import.meta.main) process.stdout.write(drawing());
