import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import type { PemFile, TlsFiles } from '../model/reach.ts'

/** What Node's TLS needs of {@link TlsFiles}. */
export interface TlsOptions {
  secureContext: SecureContext
  rejectUnauthorized?: false
}

/**
 * Reads the files. A CA of one's own is trusted beside the usual ones, so that a setting for all addresses does not cut
 * off those with a public certificate.
 * @throws when a file cannot be read or used: {@link tlsProblems} says so before, in words.
 */
export function tlsOptions({ ca, cert, key, skipVerify }: TlsFiles): TlsOptions {
  const secureContext = createSecureContext({
    ...(ca && { ca: [...rootCertificates, readFileSync(ca.path, 'utf8')] }),
    ...(cert && { cert: readFileSync(cert.path, 'utf8') }),
    ...(key && { key: readFileSync(key.path, 'utf8') }),
  })
  return { secureContext, ...(skipVerify && { rejectUnauthorized: false as const }) }
}

/** What is wrong with the files, one line a variable; nothing of a file is shown. */
export function tlsProblems(settings: readonly TlsFiles[]): string[] {
  const problems = settings.flatMap(({ ca, cert, key }) => {
    const wrong = [
      ...(ca ? fileProblem(ca, 'CERTIFICATE', (pem) => createSecureContext({ ca: pem })) : []),
      ...(cert ? fileProblem(cert, 'CERTIFICATE', (pem) => createSecureContext({ cert: pem })) : []),
      ...(key ? fileProblem(key, 'PRIVATE KEY', (pem) => createSecureContext({ key: pem })) : []),
    ]
    return wrong.length > 0 || !cert || !key ? wrong : pairProblem(cert, key)
  })
  return [...new Set(problems)]
}

function fileProblem({ variable, path }: PemFile, what: string, use: (pem: string) => void): string[] {
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string }
    return [`${variable}: ${path} cannot be read (${code}); write the path of a PEM file`]
  }
  if (!new RegExp(`-----BEGIN [A-Z ]*${what}-----`).test(pem))
    return [`${variable}: ${path} holds no "${what}" in PEM form; convert it, for example with openssl`]
  try {
    use(pem)
    return []
  } catch {
    const hint = what === 'PRIVATE KEY' ? '; a key with a passphrase cannot be used' : ''
    return [`${variable}: ${path} cannot be understood as PEM${hint}`]
  }
}

function pairProblem(cert: PemFile, key: PemFile): string[] {
  try {
    createSecureContext({ cert: readFileSync(cert.path, 'utf8'), key: readFileSync(key.path, 'utf8') })
    return []
  } catch {
    return [`${key.variable}: ${key.path} is not the key of the certificate in ${cert.variable}`]
  }
}
