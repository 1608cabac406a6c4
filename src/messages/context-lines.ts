import type { AlertContext, DerivedSignal, Notification } from '../model/notification.ts'
import { advice, ruleNamed } from '../rules/rules.ts'
import type { Catalogue, Context } from './catalogue.ts'
import type { Line } from './fit.ts'
import { factOf, isCanaryRule, textsOf } from './sentence.ts'
import { sparkline } from './sparkline.ts'

/** Predictions further away than this are not made. Minutes. */
const FORESEEN = 6 * 60

/** Why, whereto, what else, what to do. */
export function meanwhile(notes: readonly Notification[], main: Notification, catalogue: Catalogue): Line[] {
  const { context } = main
  const lines: (Line | undefined)[] = []
  if (context && isOfEngine(main)) {
    lines.push(verdictLine(main, context, catalogue), ...trendLines(main, context, catalogue))
    lines.push(lineOf(catalogue.line.context(contextOf(notes, main, context)), 5))
    lines.push(lineOf(context.gpu && catalogue.line.gpu(context.gpu), 6))
  }
  if (context?.canary && isCanaryRule(main)) {
    if (main.rule !== 'cold_load') lines.push(lineOf(catalogue.canary[context.canary.status], 5))
    lines.push(lineOf(context.canary.requestId && catalogue.line.requestId(context.canary.requestId), 7))
  }
  if (context) lines.push(lineOf(sparkOf(context, main, catalogue), 4))
  for (const [index, text] of todosOf(main, catalogue).entries()) lines.push(lineOf(text, index === 0 ? 1 : 4))
  return lines.filter((line) => line !== undefined)
}

/** For rules about an engine's work the verdict, the trend and the numbers beside them say something. */
function isOfEngine({ rule }: Notification): boolean {
  const about = ruleNamed(rule)?.about
  return about === 'queue' || about === 'engine'
}

/** What verdict or server say to do, else what the rule says by itself. */
export function todosOf(main: Notification, catalogue: Catalogue): string[] {
  const pieces = advice(main)
  if (pieces.length > 0) return pieces.map((piece) => say(piece, catalogue))
  const todo = textsOf(main.rule, catalogue).todo?.(factOf(main, catalogue))
  return todo === undefined ? [] : [todo]
}

/** After the end: how the numbers are now, how they went, and what is left to find out. */
export function afterwards(main: Notification, catalogue: Catalogue): Line[] {
  const { context } = main
  if (!context || main.reason === 'late') return []
  const beside = isOfEngine(main) ? catalogue.line.context(contextAfter(main, context)) : undefined
  const todo = main.ended === 'restarted' ? say({ key: 'why-restarted' }, catalogue) : undefined
  return [lineOf(beside, 5), lineOf(sparkOf(context, main, catalogue), 4), lineOf(todo, 1)].filter(
    (l) => l !== undefined,
  )
}

function verdictLine(main: Notification, context: AlertContext, catalogue: Catalogue): Line | undefined {
  const { verdict } = context
  if (!verdict || (main.rule === 'stalled' && verdict.kind === 'stalled')) return undefined
  return { text: catalogue.verdicts[verdict.kind](verdict, { restarted: context.restarted === true }), rank: 1 }
}

function trendLines(main: Notification, context: AlertContext, catalogue: Catalogue): Line[] {
  const { waiting, kv_cache: kv } = context.numbers
  const drains = minutesTo(waiting, context.waitingPerMinute === undefined ? undefined : -context.waitingPerMinute)
  const isFull = context.verdict?.kind === 'cache-full' || (kv ?? 0) > 0.99
  const full = kv === undefined || isFull || hasRoomSaid(main) ? undefined : minutesTo(1 - kv, context.kvPerMinute)
  return [lineOf(drains && catalogue.line.drains(drains), 3), lineOf(full && catalogue.line.kvFull(full), 3)].filter(
    (line) => line !== undefined,
  )
}

/** Advice that the cache has room: beside it, "soon full" would be the opposite. */
function hasRoomSaid(main: Notification): boolean {
  return advice(main).some((piece) => 'kv' in piece)
}

