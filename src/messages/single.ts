import type { Notification, Scene } from '../state/notification.ts'
import { advice } from '../verdict/advice.ts'
import type { Catalogue, Context } from './catalogue.ts'
import type { Facts } from './clean.ts'
import { type Draft, fitTitle, type Line } from './fit.ts'
import { isOver } from './group.ts'
import { detailOf, headlineOf, lengthOf, nowOf } from './sentence.ts'
import { sparkline } from './sparkline.ts'

/** Rules about an engine's work: for these the verdict, the trend and the numbers beside them say something. */
const ENGINE: readonly string[] = [
  'waiting',
  'inflight',
  'growth',
  'queue_wait',
  'kv_cache',
  'ttft',
  'itl',
  'prefix_hits',
  'throughput',
  'stalled',
  'errors',
  'preemptions',
  'sibling',
]
/** Rules whose first line is the queue itself. */
const QUEUE: readonly string[] = ['waiting', 'inflight', 'growth', 'queue_wait']
/** A push this much after its facts says as of when they are. Milliseconds. */
const LATE = 3 * 60_000
/** Predictions further away than this are not made. Minutes. */
const FORESEEN = 6 * 60

/** The message of one endpoint, or of the watcher itself. Facts come worst first. */
export function ofOne(facts: Facts, catalogue: Catalogue, now: number): Draft {
  const [main, ...others] = facts.body
  const [named] = facts.title
  if (main === undefined || named === undefined) return { title: '', lines: [] }
  const first = isOver(main) ? overLines(main, catalogue, now) : nowLines(main, catalogue, now)
  const beside = others.map((note, index) => ({ text: besideLine(note, catalogue, now), rank: index < 3 ? 1 : 5 }))
  const rest = isOver(main) ? afterwards(main, catalogue) : meanwhile(facts.body, main, catalogue)
  const repeated = facts.body.some((note) => note.maybeSent === true)
  const maybe: Line[] = repeated ? [{ text: catalogue.line.maybeSent, rank: 2 }] : []
  return { title: titleOf(named, catalogue), lines: [...first, ...beside, ...rest, ...address(main), ...maybe] }
}

function titleOf(note: Notification, catalogue: Catalogue): string {
  const rule = catalogue.rules[note.rule]
  const headline = headlineOf(note, catalogue)
  const place = note.endpoint ?? note.scene?.backend
  const inBrackets = note.subject === undefined ? note.scene?.model : shortGpu(note.subject)
  const titled = (sign: string, text: string) => fitTitle(sign, text, place, inBrackets)
  switch (note.reason) {
    case 'fired':
    case 'told-once':
      return titled(rule.sign, headline)
    case 'repeated':
      return titled(rule.sign, catalogue.title.repeated(headline, catalogue.numbers.lasted(note.at - note.firedAt)))
    case 'late':
      return titled('🕓', catalogue.title.late(headline))
    case 'resolved':
      if (note.ended === 'restarted') return titled('🔄', catalogue.title.restarted(headline))
      if (note.ended === 'idle') return titled('💤', catalogue.title.idle(headline))
      return titled('✅', rule.over)
    default:
      return note.reason satisfies never
  }
}

/** `GPU-5fd4f087` of a UUID is enough for a title; the body has it whole. */
function shortGpu(subject: string): string {
  return subject.replace(/^((?:GPU|MIG)-[0-9a-f]{8})-[0-9a-f-]{27}/, '$1')
}

/** What is wrong, what it means for people, and the server's own words. */
function nowLines(note: Notification, catalogue: Catalogue, now: number): Line[] {
  const { line, numbers } = catalogue
  const since = note.reason === 'repeated' ? line.since(numbers.clock(note.firedAt, now)) : undefined
  const asOf = now - note.at >= LATE ? line.asOf(numbers.clock(note.at, now)) : undefined
  const text = [nowOf(note, catalogue), impact(note, catalogue), since, asOf]
    .filter((part) => part !== undefined)
    .join(' ')
  const words =
    note.failure?.detail ?? note.beat?.failed?.body ?? (isCanaryRule(note) ? note.scene?.canary?.detail : undefined)
  return [
    { text, rank: 0 },
    ...(words === undefined ? [] : [{ text: line.says(note.beat ? 'worker' : 'server', words), rank: 3 }]),
  ]
}

