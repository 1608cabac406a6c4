import { rename, rm } from 'node:fs/promises'
import { readAddress } from '../config/address.ts'
import { parseDuration } from '../config/duration.ts'
import { createMask } from '../log.ts'
import { RECORDING_VERSION, RecordingError } from '../recordings/entry.ts'
import { importOpenMetrics } from '../recordings/import-openmetrics.ts'
import { type Imported, importPrometheus, type PrometheusSource } from '../recordings/import-prometheus.ts'
import { createScrub } from '../recordings/personal.ts'
import { openWriter } from '../recordings/writer.ts'

export interface ImportOptions {
  match?: string | undefined
  from?: string | undefined
  to?: string | undefined
  out?: string | undefined
  header?: string[] | undefined
}

/** @returns the exit code. @throws {RecordingError} */
export async function importCommand(
  kind: 'prometheus' | 'openmetrics',
  place: string,
  options: ImportOptions,
): Promise<number> {
  const out = options.out ?? 'imported.qb'
  if (kind === 'openmetrics') {
    const imported = await importOpenMetrics(place)
    if (imported.isCut) console.error(`${place}: does not end with # EOF: it was cut, and what is there was taken`)
    return write(imported, out, [])
  }
  const { source, secrets } = sourceOf(place, options)
  return write(await importPrometheus(source), out, secrets)
}

/** Beside the place first, so that an import that fails leaves what was there. */
async function write({ endpoints, scrapes }: Imported, out: string, secrets: string[]): Promise<number> {
  const part = `${out}.part`
  await rm(part, { force: true })
  const writer = await openWriter(part, { version: RECORDING_VERSION, endpoints })
  const scrub = createScrub(createMask(secrets), secrets)
  let written = 0
  for await (const scrape of scrapes) {
    const { page, ...rest } = scrape
    await writer.write({ ...rest, ...(page && { page: scrub(page) }) })
    written += 1
  }
  await writer.close()
  await rename(part, out)
  console.log(`${out}: ${written} scrapes of ${endpoints.map(({ name }) => name).join(', ')}`)
  return 0
}

/** A token stands in PROMETHEUS_BEARER_TOKEN, a user and password in the address. */
function sourceOf(place: string, options: ImportOptions): { source: PrometheusSource; secrets: string[] } {
  const found = readAddress(place, 'http://127.0.0.1:9090')
  if (!found.ok) throw new RecordingError(`the address of the Prometheus ${found.why}`)
  const { url: address, credentials } = found
  const headers: Record<string, string> = {}
  for (const header of options.header ?? []) {
    const at = header.indexOf(':')
    if (at < 1) throw new RecordingError('--header: write it as "Name: value"')
    headers[header.slice(0, at).trim().toLowerCase()] = header.slice(at + 1).trim()
  }
  const token = process.env.PROMETHEUS_BEARER_TOKEN
  if (token) headers.authorization = `Bearer ${token}`
  else if (credentials) {
    const pair = `${credentials.user}:${credentials.password}`
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  const now = Date.now()
  const to = moment('--to', options.to ?? '0s', now)
  const from = moment('--from', options.from ?? '7d', now)
  if (from >= to) throw new RecordingError('--from: may be before --to')
  const url = address.href.replace(/\/+$/, '')
  const secrets = [headers.authorization, token, credentials?.password].filter((one) => !!one)
  return { source: { url, headers, match: options.match ?? '{job=~".+"}', from, to }, secrets: secrets as string[] }
}

/** `7d` ago, or a date. Epoch milliseconds. */
function moment(option: string, text: string, now: number): number {
  if (text === '0s') return now
  const ago = parseDuration(text)
  const at = ago === undefined ? Date.parse(text) : now - ago
  if (Number.isNaN(at))
    throw new RecordingError(`${option} ${text}: may be a time ago, as in 7d, or a date, as in 2026-11-01T00:00Z`)
  return at
}
