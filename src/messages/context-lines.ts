import { defined } from '../model/defined.ts'
import type { AlertContext, DerivedSignal, Notification } from '../model/notification.ts'
import { advice, ruleNamed } from '../rules/rules.ts'
import { mainSignal } from '../rules/snapshot.ts'
import type { Line } from './fit.ts'
import { factOf, isCanary, isCanaryRule, textsOf } from './sentence.ts'
import { sparkline } from './sparkline.ts'
import type { Catalogue, OtherNumbers } from './texts.ts'

/** Nothing is predicted further ahead than this. Minutes. */
const FORESEEN = 6 * 60

/** While it lasts: why, where it is heading, what else is known, what to do. */
export function contextLines(notifications: readonly Notification[], main: Notification, catalogue: Catalogue): Line[] {
  const { context } = main
  const lines: (Line | undefined)[] = []
  if (context && isOfEngine(main)) {
    lines.push(verdictLine(main, context, catalogue), ...trendLines(main, context, catalogue))
    lines.push(lineOf(catalogue.line.otherNumbers(otherNumbers(notifications, main, context)), 5))
    lines.push(lineOf(context.gpu && catalogue.line.gpu(context.gpu), 6))
  }
  lines.push(lineOf(context?.partlyOut && catalogue.line.partlyOut(context.partlyOut), 5))
  if (context?.canary && isCanaryRule(main)) {
    if (main.rule === 'canary') lines.push(lineOf(phasesLine(context, catalogue), 2))
    if (main.rule !== 'cold_load') lines.push(lineOf(catalogue.canary[context.canary.status], 5))
  }
  if (context) lines.push(lineOf(sparkOf(context, main, catalogue), 4))
  for (const [index, text] of todosOf(main, catalogue).entries()) lines.push(lineOf(text, index === 0 ? 1 : 4))
  const id = isCanaryRule(main) ? context?.canary?.requestId : undefined
  lines.push(lineOf(id && catalogue.line.requestId(id), 7))
  return lines.filter((line) => line !== undefined)
}

/** Only of the canary that waited: of one that got no answer the numbers are older. */
function phasesLine({ numbers }: AlertContext, catalogue: Catalogue): string | undefined {
  const { canary_wait: wait, canary_load: load, canary_prefill: prefill } = numbers
  const { canary_ttft: ttft, canary_decode: decode } = numbers
  return catalogue.line.phases(defined({ wait, load, prefill, ttft, decode }))
}

/** For rules about an engine's work the verdict, the trend and the other numbers say something. */
function isOfEngine({ rule }: Notification): boolean {
  const about = ruleNamed(rule)?.about
  return about === 'queue' || about === 'engine'
}

/** What the verdict or the server says to do, else what the rule says by itself. */
export function todosOf(main: Notification, catalogue: Catalogue): string[] {
  const pieces = advice(main)
  if (pieces.length > 0) return pieces.map((piece) => say(piece, catalogue))
  const todo = textsOf(main.rule, catalogue).todo?.(factOf(main, catalogue))
  return todo === undefined ? [] : [todo]
}

/** Once it is over: the numbers now, how they got there, and what is left to find out. */
export function contextLinesAfter(main: Notification, catalogue: Catalogue): Line[] {
  const { context } = main
  if (!context || main.reason === 'late') return []
  const beside = isOfEngine(main) ? catalogue.line.otherNumbers(otherNumbersAfter(main, context)) : undefined
  const todo = main.ended === 'restarted' ? say({ key: 'why-restarted' }, catalogue) : undefined
  return [lineOf(beside, 5), lineOf(sparkOf(context, main, catalogue), 4), lineOf(todo, 1)].filter(
    (l) => l !== undefined,
  )
}

function verdictLine(main: Notification, context: AlertContext, catalogue: Catalogue): Line | undefined {
  const { verdict, flow } = context
  if (!verdict) return flow && ruleNamed(main.rule)?.symptom ? lineOf(catalogue.line.flow(flow), 1) : undefined
  // Its sentence says it: an engine that hangs needs no second explanation, whatever else is true of the load.
  if (main.rule === 'stalled') return undefined
  // Its sentence says the same, or the first line does.
  if (main.held?.by === verdict.kind) return undefined
  if (verdict.kind === 'restarted') return undefined
  return { text: catalogue.verdicts[verdict.kind](verdict), rank: 1 }
}

