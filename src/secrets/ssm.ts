import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'

/** Who signs. Secret, all but the first. */
export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export interface SsmOptions {
  region: string
  credentials: Credentials
  /** Another address than AWS's own: tests, VPC endpoints (`AWS_ENDPOINT_URL_SSM`). */
  endpoint?: string | undefined
  /** Milliseconds for one request. */
  timeout: number
}

/** Parameter Store did not do what was asked. The message names the operation and AWS's reason, never a value. */
export class SsmError extends Error {
  override name = 'SsmError'
}

/**
 * One request to AWS Systems Manager. Signed with the signer that the S3 client brings along: the whole SSM client would
 * be a fifth of a function's bundle.
 * Reference: https://docs.aws.amazon.com/systems-manager/latest/APIReference/
 * @throws {SsmError} when AWS refuses or does not answer.
 */
export async function askSsm(
  operation: 'GetParameters' | 'PutParameter' | 'DeleteParameters',
  input: unknown,
  { region, credentials, endpoint, timeout }: SsmOptions,
): Promise<unknown> {
  const url = new URL(endpoint ?? `https://ssm.${region}.amazonaws.com/`)
  const signer = new SignatureV4({ service: 'ssm', region, credentials, sha256: Sha256 })
  const body = JSON.stringify(input)
  const signed = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: '/',
    headers: {
      host: url.host,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `AmazonSSM.${operation}`,
    },
    body,
  })
  const { host, ...headers } = signed.headers
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(timeout) }).catch(
    (cause) => {
      throw new SsmError(`SSM ${operation}: no answer from ${url.host}; is there a way out of the VPC?`, { cause })
    },
  )
  const text = await response.text()
  if (!response.ok) throw new SsmError(`SSM ${operation} answered ${response.status}: ${reasonOf(text)}`)
  return JSON.parse(text)
}

/** AWS's own words: `AccessDeniedException: User … is not authorized to perform …`. They hold no value. */
function reasonOf(text: string): string {
  try {
    const { __type: type = '', message = '', Message = message } = JSON.parse(text) as Record<string, string>
    return `${type.split('#').at(-1)} ${Message}`.trim().slice(0, 300)
  } catch {
    return 'no reason given'
  }
}

/** SHA-256 and its HMAC in the form that the signer wants. */
class Sha256 {
  readonly #hash
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }
  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(chunk))
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {}
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data, 'utf8')
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data)
}
