import { copyFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
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

/** LiteLLM's proxy without a database: whose a key is says `litellm_users.py`. */
export async function startLiteLlm(deployments: readonly Deployment[]): Promise<LiteLlm> {
  const bin = installPython('litellm')
  const port = await freePort()
  const home = folder('litellm')
  const file = join(home, `${port}.json`)
  copyFileSync(resolve('test/real/servers/litellm_users.py'), join(home, 'litellm_users.py'))
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
    general_settings: { master_key: MASTER_KEY, custom_auth: 'litellm_users.user_api_key_auth' },
  }
}
