// biome-ignore-all lint/performance/noBarrelFile: the entry of a package, which names what programs may import
export { ApiError } from './api-error.ts';
export { AheadOfStream, type Change, changes, type StreamOptions } from './changes.ts';
export { type ClientOptions, type DeskClient, deskClient, type RecordsClient, recordsClient } from './client.ts';
export type { components as DeskComponents, paths as DeskPaths } from './generated/desk.ts';
export type { components as RecordsComponents, paths as RecordsPaths } from './generated/records.ts';
export { pages, rows } from './pages.ts';
export type { RetryOptions } from './retrying.ts';