function impact(note: Notification, catalogue: Catalogue): string | undefined {
  const { scene, rule } = note
  const waiting = scene?.numbers.waiting
  if (!scene || !waiting || waiting < 1 || !(QUEUE.includes(rule) || rule === 'ttft' || rule === 'kv_cache'))
    return undefined
  const finishing = scene.numbers.requests_per_second
  if (scene.noProgress || finishing === 0) return catalogue.line.noneFinishes
  if (finishing === undefined || finishing < 0) return undefined
  const seconds = waiting / finishing
  return seconds >= 1 && seconds < 86_400 ? catalogue.line.newRequestWaits(seconds) : undefined
}

function overLines(note: Notification, catalogue: Catalogue, now: number): Line[] {
  const { line, numbers } = catalogue
  const detail = detailOf(note, catalogue)
  const ended = note.endedAt ?? note.at
  const lasted = lengthOf(note)
  if (note.reason === 'late') {
    return [{ text: line.was(numbers.clock(note.firedAt, now), numbers.clock(ended, now), lasted, detail), rank: 0 }]
  }
  const how = note.ended === undefined ? undefined : line.ended[note.ended]
  const headline = headlineOf(note, catalogue)
  const what = note.subject === undefined ? headline : line.subject(note.subject, headline)
  return [{ text: line.lasted(what, lasted, detail), rank: 0 }, ...(how === undefined ? [] : [{ text: how, rank: 1 }])]
}

/** Another rule of the same endpoint, in one line. */
export function besideLine(note: Notification, catalogue: Catalogue, now: number): string {
  const { line, numbers, rules } = catalogue
  if (note.reason === 'resolved') return line.over(rules[note.rule].over, lengthOf(note))
  if (note.reason === 'late') {
    const ended = note.endedAt ?? note.at
    return line.lateLine(headlineOf(note, catalogue), numbers.clock(note.firedAt, now), numbers.clock(ended, now))
  }
  return `${rules[note.rule].sign} ${nowOf(note, catalogue)}`
}

/** Why, whereto, what else, what to do. */
function meanwhile(notes: readonly Notification[], main: Notification, catalogue: Catalogue): Line[] {
  const { scene } = main
  const lines: (Line | undefined)[] = []
  if (scene && ENGINE.includes(main.rule)) {
    lines.push(verdictLine(main, scene, catalogue), ...trendLines(scene, catalogue))
    lines.push(lineOf(catalogue.line.context(contextOf(notes, main, scene)), 5))
    lines.push(lineOf(scene.gpu && catalogue.line.gpu(scene.gpu), 6))
  }
  if (scene?.canary && isCanaryRule(main)) {
    if (main.rule !== 'cold_load') lines.push(lineOf(catalogue.canary[scene.canary.status], 5))
    lines.push(lineOf(scene.canary.requestId && catalogue.line.requestId(scene.canary.requestId), 7))
  }
  if (scene) lines.push(lineOf(sparkOf(scene, main, catalogue), 4))
  for (const [index, piece] of advice(main).entries()) lines.push(lineOf(say(piece, catalogue), index === 0 ? 1 : 4))
  return lines.filter((line) => line !== undefined)
}

/** After the end: how the numbers are now, how they went, and what is left to find out. */
function afterwards(main: Notification, catalogue: Catalogue): Line[] {
  const { scene } = main
  if (!scene || main.reason === 'late') return []
  const context = ENGINE.includes(main.rule) ? catalogue.line.context(contextOf([], main, scene)) : undefined
  const todo = main.ended === 'restarted' ? say({ key: 'why-restarted' }, catalogue) : undefined
  return [lineOf(context, 5), lineOf(sparkOf(scene, main, catalogue), 4), lineOf(todo, 1)].filter(
    (l) => l !== undefined,
  )
}

function verdictLine(main: Notification, scene: Scene, catalogue: Catalogue): Line | undefined {
  const { verdict } = scene
  if (!verdict || (main.rule === 'stalled' && verdict.kind === 'stalled')) return undefined
  return { text: catalogue.verdicts[verdict.kind](verdict, { restarted: scene.restarted === true }), rank: 1 }
}

