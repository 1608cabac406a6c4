import { specOf } from '../rules/rules.ts'
import { candidatesOf, isTeachable } from './candidates.ts'
import { type Firing, firingsAt, longestStay, type Spread, type Surveyed, spreadOf } from './survey.ts'

/** What the past says about one rule's limit. */
export interface Suggestion {
  rule: string
  /** The limit that the configuration has; absent: the rule is off. */
  limit?: number
  spread: Spread
  /** Beyond the limit that holds now, else beyond the suggested one. Milliseconds. */
  longest: number
  /** Candidate limits, ascending, and how many incidents each would have told. */
  tried: { limit: number; incidents: number }[]
  /** The smallest with few enough incidents; absent: none of the candidates is. */
  suggested?: number
}

/** Work does not get through: however many of them fire, it is one trouble. */
function isSymptom(rule: string): boolean {
  return specOf(rule).symptom === true
}

interface Tried {
  surveyed: Surveyed
  spread: Spread
  candidates: { limit: number; firings: Firing[]; incidents: number }[]
  /** Place in `candidates`. */
  chosen: number
}

/** A limit below it would be passed for more than a tenth of all time: that is how the server is, and no trouble. */
const USUAL = 'p90'

/**
 * For each rule the smallest limit that fires at most `allowed` times in the recording, all endpoints together. A
 * symptom that joins the incident of a rule whose limit no past can teach (`stalled`) adds none. The symptoms of one
 * trouble are one incident, so all together they may tell no more either: limits rise until they agree about which
 * troubles are worth telling.
 * @param isOn whether the configuration has the rule on.
 */
export function suggest(survey: readonly Surveyed[], allowed: number, isOn: (rule: string) => boolean): Suggestion[] {
  const fixed = survey.filter(({ rule }) => !isTeachable(rule.id) && isSymptom(rule.id)).flatMap(({ fired }) => fired)
  const tried = survey.flatMap((surveyed) => tryLimits(surveyed, fixed, allowed) ?? [])
  const symptoms = tried.filter(({ surveyed }) => isSymptom(surveyed.rule.id) && isOn(surveyed.rule.id))
  agree(symptoms, fixed, allowed)
  return tried.map((one) => suggestionOf(one, isOn))
}

function tryLimits(surveyed: Surveyed, fixed: readonly Firing[], allowed: number): Tried | undefined {
  const { rule } = surveyed
  const spread = isTeachable(rule.id) ? spreadOf(surveyed) : undefined
  if (!spread) return undefined
  const all = candidatesOf(rule.id, rule.unit)
  // One beyond the highest is enough: no limit above it ever fires.
  const last = all.findIndex((limit) => limit > spread.highest)
  const isJoined = isSymptom(rule.id)
  const candidates = (last < 0 ? all : all.slice(0, last + 1)).map((limit) => {
    const firings = firingsAt(surveyed, limit)
    return { limit, firings, incidents: isJoined ? ownIncidents(firings, fixed) : firings.length }
  })
  const first = candidates.findIndex(({ limit, incidents }) => limit >= spread[USUAL] && incidents <= allowed)
  return { surveyed, spread, candidates, chosen: first < 0 ? candidates.length : first }
}

/** Raises limits, the one that saves most for its steps first, until the symptoms tell no more than allowed. */
function agree(symptoms: readonly Tried[], fixed: readonly Firing[], allowed: number): void {
  const count = () =>
    ownIncidents(
      symptoms.flatMap(({ candidates, chosen }) => candidates[chosen]?.firings ?? []),
      fixed,
    )
  for (let now = count(); now > allowed; now = count()) {
    let best: { one: Tried; to: number; saved: number } | undefined
    for (const one of symptoms) {
      const from = one.chosen
      for (let to = from + 1; to < one.candidates.length; to += 1) {
        one.chosen = to
        const saved = (now - count()) / (to - from)
        if (saved > (best?.saved ?? 0)) best = { one, to, saved }
      }
      one.chosen = from
    }
    if (!best) return
    best.one.chosen = best.to
  }
}

/** How many incidents there are, endpoint by endpoint, that no fixed rule would tell anyway. */
function ownIncidents(firings: readonly Firing[], fixed: readonly Firing[]): number {
  const all = [
    ...firings.map((one) => ({ ...one, isFixed: false })),
    ...fixed.map((one) => ({ ...one, isFixed: true })),
  ]
  const byEndpoint = new Map<string, typeof all>()
  for (const one of all) byEndpoint.set(one.endpoint, [...(byEndpoint.get(one.endpoint) ?? []), one])
  let count = 0
  for (const ofOne of byEndpoint.values()) {
    let end = Number.NEGATIVE_INFINITY
    let isOwn = false
    for (const { from, to, isFixed } of ofOne.sort((a, b) => a.from - b.from)) {
      if (from > end) {
        count += isOwn ? 1 : 0
        isOwn = true
      }
      if (isFixed) isOwn = false
      end = Math.max(end, to)
    }
    count += isOwn ? 1 : 0
  }
  return count
}

function suggestionOf({ surveyed, spread, candidates, chosen }: Tried, isOn: (rule: string) => boolean): Suggestion {
  const { rule } = surveyed
  const suggested = candidates[chosen]?.limit
  const limit = isOn(rule.id) ? rule.limit : undefined
  const stay = limit ?? suggested ?? specOf(rule.id).limit ?? Number.POSITIVE_INFINITY
  return {
    rule: rule.id,
    spread,
    longest: longestStay(surveyed, stay),
    tried: candidates.map(({ limit, incidents }) => ({ limit, incidents })),
    ...(limit !== undefined && { limit }),
    ...(suggested !== undefined && { suggested }),
  }
}
