import { parseConfig } from '../config/parse.ts'
import type { Backend } from '../model/backend.ts'
import { ConfigError } from '../model/config.ts'
import { createRecorder } from '../recordings/record.ts'
import { limitOf, realIO } from '../scheduled.ts'
import { terminalLog } from './terminal-log.ts'

/** Records until the process is told to stop. @returns the exit code. @throws {ConfigError} */
export async function recordCommand(
  backend: Backend,
  options: { every: number; folder: string; times: number | undefined },
): Promise<number> {
  if (backend === 'heartbeat-check')
    throw new ConfigError(['heartbeat-check has nothing to record: workers are not scraped'])
  const parsed = parseConfig(backend, process.env, { lambda: false })
  if (!parsed.ok) throw new ConfigError(parsed.problems)
  const { config } = parsed
  const io = { ...realIO(config), log: terminalLog(config) }
  const recorder = createRecorder({ config, io, folder: options.folder })
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  console.log(`recording ${config.endpoints.length} endpoints into ${options.folder} until stopped`)
  let next = Date.now()
  for (let done = 0; !stopping.signal.aborted && done < (options.times ?? Number.POSITIVE_INFINITY); done += 1) {
    if (done > 0) await pause(next - Date.now(), stopping.signal)
    if (stopping.signal.aborted) break
    await recorder.once(Date.now() + limitOf(config))
    next = Math.max(next + options.every, Date.now())
  }
  await recorder.close()
  return 0
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, ms))
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
