import { prefixOf } from '../model/backend.ts'
import type { Failure } from '../model/failure.ts'
import { say } from './context-lines.ts'
import { cutText, type Draft, fitTitle, type Line } from './fit.ts'
import { downBefore } from './group.ts'
import type { Sanitized } from './sanitize.ts'
import { isCanary, lengthOf } from './sentence.ts'
import type { Catalogue } from './texts.ts'

/** Causes that may lie in the watcher's own network. */
const NETWORK: readonly Failure['kind'][] = ['unreachable', 'name-not-found', 'timeout', 'tls', 'other']
const NAMES = 300

/** The one message of an outage: all endpoints of the function at once, so that the fault may well be on the watcher's own side. */
export function outageMessage(sanitized: Sanitized, catalogue: Catalogue, now: number): Draft {
  const [first] = sanitized.body
  const [named] = sanitized.title
  if (first === undefined || named === undefined) return { title: '', lines: [] }
  const names = [...new Set(sanitized.body.map(({ endpoint }) => endpoint ?? ''))]
  const all = names.length + downBefore(first)
  const { line, title, format } = catalogue
  const list: Line = { text: cutText(names.join(', '), NAMES), rank: 3 }
  const maybe: Line[] = sanitized.body.some(({ maybeSent }) => maybeSent) ? [{ text: line.maybeSent, rank: 2 }] : []
  if (first.reason === 'resolved') {
    return {
      title: fitTitle('✅', title.allUp(all)),
      lines: [{ text: line.allUp(format.lasted(Math.max(...sanitized.body.map(lengthOf)))), rank: 0 }, list, ...maybe],
    }
  }
  const failure = first.failure ?? { kind: 'other' as const }
  const texts = catalogue.failures[failure.kind]
  const isNetwork = NETWORK.includes(failure.kind)
  const isAway = isNetwork || failure.kind === 'refused' || failure.kind === 'cut'
  const headline = isAway
    ? title.allDown(all)
    : title.allFail(all, texts.headline(named.failure ?? failure, isCanary(first)))
  const todo = isNetwork
    ? say({ key: 'own-network' }, catalogue)
    : texts.todo(failure, isCanary(first), first.context && prefixOf(first.context.backend))
  const cause = line.allDown(texts.words(failure, isCanary(first)), format.clock(first.firedAt, now))
  return {
    title: fitTitle('📡', headline),
    lines: [{ text: cause, rank: 0 }, { text: todo, rank: 1 }, list, ...maybe],
  }
}
