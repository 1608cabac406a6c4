import type { PageConfig } from '../config/page.ts'
import { changeState } from '../state/change.ts'
import { nextAt } from '../state/maintenance.ts'
import { endpointsOf, firingAt, press } from './act.ts'
import { actPage, CHOICES, type Choice, type Done } from './act-page.ts'
import { ALWAYS, HTML, MOST_BODY, nothing, type PageAnswer, type PageRequest, say } from './exchange.ts'
import { type PageParts, readerOf, viewOf } from './parts.ts'
import { type LoadedState, loadOne, type Owner, ownerOf } from './states.ts'
import type { Claim } from './tokens.ts'

/** What can be done, and what holds now. Changes nothing. */
export async function showChoices(claim: Claim, parts: PageParts): Promise<PageAnswer> {
  const owner = ownerOf(claim.function)
  const loaded = owner && (await loadOne(parts.store, owner))
  return loaded ? say(200, HTML, choicesPage(loaded, claim, parts)) : nothing()
}

/** Does it, and says what holds then. */
export async function choose(request: PageRequest, claim: Claim, token: string, parts: PageParts): Promise<PageAnswer> {
  const owner = ownerOf(claim.function)
  if (!owner) return nothing()
  if (isForeign(request, parts.config)) return { status: 403, headers: { ...ALWAYS }, body: '' }
  if (request.bodyTooLarge || Buffer.byteLength(request.body) > MOST_BODY) {
    return { status: 413, headers: { ...ALWAYS }, body: '' }
  }
  const wanted = new URLSearchParams(request.body).get('do')
  const choice = CHOICES.find((one) => one === wanted)
  const done = choice ? await write(choice, claim, token, owner, parts) : ({ kind: 'unknown' } as const)
  // A browser is sent back to the page, which says what holds: its back button then never asks to send a form again.
  if (request.headers['sec-fetch-mode'] === 'navigate' && done.kind !== 'unknown' && done.kind !== 'failed') {
    return { status: 303, headers: { ...ALWAYS, location: request.path.split('/').at(-1) ?? '' }, body: '' }
  }
  const loaded = await loadOne(parts.store, owner)
  if (!loaded) return nothing()
  const status = done.kind === 'unknown' ? 400 : done.kind === 'failed' ? 503 : 200
  return say(status, HTML, choicesPage(loaded, claim, parts, done))
}

/**
 * A page of somebody else may not press for a reader who only opened it. Browsers send `null` from our own form, since
 * it passes no address on; what is no browser sends nothing.
 */
function isForeign({ headers }: PageRequest, { url }: PageConfig): boolean {
  if (headers['sec-fetch-site'] === 'cross-site') return true
  const { origin, host } = headers
  if (origin === undefined || origin === 'null') return false
  if (url !== undefined && origin === new URL(url).origin) return false
  return !URL.canParse(origin) || new URL(origin).host !== host
}

async function write(choice: Choice, claim: Claim, token: string, owner: Owner, parts: PageParts): Promise<Done> {
  const { store, now, config } = parts
  const incidents = claim.subject.split('\n')
  const morning = nextAt(MORNING, now, config.timezone)
  const by = { choice, incidents, name: owner.name, link: token.slice(-12), now, morning }
  let done: Done = { kind: 'failed' }
  try {
    const changed = await changeState(store, `${owner.name}.json`, (state) => {
      const pressed = press(state, by)
      done = pressed.done
      return pressed.state
    })
    return changed.kind === 'changed' ? done : { kind: 'failed' }
  } catch {
    return { kind: 'failed' }
  }
}

const MORNING = 9

/** @param done what a press has come to. */
function choicesPage(loaded: LoadedState, claim: Claim, parts: PageParts, done?: Done): string {
  const incidents = claim.subject.split('\n')
  const names = endpointsOf(incidents)
  const all = viewOf([loaded], parts)
  const view = {
    ...all,
    functions: all.functions.map((one) => ({
      ...one,
      endpoints: one.endpoints.filter(({ name }) => names.includes(name)),
    })),
  }
  const lasts =
    'state' in loaded &&
    names.some((name) => firingAt(loaded.state, name).some((incident) => incidents.includes(incident)))
  const morning = nextAt(MORNING, parts.now, parts.config.timezone)
  return actPage(view, names, { morning, lasts, ...(done ? { done } : {}) }, readerOf(parts))
}
