import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** What a keyboard must reach; of radio buttons with one name, one. Frames have stops of their own. */
const STOPS =
  ':is(a, area)[href], button:enabled, input:enabled:not([type="hidden"]), select:enabled, textarea:enabled, summary, :is(audio, video)[controls], [tabindex], [contenteditable="true"]';
/** The parts of a page whose stops follow each other as they are read. */
const BLOCKS = 'article, section, nav, header, footer, aside, form, table, main';
/** More stops than a page has by `STOPS`: parts of scrolling boxes, players and frames. */
const MORE_MAX = 150;
/** Keys that are pressed before the page is asked how far they came. */
const AT_ONCE = 20;

interface Walk {
  isOver: boolean;
  faults: string[];
  left: string[];
}

/**
 * Walks through an open page with the Tab key, from its start to its end: every link, button and field is a stop, once;
 * each is seen, has a mark that it has the focus, and comes after the one before it as the block is read.
 */
export async function walkThrough(page: Page, where: string): Promise<void> {
  const count = await page.evaluate(begin, [STOPS, BLOCKS] as const);
  const walked = () => page.evaluate(() => (globalThis as unknown as { walked(): Walk }).walked());
  let walk = await walked();
  for (let pressed = 0; !walk.isOver && pressed < count + MORE_MAX; pressed += AT_ONCE) {
    for (let n = 0; n < AT_ONCE; n++) await page.keyboard.press('Tab');
    walk = await walked();
  }
  assert.ok(walk.isOver, `${where}: a trap: Tab never came back to the start`);
  assert.deepEqual(walk.faults, [], where);
  assert.deepEqual(walk.left, [], `${where}: Tab never came to these`);
}

/** In the page: what is to be reached, and what is noted at each stop. Returns how many stops there are. */
function begin([stops, blocks]: readonly [string, string]): number {
  // From the start of the page, wherever the focus was.
  document.body.tabIndex = -1;
  document.body.focus({ preventScroll: true });
  document.body.removeAttribute('tabindex');
  scrollTo({ top: 0, behavior: 'instant' });
  const name = (element: Element) => element.outerHTML.slice(0, 110);
  const keyOf = (element: Element): unknown =>
    element instanceof HTMLInputElement && element.type === 'radio'
      ? `radio ${element.name} ${element.form?.id}`
      : element;
  /** How an element, and what is drawn for it, looks. */
  const looks = (element: Element) =>
    [element, element.closest('label'), element.parentElement, element.nextElementSibling]
      .map((one) => {
        if (one === null) return '';
        const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(one);
        return [outlineStyle === 'none' ? '' : outlineWidth, boxShadow, borderColor, backgroundColor].join();
      })
      .join('|');
  const expected = new Map<unknown, string>();
  const before = new Map<Element, string>();
  for (const element of document.querySelectorAll<HTMLElement>(stops)) {
    if (element.tabIndex < 0 || element.closest('[inert]') !== null) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    expected.set(keyOf(element), name(element));
    before.set(element, looks(element));
  }
  const left = new Map(expected);
  const seen = new Set<unknown>();
  const faults: string[] = [];
  let last: { element: Element; block: Element | null; box: DOMRect } | null = null;
  let first: unknown;
  let isOver = expected.size === 0;
  const note = (element: Element) => {
    const key = keyOf(element);
    if (isOver) return;
    if (key === first) {
      isOver = true;
      return;
    }
    first ??= key;
    if (seen.has(key)) faults.push(`twice: ${name(element)}`);
    seen.add(key);
    left.delete(key);
    let box = element.getBoundingClientRect();
    const isInView = () => box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
    if (!isInView()) {
      // A browser may scroll after it has moved the focus.
      element.scrollIntoView({ block: 'nearest', behavior: 'instant' });
      box = element.getBoundingClientRect();
    }
    if (!isInView()) faults.push(`out of sight: ${name(element)}`);
    else if (isCovered(element)) faults.push(`covered: ${name(element)}`);
    if (looks(element) === before.get(element)) faults.push(`no focus ring: ${name(element)}`);
    // A way past a block stands above it, wherever that is, and leads behind itself.
    if (element.classList.contains('skip')) {
      const goal = document.querySelector((element as HTMLAnchorElement).hash);
      const isBehind = goal !== null && (element.compareDocumentPosition(goal) & Node.DOCUMENT_POSITION_FOLLOWING) > 0;
      if (!isBehind) faults.push(`a way past nothing: ${name(element)}`);
      return;
    }
    const block = element.closest(blocks);
    const { x, y, width, height } = element.getClientRects()[0] ?? box;
    let [across, down] = [0, 0];
    for (let part = element.parentElement; part !== null; part = part.parentElement) {
      across += part.scrollLeft;
      down += part.scrollTop;
    }
    const here = { element, block, box: new DOMRect(x + across, y + down, width, height) };
    // Markers of notes go with their words, whose direction may be another.
    if (last?.block === block && element.closest('sup') === null) {
      const way = wayFrom(last, here);
      if (way !== null) faults.push(`${way} the stop before it: ${name(element)}`);
    }
    last = here;
  };
  type Stop = { element: Element; box: DOMRect };
  /** What is wrong with the way from one stop to the next one, as the part of the page reads that has both. */
  const wayFrom = (from: Stop, to: Stop): string | null => {
    const range = new Range();
    range.setStartBefore(from.element);
    range.setEndAfter(to.element);
    const isRightToLeft = getComputedStyle(range.commonAncestorContainer as Element).direction === 'rtl';
    const isBehind = (one: DOMRect, other: DOMRect) =>
      isRightToLeft ? one.right <= other.left + 1 : one.left >= other.right - 1;
    const middle = (to.box.top + to.box.bottom) / 2;
    // A column begins above the end of the one before it.
    if (to.box.bottom <= from.box.top + 1 && !isBehind(to.box, from.box)) return 'above';
    return middle > from.box.top && middle < from.box.bottom && isBehind(from.box, to.box) ? 'before' : null;
  };
  /** Whether something else lies over all of its corners and its middle. */
  const isCovered = (element: Element) => {
    const boxes = [...element.getClientRects()];
    const points = boxes.flatMap(({ left: x, top: y, width, height }) =>
      [0.5, 0.1, 0.9].flatMap((part) => [
        [x + width * part, y + height / 2] as const,
        [x + width / 2, y + height * part] as const,
      ]),
    );
    const shown = points.filter(([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight);
    return (
      shown.length > 0 &&
      shown.every(([x, y]) => {
        const top = document.elementFromPoint(x, y);
        return top === null || !(element.contains(top) || top.contains(element) || top.closest('label') !== null);
      })
    );
  };
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && target !== document.body && target.localName !== 'iframe') note(target);
  });
  Object.assign(globalThis, { walked: (): Walk => ({ isOver, faults, left: [...left.values()] }) });
  return expected.size;
}
