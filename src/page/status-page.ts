import { sanitizeText } from '../messages/sanitize.ts'
import { documentOf, type Reader, timeOf } from './document.ts'
import { endpointRow } from './endpoint-row.ts'
import { fireCard } from './fire-card.ts'
import { escapeHtml } from './html.ts'
import { numbersOf, PAGE_WORDS } from './texts.ts'
import { type EndpointView, type FunctionView, firesOf, type PageView } from './view.ts'
import type { PageWords } from './words.ts'

/** So many fires have a card with a chart, the next ones a row, the rest are folded. */
const CARDS = 3
const ROWS = 12
/** So few endpoints have room for their charts. */
const LARGE_AT_MOST = 4
/** With more endpoints, groups that are well are folded. */
const OPEN_AT_MOST = 40

type Fires = ReturnType<typeof firesOf>

/** @param beside.badges addresses of badges, by what they are of. @param beside.refresh seconds after which it asks for itself again. */
export function statusPage(
  view: PageView,
  reader: Reader,
  { badges, refresh }: { badges: readonly { of: string; url: string }[]; refresh: number },
): string {
  const words = PAGE_WORDS[reader.language]
  const fires = firesOf(view)
  const endpoints = view.functions.flatMap((one) => one.endpoints)
  const taken = fires.filter(({ endpoint, fire }) => endpoint.quiet || fire.acknowledged).length
  const summary = words.summary(fires.length, endpoints.length, taken)
  const colour = endpoints.length === 0 ? 'warn' : fires.length === 0 ? 'ok' : fires.length === taken ? 'warn' : 'bad'
  const nothing = view.functions.length === 0 && view.broken.length === 0 ? `<p class="m">${words.nothingYet}</p>` : ''
  const rest = groups(view, endpoints.length, reader, words)
  const body = `${rest === '' ? '' : `<a class="skip" href="#e">${words.skip}</a>`}<header><h1>🔔 ${words.title}</h1><p class="${colour}">${summary}</p><p class="at">${words.asOf(timeOf(view.now, reader))} ${escapeHtml(reader.timezone)}</p></header><main>${warnings(view, reader, words)}${nothing}${fireSection(fires, reader, words)}${rest}</main>${footer(view, reader, words, badges)}`
  return documentOf(`${summary} · ${words.title}`, body, reader, refresh)
}

/** What makes the page itself doubtful stands before all else. */
function warnings({ broken, functions, now }: PageView, reader: Reader, words: PageWords): string {
  const n = numbersOf(reader.language)
  const lines = [
    ...broken.map(({ function: name, why }) => `<b>${escapeHtml(name)}</b>: ${words.broken} ${escapeHtml(why)}`),
    ...functions
      .filter(({ isLate }) => isLate)
      .map(
        ({ name, ranAt = now }) =>
          `<b>${escapeHtml(name)}</b>: ${words.late} (${words.ran(timeOf(ranAt, reader), n.lasted(now - ranAt))})`,
      ),
  ]
  return lines.map((line) => `<p class="say bad" role="status">${line}</p>`).join('')
}

function fireSection(fires: Fires, reader: Reader, words: PageWords): string {
  if (fires.length === 0) return ''
  const items = fires.map((one, index) => fireCard(one, reader, index < CARDS ? 'card' : 'row'))
  const folded = items.slice(ROWS)
  const more =
    folded.length === 0
      ? ''
      : `<details><summary>${words.moreFire(folded.length)}</summary><ol>${folded.join('')}</ol></details>`
  return `<section aria-labelledby="f"><h2 id="f">${words.fires}</h2><ol>${items.slice(0, ROWS).join('')}</ol>${more}</section>`
}

interface Group {
  name: string
  owner: FunctionView
  endpoints: EndpointView[]
  total: number
}

/** What fires stands above, and not once more here. */
function groups(view: PageView, total: number, reader: Reader, words: PageWords): string {
  // What fires stands above: perhaps all of it.
  if (view.functions.every((one) => one.endpoints.every(({ fire }) => fire))) return ''
  const several = view.functions.length > 1
  const sections = view.functions
    .flatMap(groupsOf)
    .filter(({ endpoints }) => endpoints.length > 0)
    .map(({ name, owner, endpoints, total: all }) => {
      const rows = endpoints.map((endpoint) => endpointRow(endpoint, reader, total <= LARGE_AT_MOST)).join('')
      const title = several && name !== owner.name ? `${owner.name} · ${name}` : name
      const open = total <= OPEN_AT_MOST ? ' open' : ''
      return `<details${open}><summary>${escapeHtml(title)} <small>${words.group(all, all - endpoints.length)}${inside(endpoints, words)}</small></summary><ul>${rows}</ul></details>`
    })
  const folded = total > OPEN_AT_MOST ? ' class="o"' : ''
  return `<section id="e" aria-labelledby="h"><h2 id="h">${words.endpoints}</h2><div${folded}>${sections.join('')}</div></section>`
}

/** How many requests wait in a group, all together. */
function inside(endpoints: readonly EndpointView[], words: PageWords): string {
  const waiting = endpoints.flatMap(({ numbers }) => numbers.waiting ?? [])
  if (waiting.length < 2) return ''
  return ` · ${waiting.reduce((sum, one) => sum + one, 0)} ${words.signal.waiting}`
}

/** Endpoints of one group together; those without a group under the name of their function. */
function groupsOf(owner: FunctionView): Group[] {
  const byName = new Map<string, Group>()
  for (const endpoint of owner.endpoints) {
    const name = endpoint.group ?? owner.name
    const group = byName.get(name) ?? { name, owner, endpoints: [], total: 0 }
    byName.set(name, group)
    group.total += 1
    if (!endpoint.fire) group.endpoints.push(endpoint)
  }
  return [...byName.values()]
}

function footer(
  view: PageView,
  reader: Reader,
  words: PageWords,
  badges: readonly { of: string; url: string }[],
): string {
  const n = numbersOf(reader.language)
  const silences = view.functions.flatMap((owner) =>
    owner.silences.map(({ scope, name, until, by, comment }) => {
      const what = escapeHtml(words.silenceOf(scope, name ?? owner.name))
      const why = comment === undefined ? '' : `: ${escapeHtml(sanitizeText(comment, 200))}`
      return `<li><b>${what}</b> ${words.silenced(timeOf(until, reader))} ${escapeHtml(words.by(sanitizeText(by, 60)))}${why}</li>`
    }),
  )
  const watchers = view.functions.map(({ name, ranAt, waiting }) => {
    const ran =
      ranAt === undefined ? words.neverRan : words.ran(timeOf(ranAt, reader), n.lasted(Math.max(0, view.now - ranAt)))
    const late = waiting === 0 ? '' : ` <span class="warn">${words.waiting(waiting)}</span>`
    return `<li><b>${escapeHtml(name)}</b> <span class="m">${ran}</span>${late}</li>`
  })
  const links = badges.map(({ of, url }) => `<a href="${escapeHtml(url)}">${words.badge} ${escapeHtml(of)}</a>`)
  const list = (title: string, items: string[]) =>
    items.length === 0 ? '' : `<h2>${title}</h2><ul>${items.join('')}</ul>`
  return `<footer>${list(words.silences, silences)}${list(words.watchers, watchers)}<p class="m">${links.join(' · ')}</p></footer>`
}
