const TOPIC = /^(?:(?:sections|tags|masthead)\/[^/]+\/)?rss\.xml$|^(?:feed\.json|podcast\.xml)$/;

/** Whether a file of a paper's tree is a feed that names the WebSub hub. */
export const isTopic = (path: string): boolean => TOPIC.test(path);

export interface TopicQueue {
  /** Notes that a running press changed these feeds. Call it in the transaction that records the files. */
  note(paper: string, paths: string[]): void;
  /** Makes what was noted due at `now` (ms): the press has ended, and all its files are public. */
  release(paper: string, now: number): void;
}
