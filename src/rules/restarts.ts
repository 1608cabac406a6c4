import type { About } from '../model/notification.ts'
import type { Advice } from '../verdict/advice-kinds.ts'
import { base, ruleset, SCRAPED } from './rule.ts'
import type { Snapshot } from './snapshot.ts'

export const restartRules = ruleset({
  restarts: {
    ...base,
    firesWhen:
      'the server restarted this many times within an hour, also where no scrape failed; one message, from this one on',
    sign: '🔄',
    about: 'engine',
    unit: 'count',
    breach: 'at-or-above',
    limit: 3,
    priority: 8,
    backends: SCRAPED,
    measure: ({ readings, after }) =>
      readings ? [{ value: after.restarts?.length ?? 0 }] : [{ judgement: 'unknown' }],
    outlivesRestart: true,
    describe: twoServers,
    advise: ({ alternates }): Advice[] => (alternates ? [] : [{ key: 'why-restarted' }]),
  },
})

/** One address over two servers by turns looks like a restart at every look. */
function twoServers({ after }: Snapshot): About {
  return after.olderAt === undefined ? {} : { alternates: true }
}