function trendLines(scene: Scene, catalogue: Catalogue): Line[] {
  const { waiting, kv_cache: kv } = scene.numbers
  const drains = minutesTo(waiting, scene.waitingPerMinute === undefined ? undefined : -scene.waitingPerMinute)
  const isFull = scene.verdict?.kind === 'cache-full' || (kv ?? 0) > 0.99
  const full = kv === undefined || isFull ? undefined : minutesTo(1 - kv, scene.kvPerMinute)
  return [lineOf(drains && catalogue.line.drains(drains), 3), lineOf(full && catalogue.line.kvFull(full), 3)].filter(
    (line) => line !== undefined,
  )
}

function minutesTo(distance: number | undefined, perMinute: number | undefined): number | undefined {
  if (distance === undefined || perMinute === undefined || distance <= 0 || perMinute <= 0) return undefined
  const minutes = distance / perMinute
  return minutes <= FORESEEN ? Math.max(minutes, 0.2) : undefined
}

/** The numbers that no line has told yet. */
function contextOf(notes: readonly Notification[], main: Notification, scene: Scene): Context {
  const told = new Set<string>(notes.map((note) => note.rule))
  if (notes.length > 0 && advice(main).some((piece) => 'kv' in piece)) told.add('kv_cache')
  const { numbers } = scene
  const isQueueTold = ['waiting', 'inflight', 'stalled'].some((id) => told.has(id))
  const all: Context = {
    ...(isQueueTold || told.has('growth') ? {} : pick('waiting', numbers.waiting)),
    ...(isQueueTold || told.has('throughput') ? {} : pick('running', numbers.running)),
    ...(told.has('kv_cache') ? {} : pick('kvCache', numbers.kv_cache)),
    ...(told.has('kv_cache') || numbers.kv_cache === undefined ? {} : pick('kvAt', scene.kvAt)),
    ...(told.has('queue_wait') ? {} : pick('queueWait', numbers.queue_wait)),
    ...(told.has('ttft') ? {} : pick('ttft', numbers.ttft_p99)),
    ...(scene.atLeast?.includes('ttft_p99') ? { ttftAtLeast: true } : {}),
    ...(told.has('throughput') ? {} : pick('tokensPerSecond', numbers.tokens_per_second)),
    ...(told.has('errors') || !numbers.failed_share ? {} : pick('failedShare', numbers.failed_share)),
  }
  return main.rule === 'stalled' ? { ...pick('kvCache', all.kvCache), ...pick('kvAt', all.kvAt) } : all
}

function pick<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]?: V })
}

/** The line of the endpoint's main signal: the queue; the wait of a canary; the memory of a GPU. */
function sparkOf(scene: Scene, main: Notification, catalogue: Catalogue): string | undefined {
  const drawn = sparkline(scene.spark ?? [])
  if (!drawn || scene.backend === 'heartbeat-check') return undefined
  const { numbers, line } = catalogue
  const isWait = scene.backend === 'ollama' || scene.backend === 'openai'
  const isShare = scene.backend === 'dcgm' || (scene.backend === 'gateway' && drawn.first <= 1 && drawn.last <= 1)
  const write = isWait ? numbers.seconds : isShare ? numbers.percent : numbers.count
  const name = isWait
    ? line.sparkOf.wait
    : scene.backend === 'dcgm'
      ? line.sparkOf.memory
      : isShare
        ? 'KV'
        : line.sparkOf.queue
  const isSaid = isWait ? main.rule === 'canary' : QUEUE.includes(main.rule)
  return line.spark(drawn.bars, write(drawn.first), write(drawn.last), scene.sparkMinutes, isSaid ? undefined : name)
}

function address(main: Notification): Line[] {
  return main.scene?.url === undefined || main.scene.url === '' ? [] : [{ text: main.scene.url, rank: 2 }]
}

export function say<P extends ReturnType<typeof advice>[number]>(piece: P, catalogue: Catalogue): string {
  const text = catalogue.advice[piece.key] as (piece: P) => string
  return text(piece)
}

function isCanaryRule(note: Notification): boolean {
  return ['canary', 'busy', 'cold_load', 'blind', 'down'].includes(note.rule)
}

function lineOf(text: string | undefined | 0 | '', rank: number): Line | undefined {
  return text ? { text, rank } : undefined
}
