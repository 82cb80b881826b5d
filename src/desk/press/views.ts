/**
 * The complete data of each page, ready to print. Pages contain only markup and import nothing but these types. Every
 * `url` is a path from the host's root (`/harbor-ledger/stories/x/`) unless its name says absolute.
 */

import type { Motif } from '../../media/motif.ts';
import type { Author, CitedFact } from '../../proof/basis.ts';
import type { FactVersion } from '../../proof/fact-note.ts';
import type { MailContent } from '../../shared/outbound/mail-content.ts';
import type { CorrectionRow, PersonaCounts, Row, Story, TagCount } from '../archive.ts';
import type { EvidenceState, ObservationSeen } from '../evidence.ts';
import type { FactChange } from '../fact.ts';
import type { Cast } from '../papers/cast.ts';
import type { Persona } from '../papers/masthead.ts';
import type { Chapter } from '../papers/media.ts';
import type { PaperRecord } from '../papers/paper.ts';
import type { Theme } from '../papers/themes.ts';
import type { Typefaces } from '../papers/typefaces.ts';

export type { Author, Motif };

/** The surroundings of every page of a paper. */
export interface Frame {
  /** Absolute root address of the paper, without a trailing slash. */
  root_absolute: string;
  /** Path of the root: empty, or `/harbor-ledger`. */
  base: string;
  canonical_absolute: string;
  /** Content of `<title>`. */
  title: string;
  description: string;
  noindex: boolean;
  /** Address of the paper's analytics script; null without one, and on pages that are not indexed. */
  analytics: string | null;
  paper: Pick<PaperRecord, 'nameplate' | 'motto' | 'description' | 'hue' | 'language'> & {
    sections: { name: string; slug: string; url: string }[];
    typefaces: Typefaces;
    theme: Theme;
    /** Whether the paper has a stylesheet of its own, at `style.css`. */
    has_style: boolean;
    /** The picture that replaces the nameplate, and another for dark mode; null without a logo. */
    logo: { picture: PictureView; dark_url: string | null } | null;
    /** `svg_url` is null when the icon is a PNG. */
    icons: { ico_url: string; svg_url: string | null; touch_url: string; manifest_url: string };
    /** The contact's address as a link, and the link's text; null without a contact. */
    contact: { url: string; text: string | null } | null;
    /** Who is responsible for the paper: the lines of a text, or a page of the paper. */
    imprint: string[] | { url: string; title: string; language: string } | null;
    /** The kind of its editions: `audio` if any of them is audio only. */
    casts: 'video' | 'audio' | null;
    /** Whether a piece from an archive, which may cite no sources, was ever on air: see `Archive.hasArchived`. */
    has_archived: boolean;
    /** Whether pieces on air cite facts of its record. */
    has_facts: boolean;
    /** The paper's own pages that a menu lists, in reading order. */
    pages: { title: string; language: string; url: string; nav: 'footer' | 'sections' }[];
  };
  /** Language of this page's own text, when it differs from the paper's. */
  language: string;
  /** For OpenGraph and Twitter. */
  share_image: ShareImage | null;
  /** A JSON-LD document, already safe to print inside a script element, or null. */
  json_ld: string | null;
}

/** The members that the view of every page of a paper has. */
export interface Framed {
  frame: Frame;
}

/** The preview picture of a page. */
export interface ShareImage {
  absolute: string;
  alt: string;
  /** In pixels; null when unknown. */
  width: number | null;
  height: number | null;
}

export interface PictureView {
  /** The original picture. */
  url: string;
  alt: string;
  credit: string | null;
  width: number | null;
  height: number | null;
  /** The same picture in other sizes and formats, preferred formats first; empty for SVG and animations. */
  variants: VariantView[];
  /** Its dominant colour, `#rrggbb`, shown until it is loaded; null for a picture with transparency. */
  color: string | null;
}

export interface VariantView {
  url: string;
  /** Such as `image/avif`. */
  type: string;
  width: number;
}

export interface BylineView {
  name: string;
  title: string;
  avatar: PictureView;
  url: string;
}

/** The piece that represents a day or a tag in miniature. */
export type MiniatureView = Pick<RowView, 'id' | 'headline' | 'language' | 'image'>;

/** A piece in a list. */
export interface RowView extends Pick<Row, 'id' | 'headline' | 'dek' | 'category' | 'kind' | 'writer' | 'language'> {
  url: string;
  category_url: string;
  byline: BylineView;
  /** ISO 8601. */
  published_at: string;
  day_url: string;
  image: PictureView | null;
  /** The start of the prose, to fill free space in a list. */
  excerpt?: string;
}

