import type { RunProgress } from '../../model/notification.ts'
import type { Catalogue, Fact } from '../texts.ts'
import { n } from './phrases.ts'

export const workerRulesEn = {
  heartbeat: {
    headline: ({ beat }) => {
      if (beat?.failed) return 'Worker failed'
      if (beat?.never) return 'Worker never reported'
      return beat?.stands ? 'Worker stands still' : 'Worker is silent'
    },
    now: heartbeat,
    over: 'Worker reports again',
    todo: ({ beat }) => {
      if (beat?.failed || beat?.stands) return "Look at the worker's own log."
      return beat?.never
        ? 'Does the worker send to the right address, with the right name and token?'
        : 'Is the worker alive, and can it reach the receiver?'
    },
  },
  overrun: {
    headline: () => "Worker's run does not end",
    now: ({ run }) => {
      if (run === undefined) return 'A run has begun and not ended.'
      const than =
        run.usual === undefined
          ? run.limit === undefined
            ? ''
            : ` (limit ${n.lasted(run.limit)})`
          : `, usually it takes ${n.lasted(run.usual)}`
      return `The run has lasted ${n.lasted(run.for)}${than}.${progress(run.progress)}`
    },
    over: "Worker's run has ended",
    todo: ({ run }) =>
      run?.progress?.left === undefined
        ? "Look at the worker's own log: does it hang, or was it killed without a word?"
        : 'It still moves: is there more to do than usual, or is what it waits for slow?',
  },
} satisfies Partial<Catalogue['rules']>

function heartbeat({ beat }: Fact): string {
  if (!beat) return 'No beat came in time.'
  const grace = `${n.lasted(beat.grace)} of grace`
  const { due } = beat
  const when = due
    ? `calendar ${due.text}, ${due.zone}, ${grace}`
    : `expected every ${n.lasted(beat.interval)}, with ${grace}`
  if (beat.failed) {
    const code = beat.failed.exit
    return code === undefined ? 'The worker reported a failure.' : `The worker reported a failure, exit code ${code}.`
  }
  if (beat.stands && beat.progress)
    return `The worker stands at ${n.count(beat.progress.n)} of ${n.count(beat.progress.of)} for ${n.lasted(beat.progress.stoodFor)}.`
  const far = progress(beat.progress)
  if (beat.never) return due ? `Nothing came of ${due.at}, nor ever before (${when}).` : `No beat ever came (${when}).`
  if (due) return `Nothing came of ${due.at} (${when}).${far}`
  return beat.age === undefined
    ? `No beat came in time (${when}).${far}`
    : `The last beat came ${n.lasted(beat.age)} ago (${when}).${far}`
}

/** ` It is at 412 of 1,000, done in about 2 h at this rate.` */
function progress(at: RunProgress | undefined): string {
  if (at === undefined) return ''
  const far = `${n.count(at.n)} of ${n.count(at.of)}`
  if (at.left === undefined && at.stoodFor < 60_000) return ` It is at ${far}.`
  return at.left === undefined
    ? ` It stands at ${far} for ${n.lasted(at.stoodFor)}.`
    : ` It is at ${far}, done in about ${n.estimate(at.left / 1_000)} at this rate.`
}
