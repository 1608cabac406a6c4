import { parsePage } from '../config/page.ts'
import { ConfigError } from '../model/config.ts'
import { badgeLink, statusLink } from '../page/links.ts'
import { loadAll } from '../page/states.ts'
import { openStore } from '../store/open.ts'

/** Says what the page would show, and prints the links to hand out. @returns the exit code: 1 when something is in its way. */
export async function doctorPage(env = process.env): Promise<number> {
  const parsed = parsePage(env, { lambda: false })
  if (!parsed.ok) {
    console.error(new ConfigError(parsed.problems).message)
    return 1
  }
  const { secrets, url, token, state } = parsed.config
  const [secret = ''] = secrets
  let code = 0
  try {
    const states = await loadAll(openStore(state))
    if (states.length === 0) console.log('! no state is here yet: has a watcher run with this place?')
    for (const one of states) {
      if ('why' in one) code = 1
      console.log('why' in one ? `✗ ${one.name}: the state cannot be read: ${one.why}` : `✓ ${one.name}`)
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    code = 1
  }
  if (token === undefined) console.log('! PAGE_TOKEN is not set: /status.json and /metrics are closed')
  if (url === undefined) console.log('! PAGE_URL is not set: pushes carry no links; what follows is for port 8081 here')
  const base = { url: url ?? 'http://127.0.0.1:8081', secret }
  console.log(`\nstatus  ${statusLink(base)}\nbadge   ${badgeLink(base)}`)
  return code
}
