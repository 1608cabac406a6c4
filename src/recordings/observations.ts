import { TABLES } from '../backends/backends.ts'
import type { ScrapedBackend } from '../model/backend.ts'
import type { Config, Endpoint } from '../model/config.ts'
import type { Observation } from '../model/observation.ts'
import { readRecorded } from '../scrape/scrape.ts'
import type { Scrape } from './entry.ts'
import type { RecordedRun } from './timeline.ts'

/** What a run of today would have seen: the recorded answer of each endpoint, read anew. */
export function observationsOf(run: RecordedRun, config: Config): Observation[] {
  return config.endpoints.map((endpoint) => {
    const scrape = run.scrapes.find((one) => one.endpoint === endpoint.name)
    // Neither up nor down: nobody asked.
    if (!scrape) return { endpoint, took: 0, up: undefined, canary: { status: 'skipped' } }
    return observationOf(scrape, endpoint, config)
  })
}

function observationOf(scrape: Scrape, endpoint: Endpoint, config: Config): Observation {
  const { took, failure, answer } = scrape
  const gpu = scrape.gpu && readRecorded(scrape.gpu, TABLES.dcgm, { model: undefined, now: scrape.at })
  const beside = { endpoint, took, ...(gpu && { gpu }) }
  if (answer) return { ...beside, ...answer, ...(failure && { failure }) } as Observation
  if (failure) return { ...beside, up: false, failure }
  const table = TABLES[config.backend as ScrapedBackend]
  if (!scrape.page || !table)
    return { ...beside, up: false, failure: { kind: 'other', detail: 'nothing was recorded' } }
  return { ...beside, up: true, readings: readRecorded(scrape.page, table, { model: endpoint.model, now: scrape.at }) }
}
