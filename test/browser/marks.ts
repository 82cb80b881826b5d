import type { Page } from 'playwright-core';
import sharp from 'sharp';

/**
 * What is wrong with the marks of a page: runs in the browser. Each mark is scrolled to, and has to be on the screen,
 * 12 px at least, and above everything at its centre and at its ends. A persona's name in a byline has a mark beside it.
 */
function faultsInPage(): string[] {
  const faults: string[] = [];
  const name = (element: Element) =>
    `${element.parentElement?.className} "${element.parentElement?.textContent?.replace(/\s+/g, ' ').trim().slice(0, 60)}"`;
  for (const element of document.querySelectorAll('.byline, .who, .personas > li, .desk-strip li, .profile')) {
    const isScreen = element.parentElement?.matches('.screen');
    if (!isScreen && !element.querySelector('.ai'))
      faults.push(`no mark in ${element.className} ${element.textContent}`);
  }
  const marks = document.querySelectorAll('.ai');
  if (marks.length === 0) faults.push('no mark at all');
  for (const mark of marks) {
    // Their whole piece, or their whole band, is left out at this width.
    if (mark.closest('.row, .feature')?.checkVisibility() === false) continue;
    mark.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { left, right, top, bottom, width, height } = mark.getBoundingClientRect();
    const middle = (top + bottom) / 2;
    if (Number.parseFloat(getComputedStyle(mark).fontSize) < 12 || height < 12 || width < 16)
      faults.push(`${width} × ${height} px in ${name(mark)}`);
    else if (left < 0 || right > document.documentElement.clientWidth + 1 || top < 0 || bottom > innerHeight)
      faults.push(`at ${Math.round(left)}, ${Math.round(top)} beyond the screen in ${name(mark)}`);
    for (const x of [left + 2, (left + right) / 2, right - 2]) {
      const above = document.elementFromPoint(x, middle);
      if (above !== null && above !== mark)
        faults.push(`${above.localName}.${above.className} lies over ${name(mark)}`);
    }
  }
  return faults;
}

/** The faults of the marks of a page, and those of the first one's contrast, as pixels have it. */
export async function faultsOfMarks(page: Page): Promise<string[]> {
  const faults = await page.evaluate(faultsInPage);
  const clip = await page.evaluate(firstBox);
  if (clip === null) return faults;
  const contrast = await contrastIn(await page.screenshot({ clip, animations: 'allow' }));
  return contrast >= 4.5 ? faults : [...faults, `a contrast of ${contrast.toFixed(2)}`];
}

/** Where the first mark of the page is painted that is not left out with its whole band; null without one. */
function firstBox() {
  const mark = [...document.querySelectorAll('.ai')].find(
    (one) => one.closest('.row, .feature')?.checkVisibility() !== false,
  );
  if (mark === undefined) return null;
  mark.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { x, y, width, height } = mark.getBoundingClientRect();
  return { x: Math.max(0, x), y: Math.max(0, y), width: Math.max(1, width), height: Math.max(1, height) };
}

/** The contrast between the ground of a picture, its most frequent colour, and the colour furthest from it (WCAG 2.2). */
async function contrastIn(png: Buffer): Promise<number> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const counts = new Map<number, number>();
  for (let at = 0; at < data.length; at += info.channels) {
    const color = data.readUIntBE(at, 3);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const [[ground = 0] = []] = [...counts].sort(([, a], [, b]) => b - a);
  const light = luminance(ground);
  return Math.max(
    ...[...counts.keys()].map((color) => {
      const other = luminance(color);
      return (Math.max(light, other) + 0.05) / (Math.min(light, other) + 0.05);
    }),
  );
}

function luminance(color: number): number {
  const [r = 0, g = 0, b = 0] = [color >> 16, (color >> 8) & 255, color & 255].map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
