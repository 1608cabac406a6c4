import { below, openaiBase } from '../canary/address.ts'
import { openDispatcher } from '../http/connections.ts'
import { endpointWays } from '../http/ways.ts'
import { mask } from '../log.ts'
import { tellFailure } from '../messages/failure-line.ts'
import { sanitizeText } from '../messages/sanitize.ts'
import { prefixOf } from '../model/backend.ts'
import type { Config } from '../model/config.ts'
import { type Observation, wordsOf } from '../model/observation.ts'
import { observe } from '../observe.ts'
import { limitOf, realIO } from '../scheduled.ts'
import { shownUrl } from '../secrets/names.ts'
import { modelsIn } from './identify.ts'
import { lookAt } from './whose-page.ts'

/** Canaries and heartbeats have no page: ask once and print what came back. */
export async function checkAnswers(config: Config): Promise<boolean> {
  const io = realIO(config)
  const now = io.now()
  const observations = await observe(config, io, { now, deadline: now + limitOf(config), runId: io.runId() })
  const there = await Promise.all(observations.map((observation) => modelsBeside(observation, config)))
  const lines = observations.map((observation, i) => {
    const head = `${observation.endpoint.name}  ${shownUrl(observation.endpoint.url)}`
    if (observation.up === false) {
      const { what, todo } = tellFailure(observation.failure, config.backend)
      return `${head}\n  no answer: ${what}\n  → ${todo}`
    }
    const gauges = observation.up ? observation.readings.gauges : {}
    const values = Object.entries(gauges).map(([name, gauge]) =>
      name === 'vram_share' ? `${name} ${Math.round(gauge.value * 100)} %` : `${name} ${gauge.value.toFixed(3)} s`,
    )
    const beat = observation.up === true && observation.beat ? [beatText(observation.beat.age)] : []
    return [
      `${head}`,
      `  ${[observation.canary && wordsOf(observation.canary.status), observation.canary?.detail, ...beat, ...values].filter((part) => part !== undefined).join(', ')}`,
      ...(there[i] ?? []),
    ].join('\n')
  })
  console.log(mask(`${lines.join('\n')}\n`, config.secrets))
  return observations.every((o) => o.up !== false && o.canary?.status !== 'model-missing')
}

function beatText(age: number | undefined): string {
  return age === undefined ? 'never seen' : `last beat ${Math.round(age / 1000)} s ago`
}

/** Which models a server has, where the configured one is not among them. */
async function modelsBeside({ endpoint, canary }: Observation, config: Config): Promise<string[]> {
  const { backend } = config
  if (canary?.status !== 'model-missing') return []
  const isOllama = backend === 'ollama'
  const path = isOllama ? 'api/tags' : 'v1/models'
  const url = below(isOllama ? endpoint.url : openaiBase(endpoint.url), path)
  const connections = openDispatcher(endpointWays(config))
  const { timeout, authorization } = endpoint
  const looked = await lookAt(url, { dispatcher: connections.dispatcher, timeout, authorization })
  await connections.close()
  const models = modelsIn({ path: `/${path}`, looked })
  if (models === undefined) return []
  const variable = `${prefixOf(backend)}_MODEL`
  if (models.length === 0) return [`  → there is no model on this server: pull one, or mend ${variable}`]
  return [`  → set ${variable} to one that is there: ${models.map((name) => sanitizeText(name, 60)).join(', ')}`]
}
