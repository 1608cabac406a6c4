import { TABLES } from '../backends/backends.ts'
import { configuredBackends } from '../config/configured.ts'
import { parseConfig } from '../config/parse.ts'
import { grafanaDashboard } from '../export/grafana.ts'
import { prometheusRules } from '../export/prometheus-rules.ts'
import { ruleFile } from '../export/yaml.ts'
import { type Backend, prefixOf } from '../model/backend.ts'
import { type Config, ConfigError } from '../model/config.ts'

/**
 * Prints what a Prometheus or a Grafana can use of this configuration.
 * @param backends absent: all that something is configured for, or vLLM where nothing is.
 * @param match a selector that Prometheus has for these servers: `{job="vllm"}`.
 * @returns the exit code. @throws {ConfigError}
 */
export function exportCommand(
  kind: 'prometheus' | 'grafana',
  backends: readonly Backend[],
  options: { match?: string | undefined },
): number {
  const match = (options.match ?? '').trim().replace(/^\{(.*)\}$/s, '$1')
  const configs = (backends.length > 0 ? backends : configured()).map(configOf)
  switch (kind) {
    case 'prometheus':
      process.stdout.write(ruleFile(configs.map((config) => prometheusRules(config, { match }))))
      return 0
    case 'grafana': {
      const [config, ...more] = configs
      if (!config || more.length > 0)
        throw new ConfigError(['export grafana: name one function, as in `export grafana vllm`'])
      process.stdout.write(`${JSON.stringify(grafanaDashboard(config, { match }), null, 2)}\n`)
      return 0
    }
    default:
      return kind satisfies never
  }
}

function configured(): Backend[] {
  const found = configuredBackends(process.env).filter(isScraped)
  return found.length > 0 ? found : ['vllm']
}

function isScraped(backend: Backend): boolean {
  return backend in TABLES
}

/** Rules hold for every target of a Prometheus: where no endpoint is configured, the limits are those of any. */
function configOf(backend: Backend): Config {
  if (!isScraped(backend))
    throw new ConfigError([`${backend}: is asked by requests of ours, and Prometheus has nothing of it`])
  const isNamed = configuredBackends(process.env).includes(backend)
  const any = isNamed ? {} : { [`${prefixOf(backend)}_ENDPOINTS`]: 'any=http://any.invalid' }
  const parsed = parseConfig(backend, { ...process.env, ...any }, { lambda: false })
  if (!parsed.ok) throw new ConfigError(parsed.problems)
  return parsed.config
}
