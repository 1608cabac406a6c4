import { join } from 'node:path'
import { answers } from '../answers.ts'
import { installPython } from '../python.ts'
import { freePort, type Program, start } from '../scratch.ts'

export interface VllmRouter {
  url: string
  metrics: string
  program: Program
}

/** vLLM's router, the package `vllm-router`: it looks at each engine every 5 seconds. */
export async function startVllmRouter(engines: readonly { url: string }[]): Promise<VllmRouter> {
  const bin = installPython('vllm-router')
  const [port, metrics] = [await freePort(), await freePort()]
  const program = start({
    name: 'vllm-router',
    command: join(bin, 'vllm-router'),
    args: [
      ...['--worker-urls', ...engines.map(({ url }) => url), '--policy', 'round_robin', '--port', String(port)],
      ...['--prometheus-host', '127.0.0.1', '--prometheus-port', String(metrics)],
      ...['--health-check-interval-secs', '5', '--cb-timeout-duration-secs', '20'],
    ],
  })
  const url = `http://127.0.0.1:${port}`
  await answers("vLLM's router", program, `${url}/health`)
  return { url, metrics: `http://127.0.0.1:${metrics}/metrics`, program }
}
