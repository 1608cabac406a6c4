import { parseDuration } from '../config/duration.ts'
import { environmentOf } from '../config/environment.ts'
import { readOutward } from '../config/reach.ts'
import { readStatePlace } from '../config/state-place.ts'
import type { Store } from '../model/store.ts'
import { ownerOf } from '../page/states.ts'
import { changeState } from '../state/change.ts'
import type { State } from '../state/schema.ts'
import type { Silence } from '../state/silence-schema.ts'
import { addSilence, endSilences, LONGEST_SILENCE } from '../state/silences.ts'
import { openStore } from '../store/open.ts'

export interface Said {
  ok: boolean
  text: string
  /** The words were wrong, not the world. */
  misused?: boolean
}

const SHORTEST = 60_000
const LONGEST_COMMENT = 200

/** `silence vllm chat/a 2h "new driver"`, `silence vllm list`, `silence vllm end chat/a`. @param now epoch milliseconds. */
export async function silence(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  now: number,
): Promise<Said> {
  const [name, what, ...more] = words
  const owner = name === undefined ? undefined : ownerOf(name)
  if (!owner) return wrong(name === undefined ? 'silence needs the name of a function' : `there is no function ${name}`)
  if (what === undefined) return wrong(`silence ${name} needs an endpoint, a group, ${name}, list or end`)
  const read = environmentOf(env)
  const place = readStatePlace(read, false, readOutward(read))
  if (read.problems.size > 0) return { ok: false, text: [...read.problems].join('\n') }
  const store = openStore(place)
  try {
    if (what === 'list') return await list(store, owner.name, now)
    if (what === 'end') return await end(store, owner.name, more, now)
    return await add(store, owner.name, [what, ...more], now)
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error) }
  }
}

async function add(
  store: Store,
  name: string,
  [what = '', lasts = '', ...comment]: readonly string[],
  now: number,
): Promise<Said> {
  const ms = parseDuration(lasts)
  if (ms === undefined || ms < SHORTEST || ms > LONGEST_SILENCE) {
    return wrong(
      `silence ${name} ${what} needs how long, from 1m to 7d, as in 2h${lasts === '' ? '' : `; not ${lasts}`}`,
    )
  }
  const why = comment.join(' ').trim().slice(0, LONGEST_COMMENT)
  return change(store, name, what, (state, scope) => {
    const silence: Silence = {
      id: `command ${what} ${now}`,
      ...scope,
      from: now,
      until: now + ms,
      by: 'command line',
      ...(why === '' ? {} : { comment: why }),
    }
    return { state: addSilence(state, silence, name), text: `${what} is silenced until ${clock(now + ms)}` }
  })
}

async function end(store: Store, name: string, [what, ...more]: readonly string[], now: number): Promise<Said> {
  if (what === undefined || more.length > 0) return wrong(`silence ${name} end needs one endpoint, group or ${name}`)
  return change(store, name, what, (state, scope) => {
    const holds = (state.silences ?? []).some(
      (one) => one.scope === scope.scope && one.name === scope.name && one.until > now,
    )
    if (!holds) return { state, text: `${what} is not silenced` }
    return {
      state: endSilences(state, scope, now),
      text: `the silence of ${what} has ended; the next run tells what fires`,
    }
  })
}

type Scope = Pick<Silence, 'scope' | 'name'>

/** Writes a change to what a word means in the state: an endpoint before a group before the function itself. */
async function change(
  store: Store,
  name: string,
  what: string,
  decide: (state: State, scope: Scope) => { state: State; text: string },
): Promise<Said> {
  let said: Said = { ok: false, text: '' }
  const changed = await changeState(store, `${name}.json`, (state) => {
    const scope = scopeOf(what, state, name)
    if (!scope) {
      said = { ok: false, text: `${name} has no endpoint or group ${what}; it has ${known(state, name)}` }
      return state
    }
    const decided = decide(state, scope)
    said = { ok: true, text: decided.text }
    return decided.state
  })
  switch (changed.kind) {
    case 'changed':
      return said
    case 'none':
      return { ok: false, text: `${name} has no state here yet: it has not run` }
    case 'newer':
      return { ok: false, text: `${name}: the state was written by a newer Queuebell (version ${changed.version})` }
    case 'broken':
      return { ok: false, text: `${name}: the state cannot be read: ${changed.why}` }
    default:
      return changed satisfies never
  }
}

function scopeOf(what: string, { endpoints }: State, name: string): Scope | undefined {
  if (Object.hasOwn(endpoints, what)) return { scope: 'endpoint', name: what }
  if (Object.keys(endpoints).some((one) => one.startsWith(`${what}/`))) return { scope: 'group', name: what }
  return what === name ? { scope: 'function' } : undefined
}

const NAMED = 20

function known({ endpoints }: State, name: string): string {
  const names = Object.keys(endpoints)
  const shown = names.slice(0, NAMED).join(', ')
  return `${shown}${names.length > NAMED ? `, … (${names.length})` : ''}; all of it is ${name}`
}

async function list(store: Store, name: string, now: number): Promise<Said> {
  let silences: Silence[] = []
  const read = await changeState(store, `${name}.json`, (state) => {
    silences = (state.silences ?? []).filter(({ until }) => until > now)
    return state
  })
  if (read.kind === 'none') return { ok: false, text: `${name} has no state here yet: it has not run` }
  if (read.kind !== 'changed') return { ok: false, text: `${name}: the state cannot be read` }
  if (silences.length === 0) return { ok: true, text: 'nothing is silenced' }
  const lines = silences.map(
    (one) =>
      `${one.name ?? name}  until ${clock(one.until)}  by ${one.by}${one.comment === undefined ? '' : `  ${one.comment}`}`,
  )
  return { ok: true, text: lines.join('\n') }
}

function wrong(text: string): Said {
  return { ok: false, text, misused: true }
}

/** As the clock of this machine shows it. */
function clock(at: number): string {
  return new Date(at).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
}
