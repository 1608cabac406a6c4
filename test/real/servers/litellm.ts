import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answers } from '../answers.ts'
import { MINUTE } from '../asking.ts'
import { installPython } from '../python.ts'
import { folder, freePort, type Program, start } from '../scratch.ts'

export interface LiteLlm {
  url: string
  program: Program
  /** Of the proxy itself: it may read `/metrics`. */
  key: string
}

/** A deployment behind the proxy: the name that users ask for, and where it is. */
export interface Deployment {
  name: string
  url: string
  model: string
}

export const MASTER_KEY = 'sk-real-master-key'

/** LiteLLM's proxy without a database: users are those that a request names. */
export async function startLiteLlm(deployments: readonly Deployment[]): Promise<LiteLlm> {
  const bin = installPython('litellm')
  const port = await freePort()
  const file = join(folder('litellm'), `${port}.json`)
  writeFileSync(file, JSON.stringify(configOf(deployments), null, 2))
  const program = start({
    name: 'litellm',
    command: join(bin, 'litellm'),
    args: ['--config', file, '--host', '127.0.0.1', '--port', String(port)],
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_TELEMETRY: 'False',
      NO_PROXY: '127.0.0.1',
    },
  })
  const url = `http://127.0.0.1:${port}`
  await answers('LiteLLM', program, `${url}/health/liveliness`, 4 * MINUTE)
  return { url, program, key: MASTER_KEY }
}

function configOf(deployments: readonly Deployment[]) {
  return {
    model_list: deployments.map(({ name, url, model }) => ({
      model_name: name,
      litellm_params: { model: `openai/${model}`, api_base: `${url}/v1`, api_key: 'none', timeout: 30 },
    })),
    litellm_settings: { callbacks: ['prometheus'], num_retries: 0 },
    router_settings: { num_retries: 0, allowed_fails: 1, cooldown_time: 20 },
    general_settings: { master_key: MASTER_KEY },
  }
}
