import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { serveOnLoopback } from '../../tools/simulator/loopback.ts'

const SECRET_KEY = 'example-secret-key'

/** A Parameter Store on loopback; it takes only requests whose signature it comes to by its own arithmetic. */
export interface ParameterStore {
  parameters: Record<string, string>
  /** What was asked for or written, in its order. */
  asked: Record<string, unknown>[]
  /** Refuses what is asked from now on, in these words. */
  refusal: string | undefined
  /** Region, credentials and address, as AWS's own variables. */
  environment: Record<string, string>
  close(): Promise<void>
}

export async function openParameterStore(parameters: Record<string, string> = {}): Promise<ParameterStore> {
  const server = await serveOnLoopback(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const refuse = (type: string, message: string) =>
      response.writeHead(400).end(JSON.stringify({ __type: `com.amazon#${type}`, message }))
    if (request.headers.authorization !== signatureOf(request, body)) {
      return void refuse('InvalidSignatureException', 'no')
    }
    if (store.refusal !== undefined) return void refuse('ValidationException', store.refusal)
    const input = JSON.parse(body)
    store.asked.push(input)
    const target = request.headers['x-amz-target']
    const answer =
      target === 'AmazonSSM.PutParameter'
        ? put(input)
        : target === 'AmazonSSM.DeleteParameters'
          ? drop(input)
          : get(input)
    response.writeHead(200).end(JSON.stringify(answer))
  })
  const put = ({ Name, Value }: { Name: string; Value: string }) => {
    store.parameters[Name] = Value
    return { Version: 1, Tier: 'Standard' }
  }
  const drop = ({ Names }: { Names: string[] }) => {
    const [gone, unknown] = [true, false].map((isThere) => Names.filter((name) => name in store.parameters === isThere))
    for (const name of gone ?? []) delete store.parameters[name]
    return { DeletedParameters: gone, InvalidParameters: unknown }
  }
  const get = ({ Names }: { Names: string[] }) => ({
    Parameters: Names.flatMap((Name) => (Name in store.parameters ? [{ Name, Value: store.parameters[Name] }] : [])),
  })
  const store: ParameterStore = {
    parameters,
    asked: [],
    refusal: undefined,
    environment: {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
      AWS_SESSION_TOKEN: 'session',
      AWS_ENDPOINT_URL_SSM: server.url,
    },
    close: server.close,
  }
  return store
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, written down again. */
function signatureOf({ headers }: IncomingMessage, body: string): string {
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const date = String(headers['x-amz-date'])
  const scope = `${date.slice(0, 8)}/eu-central-1/ssm/aws4_request`
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? ''
  const lines = signed.split(';').map((name) => `${name}:${headers[name]}\n`)
  const canonical = ['POST', '/', '', lines.join(''), signed, sha(body)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${SECRET_KEY}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha(canonical)].join('\n')).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${signed}, Signature=${signature}`
}