function minutesTo(distance: number | undefined, perMinute: number | undefined): number | undefined {
  if (distance === undefined || perMinute === undefined || distance <= 0 || perMinute <= 0) return undefined
  const minutes = distance / perMinute
  return minutes <= FORESEEN ? Math.max(minutes, 0.2) : undefined
}

/** The numbers that no line has told yet. Of an engine that stands still, those of the window are of the time before. */
function contextOf(notes: readonly Notification[], main: Notification, context: AlertContext): Context {
  const told = new Set<DerivedSignal>(notes.flatMap(({ rule }) => ruleNamed(rule)?.tells ?? []))
  if (notes.length > 0 && hasRoomSaid(main)) told.add('kv_cache')
  const { numbers } = context
  const isStill = context.noProgress === true || (main.rule === 'stalled' && notes.length > 0)
  return {
    ...(told.has('waiting') ? {} : pick('waiting', numbers.waiting)),
    ...(told.has('running') ? {} : pick('running', numbers.running)),
    ...(told.has('kv_cache') ? {} : pick('kvCache', numbers.kv_cache)),
    ...(told.has('kv_cache') || numbers.kv_cache === undefined ? {} : pick('kvAt', context.kvAt)),
    ...(isStill || told.has('queue_wait') ? {} : pick('queueWait', numbers.queue_wait)),
    ...(isStill || told.has('ttft_p99') ? {} : pick('ttft', numbers.ttft_p99)),
    ...(context.atLeast?.includes('ttft_p99') ? { ttftAtLeast: true } : {}),
    ...(isStill || told.has('tokens_per_second') ? {} : pick('tokensPerSecond', numbers.tokens_per_second)),
    ...(isStill || told.has('failed_share') || !numbers.failed_share ? {} : pick('failedShare', numbers.failed_share)),
  }
}

/** Over the window, waits and failures are still those of the trouble that is over: all but the rule's own, which is clear. */
function contextAfter(main: Notification, context: AlertContext): Context {
  const { queueWait, ttft, ttftAtLeast: _, failedShare, ...now } = contextOf([], main, context)
  const own = ruleNamed(main.rule)?.tells ?? []
  return {
    ...now,
    ...(own.includes('queue_wait') ? pick('queueWait', queueWait) : {}),
    ...(own.includes('ttft_p99') ? pick('ttft', ttft) : {}),
    ...(own.includes('failed_share') ? pick('failedShare', failedShare) : {}),
  }
}

function pick<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]?: V })
}

/** The line of the endpoint's main signal: the queue; the wait of a canary; the memory of a GPU; a gateway's KV cache. */
function sparkOf(context: AlertContext, main: Notification, catalogue: Catalogue): string | undefined {
  const drawn = sparkline(context.spark ?? [])
  if (!drawn || context.backend === 'heartbeat-check') return undefined
  // The memory of the fullest GPU says nothing of another's heat or error.
  if (context.backend === 'dcgm' && main.rule !== 'gpu_memory') return undefined
  const { numbers, line } = catalogue
  const isWait = context.backend === 'ollama' || context.backend === 'openai'
  const isShare = context.backend === 'dcgm' || context.backend === 'gateway'
  const write = isWait ? numbers.seconds : isShare ? numbers.percent : numbers.count
  const name = isWait
    ? line.sparkOf.wait
    : context.backend === 'dcgm'
      ? line.sparkOf.memory
      : isShare
        ? 'KV'
        : line.sparkOf.queue
  const isSaid = isWait
    ? main.rule === 'canary'
    : isShare
      ? main.rule === 'gpu_memory'
      : ruleNamed(main.rule)?.about === 'queue'
  // Up and down again: both ends alone would say that nothing was.
  const over = drawn.top >= 2 * Math.max(drawn.first, drawn.last) && drawn.top > 0
  const begin = over ? `${write(drawn.first)} → ${write(drawn.top)}` : write(drawn.first)
  return line.spark(drawn.bars, begin, write(drawn.last), context.sparkMinutes, isSaid ? undefined : name)
}

export function say<P extends ReturnType<typeof advice>[number]>(piece: P, catalogue: Catalogue): string {
  const text = catalogue.advice[piece.key] as (piece: P) => string
  return text(piece)
}

function lineOf(text: string | undefined | 0 | '', rank: number): Line | undefined {
  return text ? { text, rank } : undefined
}
