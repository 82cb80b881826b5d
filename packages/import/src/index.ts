// biome-ignore-all lint/performance/noBarrelFile: the entry of a bundle, which names what programs may import
export { ArchiveError } from './archive-error.ts';
export { type Ask, askSections } from './ask-sections.ts';
export { decodedPage } from './decoded-page.ts';
export { type ArchiveLine, type LineOptions, lines, type PaperRules, sections } from './lines.ts';
export { type Mapping, NO_MAPPING } from './mapping.ts';
export { openArchive, SYSTEMS, type System } from './open-archive.ts';
export { type PageHead, pageHead } from './page-head.ts';
export { pageText } from './page-text.ts';
export { type Fetch, type Fetched, type MediaStore, Pictures } from './pictures.ts';
export type { MarkdownProblem, Source, SourceItem, SourcePiece } from './source.ts';
