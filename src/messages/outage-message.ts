import type { Failure } from '../model/failure.ts'
import type { Catalogue } from './catalogue.ts'
import { say } from './context-lines.ts'
import { type Draft, fitTitle, type Line } from './fit.ts'
import { downBefore } from './group.ts'
import { cutText } from './outside-text.ts'
import type { Facts } from './sanitize.ts'
import { isCanary, lengthOf } from './sentence.ts'

/** Causes that the watcher's own network can have. */
const NETWORK: readonly Failure['kind'][] = ['unreachable', 'name-not-found', 'timeout', 'tls', 'other']
const NAMES = 300

/** All endpoints of the function at once, with one cause: one message, and the suspicion falls on the watcher's own side. */
export function together(facts: Facts, catalogue: Catalogue, now: number): Draft {
  const [first] = facts.body
  const [named] = facts.title
  if (first === undefined || named === undefined) return { title: '', lines: [] }
  const names = [...new Set(facts.body.map((note) => note.endpoint ?? ''))]
  const all = names.length + downBefore(first)
  const { line, title, numbers } = catalogue
  const list: Line = { text: cutText(names.join(', '), NAMES), rank: 3 }
  const maybe: Line[] = facts.body.some((note) => note.maybeSent) ? [{ text: line.maybeSent, rank: 2 }] : []
  if (first.reason === 'resolved') {
    return {
      title: fitTitle('✅', title.allUp(all), undefined, undefined),
      lines: [{ text: line.allUp(numbers.lasted(Math.max(...facts.body.map(lengthOf)))), rank: 0 }, list, ...maybe],
    }
  }
  const failure = first.failure ?? { kind: 'other' as const }
  const texts = catalogue.failures[failure.kind]
  const isNetwork = NETWORK.includes(failure.kind)
  const isAway = isNetwork || failure.kind === 'refused' || failure.kind === 'cut'
  const headline = isAway
    ? title.allDown(all)
    : title.allFail(all, texts.headline(named.failure ?? failure, isCanary(first)))
  const todo = isNetwork ? say({ key: 'own-network' }, catalogue) : texts.todo(failure, isCanary(first))
  const cause = line.allDown(texts.words(failure, isCanary(first)), numbers.clock(first.firedAt, now))
  return {
    title: fitTitle('📡', headline, undefined, undefined),
    lines: [{ text: cause, rank: 0 }, { text: todo, rank: 1 }, list, ...maybe],
  }
}