function trendLines(main: Notification, context: AlertContext, catalogue: Catalogue): Line[] {
  const { waiting, kv_cache: kv } = context.numbers
  const drains = minutesTo(waiting, context.waitingPerMinute === undefined ? undefined : -context.waitingPerMinute)
  const isFull = context.verdict?.kind === 'cache-full' || (kv ?? 0) > 0.99
  const full = kv === undefined || isFull || hasRoomSaid(main) ? undefined : minutesTo(1 - kv, context.kvPerMinute)
  const { ruler, farQueue, waitingPerMinute } = context
  const far =
    farQueue === undefined || waiting === undefined ? undefined : minutesTo(farQueue - waiting, waitingPerMinute)
  return [
    lineOf(ruler && catalogue.line.ruler(ruler), 2),
    lineOf(far && farQueue && catalogue.line.reaches(farQueue, far), 3),
    lineOf(drains && catalogue.line.drains(drains), 3),
    lineOf(full && catalogue.line.kvFull(full), 3),
  ].filter((line) => line !== undefined)
}

/** Whether the advice says that the cache has room: next to it, "soon full" would contradict it. */
function hasRoomSaid(main: Notification): boolean {
  return advice(main).some((piece) => 'kv' in piece)
}

function minutesTo(distance: number | undefined, perMinute: number | undefined): number | undefined {
  if (distance === undefined || perMinute === undefined || distance <= 0 || perMinute <= 0) return undefined
  const minutes = distance / perMinute
  return minutes <= FORESEEN ? Math.max(minutes, 0.2) : undefined
}

/** The numbers that no line has told yet. When an engine makes no progress, those over the window describe the time before, so they are left out. */
function otherNumbers(
  notifications: readonly Notification[],
  main: Notification,
  { numbers, kvAt, atLeast, noProgress, window }: AlertContext,
): OtherNumbers {
  const told = new Set<DerivedSignal>(
    notifications.flatMap((one) => [one, ...(one.symptoms ?? [])]).flatMap(({ rule }) => ruleNamed(rule)?.tells ?? []),
  )
  if (notifications.length > 0 && hasRoomSaid(main)) told.add('kv_cache')
  const isStill = noProgress === true || (main.rule === 'stalled' && notifications.length > 0)
  const untold = (name: DerivedSignal) => (told.has(name) ? undefined : numbers[name])
  const untoldOfWindow = (name: DerivedSignal) => (isStill ? undefined : untold(name))
  return defined({
    waiting: untold('waiting'),
    running: untold('running'),
    kvCache: untold('kv_cache'),
    kvAt: untold('kv_cache') === undefined ? undefined : kvAt,
    window,
    queueWait: untoldOfWindow('queue_wait'),
    ttft: untoldOfWindow('ttft_p99'),
    ttftAtLeast: atLeast?.includes('ttft_p99') || undefined,
    tokensPerSecond: untoldOfWindow('tokens_per_second'),
    failedShare: untoldOfWindow('failed_share') || undefined,
  })
}

/** What is over the window still includes the trouble that is over, so only the rule's own number, known to be clear, is told. */
function otherNumbersAfter(main: Notification, context: AlertContext): OtherNumbers {
  const { queueWait, ttft, ttftAtLeast: _, tokensPerSecond, failedShare, ...now } = otherNumbers([], main, context)
  const own = ruleNamed(main.rule)?.tells ?? []
  return defined({
    ...now,
    queueWait: own.includes('queue_wait') ? queueWait : undefined,
    ttft: own.includes('ttft_p99') ? ttft : undefined,
    tokensPerSecond: own.includes('tokens_per_second') ? tokensPerSecond : undefined,
    failedShare: own.includes('failed_share') ? failedShare : undefined,
  })
}

/** The sparkline of the endpoint's main signal: the queue; the wait of a canary; the memory of a GPU; a gateway's KV cache. */
function sparkOf(context: AlertContext, main: Notification, catalogue: Catalogue): string | undefined {
  const drawn = sparkline(context.spark ?? [])
  if (!drawn || context.backend === 'heartbeat-check') return undefined
  // The memory of the fullest GPU says nothing about another one's heat or error.
  if (context.backend === 'dcgm' && main.rule !== 'gpu_memory') return undefined
  const { format, line } = catalogue
  const isWait = isCanary(main)
  const shown = mainSignal(context.backend)
  const isShare = shown === 'gpu_memory' || shown === 'kv_cache'
  // Requests at once, or a second: there is no queue that the curve could be of.
  if (!isWait && !isShare && shown !== 'waiting') return undefined
  const write = isWait ? format.seconds : isShare ? format.percent : format.count
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
  // It rose and fell again: the two ends alone would look as if nothing had happened.
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
