import { BACKENDS } from '../backends/backends.ts'
import { type Backend, prefixOf } from '../model/backend.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The functions that something is configured for. */
export function configuredBackends(env: Variables): Backend[] {
  return BACKENDS.filter((backend) => {
    if (backend === 'heartbeat-check') return isSet(env, 'HEARTBEAT_WORKERS')
    return namingVariables(backend).some((variable) => isSet(env, variable))
  })
}

/** A bare `METRICS_URL` could mean every scraped backend; where it is not said which, it means vLLM. */
export function namingVariables(backend: Backend): string[] {
  const own = [`${prefixOf(backend)}_ENDPOINTS`, `${prefixOf(backend)}_TARGETS`]
  if (backend === 'vllm') return [...own, 'METRICS_URL']
  return backend === 'ollama' ? [...own, 'OLLAMA_URL'] : own
}

function isSet(env: Variables, variable: string): boolean {
  return (env[variable] ?? '').trim() !== ''
}
