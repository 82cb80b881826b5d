import type { MediaFiles } from '../../media/media.ts';
import type { AppStore } from '../../server/context.ts';
import type { Desk } from '../file-story.ts';
import type { HostGrants } from '../papers/host.ts';

/** The parts needed to file folders, archives and ledger exports. */
export interface Intake extends HostGrants {
  store: AppStore['desk'] & Pick<AppStore['database'], 'leases' | 'log' | 'fault'>;
  media: Pick<MediaFiles, 'keepFile' | 'keepBytes' | 'has'>;
  settings: HostGrants['settings'] & {
    /** The folder that contains a folder for each paper. */
    contentDir: string;
    /** Whether the dates of demo papers are moved to their first filing. */
    demoDates: boolean;
  };
  desk: Desk;
  /** Creates the signing key if there is none. Call it before the first piece is filed. */
  openSigningKey(): void;
}
