import { setTimeout as sleep } from 'node:timers/promises';
import { deadLinks } from './links.ts';
import type { World } from './world.ts';

/** What is printed last, and what all of it points at must be there by then. */
const LAST = ['index.html', 'front.json'];
const LISTS = ['masthead/index.html', 'sections/tides/index.html', 'feed.json', ...LAST];

/** Reads while others press, and while nobody finishes what a killed press began: no file points at one that is not there yet. */
export async function readOn(world: World, isOver: () => boolean): Promise<void> {
  const random = world.random('reader');
  while (!isOver()) {
    await sleep(random.int(0, 150));
    const path = random.pick(LISTS);
    const wanted = LAST.includes(path) ? /^(?:stories|sections|days|masthead|cast)\// : /^stories\//;
    const { disk, root } = world;
    const before = disk.read(path);
    // Cards may be left for later, and of many they come last.
    const dead = deadLinks(disk, root, path).filter((target) => wanted.test(target));
    // Another process may have changed both between one look and the next.
    if (world.mayBePrivate || dead.length === 0 || disk.read(path) !== before) continue;
    world.journal.looked('reader', 'dead link', `${path} points at what is there`, dead);
  }
}
