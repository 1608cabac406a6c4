import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Service } from '../../src/model/config.ts'
import { serveOnLoopback } from '../../tools/simulator/loopback.ts'

/** One request as it arrived, whatever was answered. */
export interface Asked {
  method: string
  path: string
  headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: a body of whichever service, read by the test that knows it
  body: any
  status: number
}

type Answered = { status: number; body?: unknown; headers?: Record<string, string> }

/** A service on loopback that enforces what its documentation says: length, markup, ids, credentials. */
export interface PlayedService {
  service: Service
  /** What `PUSH_<NAME>` and `PUSH_<NAME>_TOKEN` are to be. */
  address: string
  token: string | undefined
  wrong: { address?: string; token?: string }
  /** All requests, refused ones too. */
  asked: Asked[]
  /** Those that were taken. */
  taken(): Asked[]
  /** The next requests are answered so. */
  meet(answer: Answered | 'lost', times?: number): void
  /** No more of these. */
  recover(): void
  /** Forgets what it was sent, as when a person deletes a message. */
  forget(): void
  close(): Promise<void>
}

interface Place {
  path(suffix?: string): string
  token?: string
  wrong: PlayedService['wrong']
  query?: string
  answer(request: Asked, known: Set<string>): Answered
}

const ROUTING_KEY = 'R0utingKeyR0utingKeyR0utingKey32'
const PLACES: Record<Service, Place> = {
  notifly: gotifyLike(),
  gotify: gotifyLike(),
  ntfy: {
    path: () => '/sub/queuebell7',
    token: 'tk_s3cretntfy',
    wrong: { token: 'tk_wr0ngntfy' },
    answer({ method, path, headers, body }) {
      if (method !== 'POST' || path !== '/sub')
        return { status: 404, body: { code: 40401, http: 404, error: 'page not found' } }
      if (headers.authorization !== 'Bearer tk_s3cretntfy')
        return { status: 401, body: { code: 40101, http: 401, error: 'unauthorized' } }
      if (body.topic !== 'queuebell7')
        return { status: 400, body: { code: 40009, http: 400, error: 'invalid request: topic invalid' } }
      if (Buffer.byteLength(body.message) > 4096)
        return { status: 413, body: { code: 41301, http: 413, error: 'too large' } }
      if (![1, 2, 3, 4, 5].includes(body.priority))
        return { status: 400, body: { code: 40007, error: 'invalid priority' } }
      if (!/^[-_A-Za-z0-9]{1,64}$/.test(body.sequence_id))
        return { status: 400, body: { code: 40049, error: 'sequence ID invalid' } }
      return { status: 200, body: { id: 'xE73', time: 1, event: 'message', topic: body.topic, message: body.message } }
    },
  },
  telegram: {
    path: () => '',
    query: '?chat=-1001234&thread=7',
    token: '123456:ABC-s3cret_telegram',
    wrong: { token: '123456:wr0ng-telegram' },
    answer({ path, body }, known) {
      const refuse = (error_code: number, description: string) => ({
        status: error_code,
        body: { ok: false, error_code, description },
      })
      if (path !== '/bot123456:ABC-s3cret_telegram/sendMessage') return refuse(401, 'Unauthorized')
      if (String(body.chat_id) !== '-1001234') return refuse(400, 'Bad Request: chat not found')
      if (body.message_thread_id !== 7) return refuse(400, 'Bad Request: message thread not found')
      const plain = String(body.text).replace(/<\/?b>/g, '')
      if (/[<>]|&(?!(amp|lt|gt|quot);)/.test(plain)) return refuse(400, "Bad Request: can't parse entities")
      const seen = plain.replace(/&(amp|lt|gt|quot);/g, '&')
      if (seen.length > 4096) return refuse(400, 'Bad Request: message is too long')
      if (/@\w/.test(seen)) return refuse(400, 'Bad Request: a member of the chat would be called')
      if (seen.trim() === '') return refuse(400, 'Bad Request: message text is empty')
      const reply = body.reply_parameters
      if (reply && !known.has(String(reply.message_id)) && !reply.allow_sending_without_reply)
        return refuse(400, 'Bad Request: message to be replied not found')
      const isReply = reply && known.has(String(reply.message_id))
      const id = known.size + 101
      known.add(String(id))
      const replied = isReply ? { reply_to_message: { message_id: reply.message_id } } : {}
      return { status: 200, body: { ok: true, result: { message_id: id, text: body.text, ...replied } } }
    },
  },
  slack: {
    path: () => '/api',
    query: '?channel=C0123',
    token: 'xoxb-s3cret-slack',
    wrong: { token: 'xoxb-wr0ng-slack' },
    answer({ path, headers, body }, known) {
      const no = (error: string) => ({ status: 200, body: { ok: false, error } })
      if (headers.authorization !== 'Bearer xoxb-s3cret-slack') return no('invalid_auth')
      if (body.channel !== 'C0123') return no('channel_not_found')
      if (/<[!@#]|&(?!(amp|lt|gt);)/.test(body.text)) return no('markup')
      if (body.text.length > 40_000) return no('msg_too_long')
      if (path === '/api/chat.update')
        return known.has(body.ts) ? { status: 200, body: { ok: true, ts: body.ts } } : no('message_not_found')
      if (path !== '/api/chat.postMessage') return no('unknown_method')
      if (body.thread_ts && !known.has(body.thread_ts)) return no('thread_not_found')
      const ts = `17640000${known.size + 10}.000100`
      known.add(ts)
      return { status: 200, body: { ok: true, channel: 'C0123', ts } }
    },
  },
  discord: {
    path: () => '/api/webhooks/112233445566/s3cretDiscordT0ken',
    wrong: { address: '/api/webhooks/112233445566/wr0ngDiscordT0ken' },
    answer({ method, path, body }, known) {
      const [, rest] = /^\/api\/webhooks\/112233445566\/s3cretDiscordT0ken(.*)$/.exec(path) ?? []
      if (rest === undefined) return { status: 401, body: { message: 'Invalid Webhook Token', code: 50027 } }
      const invalid = { status: 400, body: { message: 'Invalid Form Body', code: 50035 } }
      if (body.content.length > 2000 || body.content.trim() === '') return invalid
      if (JSON.stringify(body.allowed_mentions) !== '{"parse":[]}') return invalid
      if (method === 'PATCH') {
        // Of a message that is there, the flag of embeds alone can be changed.
        if ((body.flags & ~(1 << 2)) !== 0) return invalid
        const [, id = ''] = /^\/messages\/(\d+)$/.exec(rest) ?? []
        return known.has(id)
          ? { status: 200, body: { id } }
          : { status: 404, body: { message: 'Unknown Message', code: 10008 } }
      }
      if (rest !== '?wait=true') return { status: 204 }
      const id = String(990000000000 + known.size)
      known.add(id)
      return { status: 200, body: { id, type: 0 } }
    },
  },
  teams: {
    path: () => '/workflows/0123456789abcdef0123/triggers/manual/paths/invoke',
    query: '?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s3cret-Teams-sig_nature',
    wrong: { address: '/workflows/0123456789abcdef0123/triggers/manual/paths/invoke?sig=wr0ng-Teams-sig' },
    answer({ path, body }) {
      if (!path.endsWith('sig=s3cret-Teams-sig_nature'))
        return {
          status: 401,
          body: {
            error: {
              code: 'DirectApiAuthorizationRequired',
              message: 'The request must be authenticated only by Shared Access scheme.',
            },
          },
        }
      if (Buffer.byteLength(JSON.stringify(body)) > 28_000) return { status: 413 }
      const card = body.attachments?.[0]
      const isCard =
        body.type === 'message' &&
        card?.contentType === 'application/vnd.microsoft.card.adaptive' &&
        card.content.type === 'AdaptiveCard'
      return isCard && card.content.body.every((b: { type: string }) => b.type === 'TextBlock')
        ? { status: 202 }
        : { status: 400 }
    },
  },
  pagerduty: {
    path: () => '',
    token: ROUTING_KEY,
    wrong: { token: 'wr0ngKey' },
    answer({ path, body }) {
      const refuse = (...errors: string[]) => ({
        status: 400,
        body: { status: 'invalid event', message: 'Event object is invalid', errors },
      })
      if (path !== '/v2/enqueue') return { status: 404 }
      if (body.routing_key.length !== 32)
        return refuse("Length of 'routing_key' is incorrect (should be 32 characters)")
      if (body.dedup_key.length > 255) return refuse("'dedup_key' is too long")
      const { payload } = body
      if (body.event_action === 'trigger') {
        if (payload.summary.length > 1024 || payload.summary === '') return refuse("'payload.summary' is invalid")
        if (!['critical', 'error', 'warning', 'info'].includes(payload.severity))
          return refuse("'payload.severity' is invalid")
        if (!payload.source) return refuse("'payload.source' is missing or blank")
      }
      return { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: body.dedup_key } }
    },
  },
  alertmanager: {
    path: () => '/am',
    token: 'watcher:s3cret-am',
    wrong: { token: 'watcher:wr0ng-am' },
    answer({ path, headers, body }) {
      if (headers.authorization !== `Basic ${Buffer.from('watcher:s3cret-am').toString('base64')}`)
        return { status: 401, body: 'Unauthorized' }
      if (path !== '/am/api/v2/alerts') return { status: 404, body: '404 page not found' }
      const isAlert = (alert: { labels: Record<string, string>; startsAt: string; endsAt: string }) =>
        alert.labels.alertname &&
        Object.keys(alert.labels).every((name) => /^[a-zA-Z_]\w*$/.test(name)) &&
        Date.parse(alert.endsAt) >= Date.parse(alert.startsAt)
      return body.every(isAlert) ? { status: 200 } : { status: 400, body: 'validation failed' }
    },
  },
  webhook: {
    path: () => '/hooks/s3cretHookPath9',
    token: `whsec_${Buffer.from('a signing secret of ours').toString('base64')}`,
    wrong: { token: `whsec_${Buffer.from('another one that is wr0ng').toString('base64')}` },
    answer({ headers, body }) {
      const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${JSON.stringify(body)}`
      const signature = createHmac('sha256', 'a signing secret of ours').update(content).digest('base64')
      return { status: headers['webhook-signature'] === `v1,${signature}` ? 204 : 401 }
    },
  },
}

function gotifyLike(): Place {
  return {
    path: () => '/push',
    token: 'A-s3cretgotify',
    wrong: { token: 'A-wr0nggotify' },
    answer({ path, headers, body }) {
      if (headers.authorization !== 'Bearer A-s3cretgotify')
        return {
          status: 401,
          body: { error: 'Unauthorized', errorCode: 401, errorDescription: 'you need to provide a valid access token' },
        }
      if (path !== '/push/message') return { status: 404, body: { error: 'Not Found', errorCode: 404 } }
      return { status: 200, body: { id: 25, appid: 5, ...body } }
    },
  }
}

export async function playService(service: Service): Promise<PlayedService> {
  const place = PLACES[service]
  const asked: Asked[] = []
  const faults: (Answered | 'lost')[] = []
  const known = new Set<string>()
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const one: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      status: 0,
    }
    asked.push(one)
    const fault = faults.shift()
    const answer = fault === undefined || fault === 'lost' ? place.answer(one, known) : fault
    one.status = answer.status
    if (fault === 'lost') return void response.destroy()
    const { status, body, headers } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = await serveOnLoopback((request, response) => {
    take(request, response).catch(() => response.destroy())
  })
  return {
    service,
    address: `${service}+${server.url}${place.path()}${place.query ?? ''}`,
    token: place.token,
    wrong: {
      ...place.wrong,
      ...(place.wrong.address && { address: `${service}+${server.url}${place.wrong.address}` }),
    },
    asked,
    taken: () => asked.filter(({ status }) => status >= 200 && status < 300),
    meet(answer, times = 1) {
      for (let time = 0; time < times; time += 1) faults.push(answer)
    },
    recover: () => void faults.splice(0),
    forget() {
      // No id is given a second time.
      const gone = [...known].map((id) => `${id}, deleted`)
      known.clear()
      for (const id of gone) known.add(id)
    },
    close: server.close,
  }
}

/** The variables that declare these as channels, each called as its service. */
export function variablesFor(services: readonly PlayedService[]): Record<string, string> {
  const entries = services.flatMap(({ service, address, token }) => {
    const name = `PUSH_${service === 'notifly' ? 'OWN' : service.toUpperCase()}`
    return [[name, address], ...(token === undefined ? [] : [[`${name}_TOKEN`, token]])]
  })
  return Object.fromEntries(entries)
}
