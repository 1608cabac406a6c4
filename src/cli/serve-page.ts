import { MOST_BODY } from '../page/exchange.ts'
import { badgeLink, statusLink } from '../page/links.ts'
import { openPage } from '../page/open-page.ts'
import { type Serving, serveHttp } from './http-server.ts'

/**
 * The page as an HTTP server: `invoke page --serve 8081`.
 * @returns also the links to hand out: of the status page and of the badge.
 * @throws {ConfigError} before it listens. @throws when the port is taken.
 */
export async function servePage(
  port: number,
  env: Readonly<Record<string, string | undefined>>,
  options: { host?: string } = {},
): Promise<Serving & { status: string; badge: string }> {
  const page = openPage(env, { lambda: false })
  const serving = await serveHttp(port, page.answer, { ...options, mostBody: MOST_BODY })
  const [secret = ''] = page.config.secrets
  const base = { url: page.config.url ?? serving.url, secret }
  return { ...serving, status: statusLink(base), badge: badgeLink(base) }
}
