import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificates {
  folder: string
  /** Paths of PEM files. */
  ca: string
  server: { cert: string; key: string }
  client: { cert: string; key: string }
  /** One more certificate of the CA, for two days unless said. @param names `DNS:a,DNS:b`. */
  issue(name: string, names: string, days?: number): { cert: string; key: string }
}

/** A CA of its own with a certificate for `localhost` and one for a client, made by openssl for one test. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'queuebell-tls-'))
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe', cwd: folder })
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...curve, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test CA')
  const issue = (name: string, names: string, days = 2) => {
    openssl('req', ...curve, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    writeFileSync(at(`${name}.ext`), `subjectAltName=${names}\n`)
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
      ...['-out', `${name}.pem`, '-days', String(days), '-extfile', `${name}.ext`],
    )
    return { cert: at(`${name}.pem`), key: at(`${name}.key`) }
  }
  return {
    folder,
    ca: at('ca.pem'),
    issue,
    server: issue('server', 'DNS:localhost'),
    client: issue('client', 'DNS:watcher'),
  }
}

export function read({ cert, key }: { cert: string; key: string }): { cert: string; key: string } {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}
