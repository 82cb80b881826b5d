import type { SampledRegistry } from './sampled-registry.ts';
import type { MetricSources, Readings } from './sources.ts';
import { StaleSince } from './stale-since.ts';

/** The papers, and the work to press, publish and announce. */
export function ofDesk(registry: SampledRegistry, { app, presses }: MetricSources): Readings {
  const { store, now } = app;
  const pressing = registry.gauge('press_papers', 'Papers that are being pressed, or wait for their turn.', ['state']);
  const stalePapers = registry.gauge('press_stale_papers', 'Papers with pages that are not up to date.');
  const staleTags = registry.gauge('press_stale_tags', 'Changes that no press has read, counted up to 10,000.');
  const staleFor = registry.gauge(
    'press_backlog_seconds',
    'For how long the paper that waits longest has waited, without a press of it that ended.',
  );
  const unpublished = registry.gauge('publish_waiting_files', 'Files that PUBLISH_URL lacks, counted up to 10,000.');
  const hubPings = registry.gauge(
    'hub_pings_due',
    'Feeds of which the hub is to be told, that are due, counted up to 10,000.',
  );
  const missing = registry.gauge('missing_media', 'Media files whose bytes DATA_DIR lacks: readers see stand-ins.');
  const papers = registry.gauge('papers', 'Papers.');
  const pieces = registry.gauge('pieces_on_air', 'Pieces on air.');
  const search = registry.gauge('search_questions', 'Questions to the search threads.', ['state']);
  const searchThreads = registry.gauge('search_threads', 'Connections that search, each on a thread of its own.');

  const stale = new StaleSince();
  return {
    press() {
      const load = presses()?.load;
      pressing.set({ state: 'pressing' }, load?.running ?? 0);
      pressing.set({ state: 'waiting' }, load?.waiting ?? 0);
      const signs = store.vitalSigns();
      const waiting = signs.stalePapers();
      stalePapers.set(waiting.length);
      staleFor.set(stale.longest(waiting) / 1_000);
      staleTags.set(signs.staleTags());
    },
    publish: () => unpublished.set(app.settings.publishUrl === null ? 0 : store.vitalSigns().unpublished()),
    hub: () => hubPings.set(store.vitalSigns().hubPings(now()).due),
    media: () => missing.set(store.missingMedia.all().length),
    papers: () => papers.set(store.vitalSigns().papers()),
    pieces: () => pieces.set(store.vitalSigns().pieces()),
    search() {
      const { threads, waiting, answering } = app.searchPool.load;
      searchThreads.set(threads);
      search.set({ state: 'waiting' }, waiting);
      search.set({ state: 'answering' }, answering);
    },
  };
}
