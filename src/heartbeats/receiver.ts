import { parseReceiver } from '../config/receiver.ts'
import { createLog } from '../log.ts'
import { ConfigError } from '../model/config.ts'
import { openStore } from '../store/open.ts'
import { type BeatAnswer, type BeatRequest, type LastWrite, receive } from './receive.ts'

/**
 * The receiver with its real parts: environment, clock, store and log. What was written last is kept between calls, as
 * long as the process lives.
 * @returns answers one request; nothing it does is thrown. @throws {ConfigError} at once.
 */
export function openReceiver(
  env: Readonly<Record<string, string | undefined>>,
  place: { lambda: boolean },
): (request: BeatRequest) => Promise<BeatAnswer> {
  const parsed = parseReceiver(env, place)
  if (!parsed.ok) throw new ConfigError(parsed.problems)
  const { config } = parsed
  const log = createLog(config.logLevel, config.secrets, (line) => console.log(line), Date.now)
  for (const warning of config.warnings) log.warn(warning)
  const store = openStore(config.state)
  const lastWrites = new Map<string, LastWrite>()
  return (request) =>
    receive(request, config, {
      now: Date.now(),
      lastWrites,
      put: async (key, text) => {
        await store.put(key, text).catch((error: unknown) => {
          log.error('a beat could not be stored', { key, error })
          throw error
        })
        log.debug('stored a beat', { key })
      },
    })
}