export interface FactView extends CitedFact {
  /** The page of the fact in the paper's record, and what became of the fact since; null for an entry without a key. */
  record: { url: string; since: FactChange | null } | null;
  /** The instrument's address, or null when the instrument is a document's name. */
  href: string | null;
  /** The result of reading its source; null before it is read. */
  evidence: {
    state: EvidenceState;
    /** ISO 8601. */
    read_at: string;
    /** The source at its quote (a text fragment), else the fact's instrument. */
    href: string;
    /** The text that was read, if the paper shows it. */
    archived_url: string | null;
    /** The verified signed observation of a hostname; null if the source is not one. */
    observation: ObservationSeen | null;
  } | null;
  /** Ids of the markers in the prose that cite this fact, for the back links. */
  marker_ids: string[];
}

/** A heading, with the headings of the next level below it. */
export interface ContentsEntry {
  id: string;
  text: string;
  parts: { id: string; text: string }[];
}

export interface StoryView extends Framed, RowView, Pick<Story, 'credit' | 'revision' | 'content_hash' | 'provenance'> {
  /** Whether the page shows a piece that is not published. */
  is_preview: boolean;
  /** The prose as HTML, or a placeholder until its bytes are inserted. Its markers link to the facts. */
  html: string;
  /** Where the page shows the subscribe form: before the rest of the prose, below the piece, or not at all. */
  box: { rest: string } | 'end' | null;
  /** Whether the page has a form or link cards, which have a separate stylesheet. */
  has_insets: boolean;
  /** The table of contents; empty for a short piece. */
  contents: ContentsEntry[];
  authors: Author[];
  /** Who approved it, if the paper shows that; null when nobody did. */
  reviewed: { name: string; role: string; at: string } | null;
  /** Whether there are too many sources for the text, so that their names would not fit beside it. */
  is_crowded: boolean;
  facts: FactView[];
  updated_at: string;
  corrections: { at: string; revision: number; note: string }[];
  word_count: number;
  tags: { name: string; url: string }[];
  /** Address of the page of all tags. */
  tags_url: string;
  earlier: RowView[];
  markdown_url: string;
  proof_url: string;
  standards_url: string;
  /** Address of the transparency log, with its trailing slash. */
  log_url: string;
  /** The address of its sources' texts that the desk read; null for a paper that does not publish them. */
  texts_url: string | null;
  /** The edition of its day; null without one that can be heard or watched. */
  cast: Pick<CastView, 'title' | 'url' | 'is_audio' | 'duration_s' | 'file_url' | 'media_type'> | null;
  /** Null for an unsigned piece, on the writing desk or in a preview. */
  receipt: {
    seq: number;
    filed_at: string;
    /** The latest time at which it was signed, if a correction of the clock says that `filed_at` is wrong. */
    true_at: string | null;
    kid: string;
    note: string;
  } | null;
  oembed_json_absolute: string;
  oembed_xml_absolute: string;
}

export interface WithdrawnView extends Framed {
  /** Null if it is withheld. */
  headline: string | null;
  reason: string;
  published_at: string;
  withdrawn_at: string;
  language: string;
}

export interface CastView extends Pick<Cast, 'day' | 'title' | 'description' | 'duration_s' | 'bytes' | 'media_type'> {
  is_audio: boolean;
  url: string;
  embed_url: string;
  /** Address of the video or audio file; null while the file is missing. */
  file_url: string | null;
  /** Null for an audio edition without a poster. */
  poster: PictureView | null;
  /** The paper's shapes, in place of a poster. */
  motif: Motif | null;
  /** Captions of a video, or the transcript of an audio edition. */
  captions_url: string | null;
}

/** A paragraph of a transcript. */
export interface TranscriptPart {
  /** Seconds from the start. */
  time: number;
  speaker: string | null;
  text: string;
}

export interface RailView {
  section: string;
  url: string;
  rows: RowView[];
}

/** A section on the front, in a form that suits its pieces. */
export interface FrontRail {
  section: string;
  url: string;
  /** `pictured` is led by a picture, `text` by a long excerpt in its place, `motif` by the section's shapes. */
  form: 'pictured' | 'text' | 'motif' | 'even';
  /** The section's shapes, for the form `motif`. */
  motif: Motif | null;
  /** The lead is alone in the first column, except in the form `even`, whose columns are alike. */
  columns: RowView[][];
}

/** One block of the front below the top news. */
export type FrontBlock =
  | { kind: 'rail'; rail: FrontRail }
  | { kind: 'briefs'; sections: RailView[] }
  | { kind: 'cast'; cast: CastView }
  | ({ kind: 'subscribe'; sample_url: string } & Pick<DeskPageView, 'api'>)
  | { kind: 'blog'; rows: RowView[] }
  | { kind: 'corrections'; url: string; rows: CorrectionsView['rows'] }
  | { kind: 'masthead'; personas: BylineView[] };

