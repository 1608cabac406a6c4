import { checkNames, endpointAt } from '../config/endpoints.ts'
import { environmentOf } from '../config/environment.ts'
import { dnsName, ENDPOINT_NAME, GROUP_NAME, isDns } from '../config/targets.ts'
import { failed } from '../config/values.ts'
import type { Backend } from '../model/backend.ts'
import type { Endpoint, Target } from '../model/config.ts'
import type { Fallible } from '../model/fallible.ts'
import { isRecord, parseJson } from '../model/json.ts'

/** What the names of a list are checked against. */
export interface ListOptions {
  backend: Backend
  /** Problems begin with it: `VLLM_TARGETS`. */
  variable: string
  /** Endpoints that are configured by other ways. */
  taken: readonly Pick<Endpoint, 'name' | 'group'>[]
}

/**
 * Reads a list of targets in the form of Prometheus' http_sd and file_sd: `[{ "targets": ["host:port"], "labels": { … } }]`
 * with the labels `name`, `group`, `__scheme__` and `__metrics_path__`; others are ignored. A target without a name is
 * called by its host and port. https://prometheus.io/docs/prometheus/latest/http_sd/
 * @returns every target, or all problems together: a list that is wrong in one place is not used at all.
 */
export function parseTargets(
  text: string,
  options: ListOptions,
): Fallible<{ targets: Target[] }, { problems: string[] }> {
  const json = parseJson(text)
  if (!Array.isArray(json)) {
    const form = '[{ "targets": ["10.0.0.5:8000"], "labels": { "name": "a", "group": "chat" } }]'
    return { ok: false, problems: [`${options.variable}: the list is no JSON of the form ${form}`] }
  }
  const problems: string[] = []
  const targets = json.flatMap((entry: unknown, i) => readEntry(entry, `entry ${i + 1}`, problems))
  const env = environmentOf({})
  const seen = new Map<string, Target>()
  for (const target of targets) {
    if (seen.has(target.name)) problems.push(`${target.name} is there twice; each needs a name of its own`)
    seen.set(target.name, target)
    if (!isDns(target.url)) endpointAt(env, options.backend, options.variable, target.name, target.url)
  }
  const unique = [...seen.values()]
  const fixed = unique.filter(({ url }) => !isDns(url)).map(({ name }) => ({ name, group: groupOf(name) }))
  const groups = unique.filter(({ url }) => isDns(url)).map(({ name }) => name)
  const others = options.taken.filter(({ name }) => !seen.has(name))
  checkNames(env, options.backend, options.variable, [...others, ...fixed], groups)
  for (const { name } of options.taken) {
    if (seen.has(name)) problems.push(`${name} is configured already; each needs a name of its own`)
  }
  const all = [...problems.map((problem) => `${options.variable}: ${problem}`), ...env.problems]
  return all.length > 0 ? { ok: false, problems: all } : { ok: true, targets: unique }
}

export function groupOf(name: string): string | undefined {
  const slash = name.indexOf('/')
  return slash === -1 ? undefined : name.slice(0, slash)
}

/** A host, an address or both with a port in the alphabet of names: `10.0.0.5:8000` → `10-0-0-5-8000`. */
export function nameOf(host: string): string {
  const plain = host.toLowerCase().replace(/[^a-z0-9]/g, '-')
  // An IPv6 address may begin or end with colons, which stand for zeros.
  return plain.replace(/^-+(?=[a-z0-9])/, '0--').replace(/-+$/, '--0')
}

function readEntry(entry: unknown, where: string, problems: string[]): Target[] {
  const found: unknown = isRecord(entry) ? entry.targets : undefined
  if (!isRecord(entry) || !Array.isArray(found)) {
    problems.push(`${where} has no list "targets"`)
    return []
  }
  const labels: Record<string, unknown> = isRecord(entry.labels) ? entry.labels : {}
  const label = (name: string) => String(labels[name] ?? '')
  const scheme = label('__scheme__') || 'http'
  if (scheme !== 'http' && scheme !== 'https') {
    problems.push(`${where}: __scheme__ may be http or https`)
    return []
  }
  const path = label('__metrics_path__')
  if (path !== '' && !path.startsWith('/')) {
    problems.push(`${where}: __metrics_path__ begins with /`)
    return []
  }
  return found.flatMap((target: unknown, i): Target[] => {
    const at = found.length > 1 ? `target ${i + 1} of ${where}` : where
    const read = readTarget(target, { name: label('name'), group: label('group'), scheme, path })
    if (read.ok) return [read.target]
    problems.push(`${at} ${read.why}`)
    return []
  })
}

/** A failure's words follow "entry 1". */
function readTarget(
  target: unknown,
  { name, group, scheme, path }: { name: string; group: string; scheme: string; path: string },
): Fallible<{ target: Target }> {
  if (typeof target !== 'string') return failed('is no text such as 10.0.0.5:8000')
  if (isDns(target)) {
    const called = group || name || nameOf(target.replace(/^dns\+\w+:\/\/|[/:].*$/gi, ''))
    const read = dnsName(target, called)
    return read.ok ? { ok: true, target: { name: called, url: target } } : failed(`cannot be followed: ${read.why}`)
  }
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?$/i.test(target)) return failed('is no host:port such as 10.0.0.5:8000')
  if (group !== '' && !GROUP_NAME.test(group)) return failed('has no proper group: a group has a-z, 0-9 and - inside')
  const own = name || nameOf(target.replace(/[[\]]/g, ''))
  const full = group === '' ? own : `${group}/${own}`
  if (!ENDPOINT_NAME.test(full)) return failed('has no proper name: a name has a-z, 0-9 and - inside')
  return { ok: true, target: { name: full, url: `${scheme}://${target}${path}` } }
}
