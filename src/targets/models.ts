import type { Endpoint, Source } from '../model/config.ts'
import { isRecord, parseJson } from '../model/json.ts'
import type { Observation } from '../model/observation.ts'
import { emptyReadings } from '../signals/readings.ts'
import type { Loaded } from './load.ts'
import { nameOf } from './parse.ts'

/** What an address of llama.cpp stands for in one run. */
export interface Expanded {
  /** To ask: the server itself, or each model that its router has loaded. */
  endpoints: Endpoint[]
  /** Of a router, whose list is all that can be asked of it. */
  watch: Observation[]
}

/**
 * In router mode one address serves several models, and a scrape names one: `/metrics?model=NAME`. Only models that are
 * loaded are asked, and never so that the router would load them: a scrape wakes one that sleeps. Those that are unloaded,
 * asleep or on their way are no fault. The list itself wakes nothing.
 * https://github.com/ggml-org/llama.cpp/tree/master/tools/server, "Using multiple models", "Sleeping on Idle"
 * @param load asks one source, as for the lists of endpoints.
 */
export async function expandRouter(endpoint: Endpoint, load: (source: Source) => Promise<Loaded>): Promise<Expanded> {
  const models = await modelsOf(endpoint, load)
  if (!models) return { endpoints: [endpoint], watch: [] }
  const url = new URL(endpoint.url)
  const only = url.searchParams.get('model') ?? endpoint.model
  const loaded = models.filter(({ id, status }) => status === 'loaded' && (only === undefined || id === only))
  const router = { up: true, readings: emptyReadings(), endpoint, took: 0, unread: [] } as const
  // An address that names its model is that model's, with the name that its owner gave it.
  if (url.searchParams.has('model'))
    return loaded.length > 0
      ? { endpoints: [at(endpoint, only ?? '')], watch: [] }
      : { endpoints: [], watch: [{ ...router, unread: [] }] }
  const names = new Set<string>()
  const endpoints = loaded.map(({ id }) => ({ ...at(endpoint, id), name: uniqueName(endpoint.name, id, names) }))
  return { endpoints, watch: [{ ...router, unread: [] }] }
}

/** `box` and `ggml-org/gemma-3:Q4` → `box/gemma-3-q4`; of a group's endpoint, `chat/a-gemma-3-q4`. */
function uniqueName(router: string, id: string, taken: Set<string>): string {
  const model = nameOf(id.replace(/^.*\//, '').replace(/\.gguf$/i, '')) || 'model'
  const first = router.includes('/') ? `${router}-${model}` : `${router}/${model}`
  let name = first
  for (let n = 2; taken.has(name); n++) name = `${first}-${n}`
  taken.add(name)
  return name
}

function at(endpoint: Endpoint, model: string): Endpoint {
  const url = new URL(endpoint.url)
  url.searchParams.set('model', model)
  url.searchParams.set('autoload', 'false')
  return { ...endpoint, url: url.href, model: undefined }
}

/** `undefined`: no router, or one that does not answer, which its scrape will tell. */
async function modelsOf(
  { url, authorization }: Endpoint,
  load: (source: Source) => Promise<Loaded>,
): Promise<{ id: string; status: string }[] | undefined> {
  for (const path of ['models', 'v1/models']) {
    const list = new URL(url)
    list.search = ''
    list.pathname = list.pathname.replace(/metrics\/?$/, path)
    const loaded = await load({ kind: 'http', id: list.href, url: list.href, authorization })
    const models = loaded.ok && 'text' in loaded ? readModels(loaded.text) : undefined
    if (models) return models
    if (loaded.ok) return undefined
  }
  return undefined
}

/** Only a router says of each model in which state it is. */
function readModels(text: string): { id: string; status: string }[] | undefined {
  const json = parseJson(text)
  const data: unknown = isRecord(json) ? json.data : undefined
  if (!Array.isArray(data)) return undefined
  const models = data.flatMap((model: unknown) => {
    const status = isRecord(model) && isRecord(model.status) ? model.status.value : undefined
    return isRecord(model) && typeof model.id === 'string' && typeof status === 'string'
      ? [{ id: model.id, status }]
      : []
  })
  return models.length === data.length ? models : undefined
}
