import type { Build } from '../../../src/desk/press/build.ts';
import { frontActions, frontFrame, frontPage } from './front.ts';
import type { ConsoleParts } from './page.ts';
import type { ConsoleRoute, RouteMakers } from './route.ts';
import { seenFile } from './see.ts';
import { longFormGuards } from './session.ts';
import { settingsActions, settingsPage, showSettings } from './settings.ts';

/** The pages of the paper itself, and what can be done there. */
export function paperPages(parts: ConsoleParts, build: Build, { page, actions }: RouteMakers): ConsoleRoute[] {
  return [
    ['GET', 'front', page('read', frontPage)],
    ...actions('front/', frontActions(parts)),
    ['GET', 'settings', page('read', settingsPage)],
    ['POST', 'settings/show', showSettings(parts), longFormGuards],
    ...actions('settings/', settingsActions, longFormGuards),
    ['GET', 'see/', frontFrame(parts, build)],
    ['GET', 'see/*', seenFile(parts.app, build)],
  ];
}
