import { type BundleStory, during, type SentBeat } from './story.ts'

/** One worker that is to beat every minute, half a minute late at most. */
const EVERY_MINUTE = { HEARTBEAT_TOKEN: 'a-token-of-the-story', HEARTBEAT_WORKERS: 'indexer=60s+30s' }

const beat = (path = '/indexer', body?: string): { beats: SentBeat[] } => ({
  beats: [{ path, ...(body === undefined ? {} : { body }) }],
})
/** Runs without a beat, at these seconds. */
const silence = (...seconds: number[]): BundleStory['runs'] => seconds.map((second) => ({ minute: second / 60 }))
const after = (second: number) => second / 60

/** Workers that send to the receiver's bundle; the checker's bundle tells. */
export const HEARTBEAT_STORIES: readonly BundleStory[] = [
  {
    name: 'case 128: late at interval + grace, once, and back with its second beat',
    backend: 'heartbeat-check',
    env: EVERY_MINUTE,
    runs: [
      ...during(0, 2, beat()), // the last one at 120 s: due at 210
      ...silence(150, 180, 210, 211, 240, 300, 360),
      ...during(7, 9, beat()),
    ],
    pushes: [
      [after(211), 'fired', 'heartbeat'],
      [8, 'resolved', 'heartbeat'],
    ],
    says: ['indexer'],
  },
  {
    name: 'at interval + grace to the second it is not late',
    backend: 'heartbeat-check',
    env: EVERY_MINUTE,
    runs: [0, 90, 180, 270, 360].map((second) => ({ minute: after(second), ...(second % 180 === 0 ? beat() : {}) })),
    pushes: [
      // A beat every 180 s is late between 90 and 180 s, but was only looked at when it was 90 s old.
    ],
  },
  {
    name: 'never seen: told once, after the first interval + grace',
    backend: 'heartbeat-check',
    env: EVERY_MINUTE,
    runs: silence(0, 30, 60, 89, 90, 120, 180, 240),
    pushes: [[after(90), 'fired', 'heartbeat']],
  },
  {
    name: 'first seen just before that: nothing is told',
    backend: 'heartbeat-check',
    env: EVERY_MINUTE,
    runs: [...silence(0, 30, 60), { minute: after(90), ...beat() }, ...silence(120, 150, 180)],
    pushes: [],
  },
  {
    name: '`fail` is told at once with what the worker said, and is over with its next beats',
    backend: 'heartbeat-check',
    env: EVERY_MINUTE,
    runs: [
      { minute: 0, ...beat() },
      { minute: 1, ...beat('/indexer/fail', 'no space left on device') },
      { minute: 2, ...beat('/indexer/fail', 'no space left on device') },
      ...during(3, 5, beat()),
    ],
    pushes: [
      [1, 'fired', 'heartbeat'],
      [4, 'resolved', 'heartbeat'],
    ],
    says: ['indexer', 'no space left on device'],
  },
  {
    name: 'an exit code other than 0 is a failure; 0 and a start are not',
    backend: 'heartbeat-check',
    env: EVERY_MINUTE,
    runs: [
      { minute: 0, ...beat('/indexer/start') },
      { minute: 1, ...beat('/indexer/0', 'done') },
      { minute: 2, ...beat('/indexer/start', 'again') },
      { minute: 3, ...beat('/indexer/137') },
    ],
    pushes: [[3, 'fired', 'heartbeat']],
    says: ['137'],
  },
]
