import type { Build } from '../../../src/desk/press/build.ts';
import { castActions, castPage, editionPage } from './cast.ts';
import { frontActions, frontFrame, frontPage } from './front.ts';
import { mastheadActions, mastheadPage, personaPage } from './masthead.ts';
import { mediaActions, mediaPage, uploadMedia } from './media.ts';
import { draftFrame, ownPage, pageActions, pagesPage, showPage } from './own-pages.ts';
import type { ConsoleParts } from './page.ts';
import type { ConsoleRoute, RouteMakers } from './route.ts';
import { sectionActions, sectionsPage, showSections } from './sections.ts';
import { seenFile } from './see.ts';
import { longFormGuards, uploadGuards } from './session.ts';
import { settingsActions, settingsPage, showSettings } from './settings.ts';

/** The pages of the paper itself, and what can be done there. */
export function paperPages(parts: ConsoleParts, build: Build, { page, actions }: RouteMakers): ConsoleRoute[] {
  return [
    ['GET', 'front', page('read', frontPage)],
    ...actions('front/', frontActions(parts)),
    ['GET', 'masthead', page('read', mastheadPage)],
    ['GET', 'masthead/:slug', page('read', personaPage)],
    ...actions('masthead/', mastheadActions(parts), longFormGuards),
    ['GET', 'media', page('read', mediaPage)],
    ['POST', 'media/upload', uploadMedia(parts, () => 'media'), uploadGuards],
    ...actions('media/', mediaActions),
    ['GET', 'cast', page('read', castPage)],
    ['GET', 'cast/:day', page('read', editionPage)],
    ['POST', 'cast/:day/upload', uploadMedia(parts, (c) => `cast/${c.req.param('day')}`), uploadGuards],
    ...actions('cast/', castActions(parts), longFormGuards),
    ['GET', 'sections', page('read', sectionsPage)],
    ['POST', 'sections/show', showSections(parts)],
    ...actions('sections/', sectionActions),
    ['GET', 'settings', page('read', settingsPage)],
    ['POST', 'settings/show', showSettings(parts), longFormGuards],
    ...actions('settings/', settingsActions, longFormGuards),
    ['GET', 'pages', page('admin', pagesPage)],
    ['GET', 'pages/:slug', page('admin', ownPage)],
    ['POST', 'pages/show', showPage(parts), longFormGuards],
    ['POST', 'pages/:slug/show', showPage(parts), longFormGuards],
    ...actions('pages/', pageActions(parts), longFormGuards),
    ['GET', 'see/page', draftFrame(parts, build)],
    ['GET', 'see/', frontFrame(parts, build)],
    ['GET', 'see/*', seenFile(parts.app, build)],
  ];
}
