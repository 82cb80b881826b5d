/** The addresses of a paper that the table of page types needs, below its root. */
export interface PaperAddresses {
  root: string;
  story: string[];
  /** A fact that was corrected. */
  fact: string;
  withdrawn: string;
  section: string;
  day: string;
  persona: string;
  cast: string;
  own: string;
  confirm: string;
  manage: string;
  /** A draft, behind its own address. */
  preview: string;
}

/** The addresses of the domain records that hold an id or a token. */
export interface RecordsAddresses {
  enter: string;
  group: string;
  alert: string;
  unsubscribe: string;
  receipt: string;
}

interface Looks {
  /** By default 200. */
  status?: number;
  /** A card for the frame of another page: it has no way past a head. */
  isCard?: boolean;
  /** Whether the page says its thing by script alone, and says so without. */
  needsScript?: boolean;
}

/** A type of page: where examples of it are. Paths of papers are below the paper's root. */
export type PageType = Looks &
  (
    | { of: 'paper'; paths(paper: PaperAddresses): string[] }
    | { of: 'desk'; paths(): string[] }
    | { of: 'records'; isSignedIn?: boolean; paths(records: RecordsAddresses): string[] }
  );

const paper = (paths: (paper: PaperAddresses) => string[], looks: Looks = {}): PageType => ({
  of: 'paper',
  paths,
  ...looks,
});
const records = (...paths: string[]): PageType => ({ of: 'records', paths: () => paths });
const account = (path: (records: RecordsAddresses) => string): PageType => ({
  of: 'records',
  isSignedIn: true,
  paths: (at) => [path(at)],
});

/**
 * Every type of page of both services, by its file below src/pages. pages.test.ts opens each of them, and fails when a
 * file is missing here: a new page gets its line, with an address at which it can be seen.
 */
export const PAGE_TYPES: Readonly<Record<string, PageType>> = {
  newsstand: { of: 'desk', paths: () => ['/'] },
  log: { of: 'desk', paths: () => ['/log/'] },
  'paper/front': paper(() => ['']),
  'paper/story': paper(({ story }) => story),
  'paper/withdrawn': paper(({ withdrawn }) => [withdrawn], { status: 410 }),
  'paper/section': paper(({ section }) => [section, `${section}1/`]),
  'paper/tags': paper(() => ['tags/', 'tags/length/']),
  'paper/facts': paper(() => ['facts/', 'facts/all/1/']),
  'paper/fact': paper(({ fact }) => [fact]),
  'paper/sources': paper(() => ['sources/']),
  'paper/day': paper(({ day }) => [day]),
  'paper/days': paper(() => ['days/']),
  'paper/masthead': paper(() => ['masthead/']),
  'paper/persona': paper(({ persona }) => [persona]),
  'paper/cast-index': paper(() => ['cast/']),
  'paper/cast-day': paper(({ cast }) => [cast]),
  'paper/cast-embed': paper(({ cast }) => [`${cast}embed/`], { isCard: true }),
  'paper/embed': paper(({ story }) => story.slice(0, 1).map((path) => path.replace('stories/', 'embed/')), {
    isCard: true,
  }),
  'paper/page': paper(({ own }) => [own]),
  'paper/agents': paper(() => ['agents/']),
  'paper/search': paper(() => ['search/?q=metre'], { needsScript: true }),
  'paper/subscribe': paper(() => ['subscribe/']),
  'paper/subscribe-said': paper(({ confirm }) => [confirm]),
  'paper/subscribe-manage': paper(({ manage }) => [manage]),
  'paper/corrections': paper(() => ['corrections/']),
  'paper/not-found': paper(() => ['404.html']),
  'records/landing': records('/'),
  'records/time-machine': records('/t/xn--bcher-kva.example', '/t/xn--bcher-kva.example?compare=previous'),
  'records/changes': records('/changes/today', '/changes/today?kind=changed&signal=A'),
  'records/hosts': records('/domains'),
  'records/names': records('/services'),
  'records/analytics': records('/analytics'),
  'records/search': records('/search?q=tide'),
  'records/verify': { ...records('/verify'), needsScript: true },
  'records/docs': records('/docs'),
  'records/dumps': records('/dumps/'),
  'records/pricing': records('/pricing'),
  'records/log': records('/log/'),
  'records/fault': { ...records('/t/nobody.example'), status: 404 },
  'account/sign-in': records('/account/sign-in'),
  'account/enter': { of: 'records', paths: ({ enter }) => [enter] },
  'account/overview': account(() => '/account'),
  'account/keys': account(() => '/account/keys'),
  'account/usage': account(() => '/account/usage'),
  'account/credits': account(() => '/account/credits'),
  'account/plan': account(() => '/account/plans/newsroom'),
  'account/receipt': account(({ receipt }) => receipt),
  'account/groups': account(() => '/account/groups'),
  'account/group': account(({ group }) => group),
  'account/group-changes': account(({ group }) => `${group}/changes`),
  'account/names': account(() => '/account/names'),
  'account/name': account(() => '/account/names/tide-tables.example'),
  'account/alerts': account(() => '/account/alerts'),
  'account/expectations': account(() => '/account/expectations'),
  'account/alert': account(({ alert }) => alert),
  'account/sessions': account(() => '/account/sessions'),
  'account/data': account(() => '/account/data'),
  'account/unsubscribe': { of: 'records', paths: ({ unsubscribe }) => [unsubscribe] },
  'preview of a draft': paper(({ preview }) => [preview]),
  'standards of a paper': paper(() => ['standards/']),
  'sample of a mail': paper(() => ['subscribe/sample/'], { isCard: true }),
  // What a signed-in reader sees beside.
  'records/time-machine signed in': account(() => '/t/xn--bcher-kva.example'),
  'records/hosts signed in': account(() => '/domains'),
  'records/names signed in': account(() => '/services'),
  // Pages that no template of src/pages prints.
  'playground of a paper': { of: 'desk', paths: () => ['/the-plumb-line/api/v1/playground'], needsScript: true },
  'playground of the records': { ...records('/docs/playground'), needsScript: true },
};

/** Files below src/pages that are no pages. */
export const NO_PAGES: readonly string[] = ['mail'];
