import { readAddress } from '../config/address.ts'
import { environmentOf } from '../config/environment.ts'
import { readProxies } from '../config/reach.ts'
import { openDispatcher } from '../http/connections.ts'
import { mask } from '../log.ts'
import { tellFailure } from '../messages/failure-line.ts'
import { sanitizeText } from '../messages/sanitize.ts'
import { type Backend, prefixOf } from '../model/backend.ts'
import type { Failure } from '../model/failure.ts'
import type { Fallible } from '../model/fallible.ts'
import { shownUrl } from '../secrets/names.ts'
import { typed } from './version.ts'
import { type Looked, lookAt } from './whose-page.ts'

/** What answers at an address, and what to write for it. */
export interface Identified {
  /** A line for each path that was asked and answered. */
  answers: string[]
  /** The function, and its lines for `.env`; none where nothing that we know answers. */
  found: { backend: Backend; lines: string[]; also: string | undefined } | undefined
  /** What is wrong, where nothing was found. */
  problem: string | undefined
}

const PATHS = ['metrics', 'prometheus/metrics', 'metrics/', 'api/ps', 'v1/models'] as const
const TIMEOUT = 5_000

interface Asked {
  path: string
  url: string
  looked: Looked
}

/** Finds out what answers at an address. The address is not repeated with what is secret in it. */
export async function identify(text: string): Promise<Fallible<Identified>> {
  const read = readAddress(/^[\w.-]+:\d+/.test(text) ? `http://${text}` : text, 'http://10.0.0.5:8000')
  if (!read.ok) return read
  const { url, credentials } = read
  const authorization =
    credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`, 'utf8').toString('base64')}`
  const connections = openDispatcher({ proxies: readProxies(environmentOf(process.env)), direct: 'private' })
  try {
    const asked = await Promise.all(
      pathsBelow(url).map(async ({ path, url: address }): Promise<Asked> => {
        const looked = await lookAt(address, { dispatcher: connections.dispatcher, timeout: TIMEOUT, authorization })
        return { path, url: address, looked }
      }),
    )
    return { ok: true, ...conclude(url, asked) }
  } finally {
    await connections.close()
  }
}

/** The address as it stands where it has a path, then the places where servers have their pages. */
function pathsBelow(url: URL): { path: string; url: string }[] {
  const base = url.pathname.replace(/\/(prometheus\/)?metrics\/?$|\/v1(\/.*)?$|\/api\/\w+$|\/+$/, '')
  const paths = PATHS.map((path) => `${base}/${path}`)
  const all = url.pathname === '/' ? paths : [url.pathname, ...paths]
  return [...new Set(all)].map((path) => {
    const address = new URL(url)
    address.pathname = path
    return { path, url: address.href }
  })
}

function conclude(url: URL, asked: readonly Asked[]): Identified {
  const answers = asked.flatMap((one) => answerLine(one) ?? [])
  const page = asked.find(({ looked }) => looked.kind === 'page' && looked.whose.length > 0)
  const models = asked.map((one) => ({ ...one, models: modelsIn(one) })).filter((one) => one.models !== undefined)
  const ollama = models.find(({ path }) => path.endsWith('/api/ps'))
  const openai = models.find(({ path }) => path.endsWith('/v1/models'))
  if (page?.looked.kind === 'page') {
    const [whose] = page.looked.whose
    if (whose?.instead !== undefined) return { answers, found: undefined, problem: `${whose.as}: ${whose.instead}` }
    const backend = whose?.backend ?? 'vllm'
    const also = openai ? canaryLines('openai', url, openai.models)[0] : undefined
    return { answers, found: { backend, lines: [endpointLine(backend, url, page.path)], also }, problem: undefined }
  }
  for (const [backend, canary] of [
    ['ollama', ollama],
    ['openai', openai],
  ] as const)
    if (canary)
      return {
        answers,
        found: { backend, lines: canaryLines(backend, url, canary.models), also: undefined },
        problem: undefined,
      }
  return { answers, found: undefined, problem: whyNot(asked) }
}

