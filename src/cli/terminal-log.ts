import { mask } from '../log.ts'
import type { Config } from '../model/config.ts'
import type { Log, LogFields } from '../model/io.ts'

/** In the terminal the table says what a run did; only what is wrong is added. Any other `LOG_LEVEL` brings the JSON lines. */
export function terminalLog({ secrets }: Config): Log {
  const tell = (text: string, { status, failure, reason }: LogFields = {}) => {
    if (text === 'run') return
    const facts = [status, failure, reason].filter((fact) => fact !== undefined)
    console.error(mask(facts.length > 0 ? `${text} (${facts.join(', ')})` : text, secrets))
  }
  return { debug() {}, info() {}, warn: tell, error: tell }
}