export interface FrontView extends Framed {
  /** When the paper last changed; ISO 8601. */
  updated_at: string;
  /** The lead piece, then the pieces beside it. No rail repeats any of them. */
  lead: RowView | null;
  /** The lead's shapes, if it has no picture. */
  lead_motif: Motif | null;
  seconds: RowView[];
  /** On a wire, the newest pieces below the top, by day. */
  river: { day: string; url: string; rows: RowView[] }[];
  blocks: FrontBlock[];
}

/** The newest pieces of a section, or one numbered page of it (`page` is null for the newest). */
export interface SectionView extends Framed {
  name: string;
  /** Its shapes, for a lead without a picture. */
  motif: Motif;
  page: number | null;
  rows: RowView[];
  newer_url: string | null;
  older_url: string | null;
  feed_url: string;
  /** The page of all tags, if this is the list of a tag. */
  tags_url: string | null;
}

type TagView = Omit<TagCount, 'slug'> & { url: string };

export interface TagsView extends Framed {
  /** Sorted by name. */
  tags: TagView[];
  /** The tags with the most pieces, each with the newest piece that has a picture, or the newest. */
  top: (TagView & { lead: MiniatureView })[];
}

export interface DayView extends Framed {
  day: string;
  rows: RowView[];
  /** Replaces a missing picture of the lead. */
  motif: Motif;
  cast: CastView | null;
  days_url: string;
}

type DayCount = { day: string; count: number; url: string };

/** The back issues of the last 366 published days (`year` null), or of a year. */
export interface DaysView extends Framed {
  year: string | null;
  days: DayCount[];
  /** The newest of them, each with the piece that led its front. */
  newest: (DayCount & { lead: MiniatureView })[];
  years: { year: string; url: string }[];
}

export interface PersonaView extends Framed, Omit<Persona, 'avatar'> {
  avatar: PictureView;
  rows: RowView[];
  /** Replaces a missing picture of the lead. */
  motif: Motif;
  record: PersonaCounts;
  /** The publishers that the pieces in `rows` cite most. */
  sources: { source: string; citations: number }[];
  feed_url: string;
}

export interface MastheadView extends Framed {
  personas: (BylineView & Pick<Persona, 'beat'>)[];
  standards_url: string;
}

/** The editions; `has_audio` if any of them is audio only. */
export interface CastIndexView extends Framed {
  has_audio: boolean;
  casts: CastView[];
  podcast_url: string;
}

export interface CastDayView extends Framed {
  cast: CastView;
  chapters: Chapter[];
  transcript: TranscriptPart[];
  rows: RowView[];
  oembed_json_absolute: string;
  oembed_xml_absolute: string;
}

/** A page that calls the API: search or subscribe. */
export interface DeskPageView extends Framed {
  /** Absolute path of the API, such as `/harbor-ledger/api/v1`. */
  api: string;
}

/** The guide for agents, in English. */
export interface AgentsView extends Framed {
  heading: string;
  about: string;
  /** The name under which a client lists the paper's tools. */
  name: string;
  /** Address of the paper's MCP server. */
  mcp_absolute: string;
  html: string;
  headings: { id: string; text: string }[];
  /** Paths below the paper's root for readers to try. */
  tries: string[];
  /** The response of one of them when the page was pressed. */
  answer: { path: string; text: string };
}

/** The sections and years that can limit a search. A section's shapes also represent its pieces without a picture. */
export interface SearchView extends DeskPageView {
  sections: { name: string; slug: string; url: string; motif: Motif }[];
  /** Newest first. */
  years: string[];
}

/** A problem of a submitted form, shown next to its field. */
export interface FormProblem {
  field: string;
  message: string;
}

export interface ChoicesView {
  cadence: string;
  /** The selected sections. */
  sections: string[];
  cast: boolean;
}

/** The subscription form. Empty when pressed; served live, it shows a rejected request, even one without choices. */
export interface SubscribeView extends DeskPageView {
  failed?: { email: string; problem: FormProblem; choices: ChoicesView | null };
  /** Address of a sample mail; null while the paper has no piece for one. */
  sample_url: string | null;
}

/** The result of a subscription step, or the page that asks the reader to press a button. */
export interface ReaderSaidView extends Framed {
  heading: string;
  paragraphs: string[];
  /** The only button. It sends the token to `action`, an address relative to `{root}/subscribe/`. */
  button: { action: string; token: string; label: string } | null;
  link: { url: string; text: string } | null;
}