/** An Ollama with nothing loaded names no model: `/api/tags` would have all, the person has the choice. */
function canaryLines(backend: 'ollama' | 'openai', url: URL, models: readonly string[] = []): string[] {
  const base = `${url.origin}${url.pathname.replace(/\/(metrics\/?|v1(\/.*)?|api\/\w+)?$/, '')}`
  const model = models[0] ?? (backend === 'ollama' ? 'llama3.1:8b' : 'the-model')
  const first = backend === 'ollama' ? `OLLAMA_ENDPOINTS=box=${base}` : `OPENAI_ENDPOINTS=chat=${base}`
  return [first, `${prefixOf(backend)}_MODEL=${model}`]
}

function endpointLine(backend: Backend, url: URL, path: string): string {
  const address = new URL(url)
  address.pathname = path === '/metrics' ? '/' : path
  const text = path === '/metrics' && address.search === '' ? address.origin : address.href
  return `${prefixOf(backend)}_ENDPOINTS=${backend === 'dcgm' ? 'node-1' : 'chat'}=${text}`
}

function answerLine(asked: Asked): string | undefined {
  const { path, looked } = asked
  if (looked.kind === 'failure') return undefined
  if (looked.kind === 'page') {
    const [first] = looked.whose
    const model = first?.model === undefined ? '' : `, model ${sanitizeText(first.model, 60)}`
    return `${path}  ${first ? `${first.as}${model}` : `metrics of something that is not known (${looked.samples} samples)`}`
  }
  const models = modelsIn(asked)
  if (models === undefined) return `${path}  no metrics: a web page, JSON or other text`
  const listed = models.length === 0 ? 'none' : models.map((model) => sanitizeText(model, 60)).join(', ')
  return `${path}  ${path.endsWith('ps') ? 'Ollama, loaded now' : 'OpenAI-compatible API, models'}: ${listed}`
}

/** The models of an answer to `/api/ps` or `/v1/models`; `undefined` where it is none. */
export function modelsIn({ path, looked }: Pick<Asked, 'path' | 'looked'>): string[] | undefined {
  if (looked.kind !== 'other') return undefined
  let json: unknown
  try {
    json = JSON.parse(looked.text)
  } catch {
    return undefined
  }
  const { models, data } = Object(json) as { models?: unknown; data?: unknown }
  const list = path.endsWith('/v1/models') ? data : models
  if (!Array.isArray(list)) return undefined
  return list.flatMap((item: unknown) => {
    const { name, id } = Object(item) as { name?: unknown; id?: unknown }
    const model = name ?? id
    return typeof model === 'string' ? [model] : []
  })
}

/** The failure that says most: a refusal or a silence is the same on every path; a 404 on one says little. */
function whyNot(asked: readonly Asked[]): string {
  const page = asked.find(({ looked }) => looked.kind === 'page')
  if (page) return `what answers at ${page.path} is no server that Queuebell knows`
  const failures = asked.flatMap(({ looked }) => (looked.kind === 'failure' ? [looked.failure] : []))
  const [first] = failures.filter(({ kind }) => kind !== 'not-found')
  const failure: Failure | undefined = first ?? failures[0]
  if (failure === undefined) return 'what answers is no server that Queuebell knows'
  const { what, todo } = tellFailure(failure, 'vllm')
  return `${what}. ${todo}`
}

/** Prints it. @returns the exit code. */
export async function doctorAddress(text: string): Promise<number> {
  const identified = await identify(text)
  if (!identified.ok) {
    console.error(`doctor -- <address>: ${identified.why}`)
    return 1
  }
  const { answers, found, problem } = identified
  const say = (line: string) => console.log(mask(line, []))
  say(URL.canParse(text) ? shownUrl(text) : text)
  for (const line of answers) say(`  ${line}`)
  if (found === undefined) {
    say(`  ${problem ?? ''}`)
    return 1
  }
  say(`\nThis is for the function ${found.backend}. Lines for .env:\n`)
  for (const line of found.lines) say(line)
  if (found.also !== undefined) say(`\nIts API can be watched by a canary too, with the function openai: ${found.also}`)
  say(`\nThen: ${typed(`doctor ${found.backend} --push`)}`)
  return 0
}
