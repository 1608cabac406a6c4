import { timezone } from './maintenance.ts'
import { setting } from './setting.ts'
import { choice, duration, line, pattern, type Value, value, whole } from './values.ts'

const SECOND = 1_000
const DAY = 86_400_000

const requestsADay: Value<number> = value('a number of requests a day, such as 500/d', (text) => {
  const n = Number(/^([1-9]\d{0,6})\s*\/\s*d(ay)?$/.exec(text)?.[1])
  return Number.isNaN(n) ? undefined : n
})

/** What canaries ask, and how often. */
export const OF_CANARIES = {
  CANARY_TOKENS: setting(
    whole(1, 64),
    1,
    'tokens that a canary asks for. Above 1 it also measures how fast they come, for the rule `canary_rate`. A bare `CANARY_TOKENS` is for all backends',
    '`1`',
  ),
  CANARY_PROMPT: setting(
    line('a prompt on one line', /^[^\p{Cc}]{1,1000}$/u),
    'Hi',
    'what a canary asks; also bare',
    '`Hi`',
  ),
  CANARY_EXPECT: setting(
    pattern,
    undefined,
    'a regular expression that the answer must match (`/…/i` for any letter case), for the rule `wrong_answer`; `CANARY_TOKENS` must be enough for it. Also bare',
    'off',
  ),
  CANARY_BUDGET: setting(
    requestsADay,
    undefined,
    'requests that canaries may send to one endpoint in a day of UTC, spread over it; also bare',
    'one at each run',
  ),
  CANARY_IDLE: setting(
    choice(['ask', 'skip']),
    'ask',
    '`skip`: a model that nobody else has used since our last canary is not asked again, so that Ollama lets it leave the memory as if nobody watched; also bare',
    '`ask`',
  ),
} as const

/** When workers are to report. */
export const OF_WORKERS = {
  SCHEDULE: setting(
    line('the five fields of cron, such as 0 3 * * *'),
    undefined,
    'calendar of a worker that is declared with `cron+<grace>`, in the five fields of cron, by the clock of `TIMEZONE`',
  ),
  TIMEZONE: setting(timezone, undefined, 'zone of the calendar of a worker', 'as `TIMEZONE`'),
  RUN_LIMIT: setting(
    duration(SECOND, 30 * DAY, '2h'),
    undefined,
    'longest time from `/start` to the end of a run, for the rule `overrun`',
    'three times its usual run',
  ),
} as const