export interface ReaderManageView extends Framed, ChoicesView {
  email: string;
  token: string;
  saved: boolean;
  problem: FormProblem | null;
}

export interface CorrectionsView extends Framed {
  /** `piece` is what was corrected or withdrawn, for a fact its present statement; null if its headline is withheld. */
  rows: (Pick<CorrectionRow, 'note'> & {
    kind: CorrectionRow['kind'] | FactChange;
    at: string;
    piece: { headline: string; url: string } | null;
  })[];
  standards_url: string;
  feed_url: string;
}

/** A fact in a list. */
export interface RecordedFactView extends Pick<FactVersion, 'claim_key' | 'statement' | 'source' | 'instrument'> {
  url: string;
  /** The instrument's address, or null when it is a document's name. */
  href: string | null;
  /** What became of the fact since it was recorded. */
  since: FactChange | null;
  /** How many pieces on air cite it. */
  cited: number;
}

/** The most recently recorded facts, or one numbered page of the record. */
export interface FactsView extends Framed {
  page: number | null;
  rows: RecordedFactView[];
  newer_url: string | null;
  older_url: string | null;
  sources_url: string;
}

export interface FactPageView extends Framed, RecordedFactView, Pick<FactVersion, 'quote' | 'status' | 'note'> {
  /** Newest first. */
  versions: (FactVersion & { signed_at: string })[];
  /** The newest pieces on air that cite it, each with the version that it cites. */
  pieces: { headline: string; url: string; version: number; is_current: boolean }[];
  /** How many further pieces cite it. */
  more: number;
  json_url: string;
  facts_url: string;
}

/** The publishers with the most facts, and how many more publishers there are. */
export interface SourcesView extends Framed {
  sources: { source: string; facts: number; citations: number }[];
  more: number;
  facts_url: string;
}

/** A page whose content is prose: the standards, the guide for agents, or one of the paper's own pages. */
export interface PageView extends Framed {
  heading: string;
  html: string;
  /** The rest of the prose, after the subscribe form; absent without one. */
  rest?: string | undefined;
  /** The address of a page that may be in the menus. */
  url?: string;
}

/** The story card that other sites frame. It may load only its picture. */
export interface EmbedView
  extends Pick<Story, 'language' | 'dek' | 'category' | 'byline' | 'writer' | 'provenance'>,
    Pick<PaperRecord, 'hue' | 'nameplate'> {
  /** When the piece was withdrawn, in which case the card is a notice; else null. */
  withdrawn_at: string | null;
  root_absolute: string;
  story_absolute: string;
  /** Null if it is withheld. */
  headline: string | null;
  published_at: string;
  /** With absolute addresses. */
  image: PictureView | null;
  /** Replaces a missing picture. Null when there is a picture, and on a notice. */
  motif: Motif | null;
}

export interface NewsstandView {
  papers: (Pick<PaperRecord, 'slug' | 'nameplate' | 'motto' | 'description' | 'hue' | 'language'> & {
    url: string;
    /** How many pieces are on air. */
    pieces: number;
    /** The lead of its front; null while nothing is on air. */
    lead: RowView | null;
    /** Replaces a missing picture of the lead. */
    motif: Motif | null;
    /** The pieces beside the lead. */
    others: RowView[];
  })[];
  /** Font stylesheets of the papers whose texts here have letters that none of the page's typefaces has. */
  fonts: string[];
}

/** Page data by the route under `src/pages` that prints it. */
export interface Pages {
  '/paper/front': FrontView;
  '/paper/story': StoryView;
  '/paper/withdrawn': WithdrawnView;
  '/paper/section': SectionView;
  '/paper/tags': TagsView;
  '/paper/day': DayView;
  '/paper/days': DaysView;
  '/paper/masthead': MastheadView;
  '/paper/persona': PersonaView;
  '/paper/cast-index': CastIndexView;
  '/paper/cast-day': CastDayView;
  '/paper/cast-embed': CastDayView;
  '/paper/agents': AgentsView;
  '/paper/search': SearchView;
  '/paper/subscribe': SubscribeView;
  '/mail': MailContent;
  '/paper/subscribe-said': ReaderSaidView;
  '/paper/subscribe-manage': ReaderManageView;
  '/paper/corrections': CorrectionsView;
  '/paper/facts': FactsView;
  '/paper/fact': FactPageView;
  '/paper/sources': SourcesView;
  '/paper/page': PageView;
  '/paper/not-found': Framed;
  '/paper/embed': EmbedView;
  '/newsstand': NewsstandView;
}
