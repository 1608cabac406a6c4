import { createInterface } from 'node:readline'
import { setInterval as every } from 'node:timers'
import { createEngine, type Engine } from './engine.ts'
import { DEFAULT_KNOBS, type Knobs } from './machine.ts'
import { serveVllm } from './vllm-story.ts'

const SECOND = 1000
/** What it has already worked through when it is first looked at. */
const PAST = 10 * 60 * SECOND
/** Load that comes and goes by itself: requests a second from this second of each round on. */
const ROUND: readonly (readonly [second: number, arrivals: number])[] = [
  [0, 2],
  [60, 6],
  [100, 1],
]
const ROUND_SECONDS = 180

/** Turns a knob of the engine as a person types it: `arrivals 5`, `hung yes`, `restart`. @returns what was done, or how it is said. */
export function turn(engine: Engine, typed: string): string {
  const [name = '', text = ''] = typed.trim().split(/[\s=]+/)
  if (name === 'restart') {
    engine.restart()
    return 'restarted: its queue and its counts are gone'
  }
  const knobs = Object.keys(DEFAULT_KNOBS) as (keyof Knobs)[]
  const knob = knobs.find((one) => one === name)
  const amount = Number(text)
  const isSwitch = (one: keyof Knobs | undefined) => one !== undefined && typeof DEFAULT_KNOBS[one] === 'boolean'
  const value = isSwitch(knob) ? text === 'yes' : amount
  if (!knob || text === '' || (!isSwitch(knob) && !(amount >= 0 && Number.isFinite(amount)))) {
    const switches = knobs.filter(isSwitch).map((one) => `${one} yes, ${one} no`)
    const numbers = knobs.filter((one) => !isSwitch(one)).join(', ')
    return `may be restart, ${switches.join(', ')}, or one of ${numbers} and a number`
  }
  engine.change({ [knob]: value })
  return `${knob} ${text}`
}

/** Requests a second at this moment of the round. */
export function arrivalsAt(second: number): number {
  const at = second % ROUND_SECONDS
  return ROUND.findLast(([from]) => from <= at)?.[1] ?? DEFAULT_KNOBS.arrivals
}

/** `npm run simulate`: a vLLM server to play with, in real time, until stopped. */
async function main(portText = '8000'): Promise<void> {
  const started = Date.now()
  const engine = createEngine(started - PAST)
  const clock = { now: Date.now, pass() {}, sleep: async () => {} }
  const server = await serveVllm(engine, clock, Number(portText))
  console.log(`A simulated vLLM server: ${server.url}/metrics (16 requests at once, about 3.5 a second at most)`)
  console.log('In another terminal: npm run invoke -- vllm --every 10s')
  console.log('Its load rises and falls by itself. Or type what it shall do: arrivals 5, slowdown 3, hung yes, restart')
  let told: number | undefined
  const byItself = every(() => {
    const arrivals = arrivalsAt((Date.now() - started) / SECOND)
    engine.advance(Date.now())
    if (arrivals === told) return
    told = arrivals
    console.log(turn(engine, `arrivals ${arrivals}`))
  }, SECOND)
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    engine.advance(Date.now())
    const done = turn(engine, line)
    if (line.trim().startsWith('arrivals')) clearInterval(byItself)
    console.log(done)
  }
}

if (process.argv[1]?.endsWith('simulate.ts'))
  await main(process.argv[2]).catch((error: unknown) => {
    console.error(`npm run simulate -- <port>: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  })
