import {
  code,
  isDeclared,
  isLoading,
  isOverload,
  isProxyAlone,
  same,
  status,
  type TlsTrouble,
  tlsTrouble,
} from '../failure-shapes.ts'
import type { Catalogue } from '../texts.ts'

export const failuresEn: Catalogue['failures'] = {
  refused: same(
    'Server is down',
    'nothing listens on the port',
    'Is the server process running? Some servers listen only once their model is loaded.',
  ),
  unreachable: same(
    'Server is unreachable',
    'the connection broke or there is no route',
    'Look at the host, its network and the firewall between it and the watcher.',
  ),
  'name-not-found': same(
    'Server name not found',
    'the host name does not resolve',
    'Check the name in the endpoint address and the DNS that the watcher uses.',
  ),
  timeout: {
    headline: () => 'Server does not answer in time',
    words: (failure, canary) =>
      `${canary ? 'no complete answer' : 'no complete metrics page'} within the time limit${code(failure)}`,
    todo: (_, canary) =>
      canary
        ? 'A hung engine or a deep queue looks like this: try a request by hand, then look at the server log.'
        : 'A hung process, a saturated host or a firewall that drops packets looks like this: open the page by hand.',
  },
  cut: same(
    'Response cut off',
    'the answer ended in the middle',
    'The server or a proxy in between closes the connection early: look at both logs.',
  ),
  tls: {
    headline: () => 'TLS handshake fails',
    words: (failure) => `${TLS_WORDS[tlsTrouble(failure)]}${code(failure)}`,
    todo: (failure) => TLS_TODO[tlsTrouble(failure)],
  },
  proxy: {
    headline: (failure) => `Proxy refuses the request${failure.status === undefined ? '' : ` (${failure.status})`}`,
    words: (failure) =>
      failure.status === undefined
        ? `the proxy could not be reached${code(failure)}`
        : `the proxy answered ${status(failure, 'with an error')} in place of the server`,
    todo: (failure) =>
      failure.status === 407
        ? 'The proxy wants a user: write it as http://user:password@host into HTTP_PROXY and HTTPS_PROXY.'
        : 'Check HTTP_PROXY and HTTPS_PROXY, or name the server in NO_PROXY if it is reached directly.',
  },
  'not-http': {
    headline: () => 'Answer breaks the rules of HTTP',
    words: (failure) => `an answer came, but not in HTTP that Node accepts${code(failure)}`,
    todo: () =>
      'curl may still read it: look for the part in between (proxy, sidecar, another protocol) that writes such headers.',
  },
  'not-authorised': {
    headline: (failure) => `Watcher is not authorised${failure.status === undefined ? '' : ` (${failure.status})`}`,
    words: (failure, canary) =>
      `the server refuses ${canary ? 'our request' : 'to show its metrics'} (${status(failure, 'not authorised')})`,
    todo: (_, __, variables = '<BACKEND>') =>
      `The server itself may be fine. Check ${variables}_BEARER_TOKEN or ${variables}_BASIC_AUTH.`,
  },
  'not-found': {
    headline: (failure, canary) =>
      `${canary ? 'No such API' : 'No metrics'} at this address${failure.status === undefined ? '' : ` (${failure.status})`}`,
    words: (failure, canary) =>
      `${canary ? 'the API is' : 'there are no metrics'}${canary ? ' not' : ''} at this address (${status(failure, 'not found')})`,
    todo: (_, canary) =>
      canary
        ? 'Check port and path: is this the address of the API?'
        : 'Check port and path: does this port serve the API, and are metrics switched on?',
  },
  http: {
    headline: (failure, canary) => {
      if (isProxyAlone(failure)) return `Engine behind the proxy is gone (HTTP ${failure.status})`
      if (isLoading(failure)) return `Model is still loading (HTTP ${failure.status})`
      if (isOverload(failure)) return `Server is overloaded or loading (HTTP ${failure.status})`
      return `${canary ? 'Server answers with an error' : 'Metrics are unreadable'} (${status(failure, 'HTTP error')})`
    },
    words: (failure, canary) =>
      isProxyAlone(failure)
        ? `the proxy in front answered ${status(failure, 'with an error')} because no server behind it does`
        : `${canary ? 'the request' : 'the metrics page'} was answered with ${status(failure, 'an HTTP error')}`,
    todo: (failure, canary) => {
      if (isProxyAlone(failure))
        return 'The proxy lives, the engine behind it does not answer: look at the engine and its log.'
      if (isLoading(failure))
        return 'The server has started and reads its model: do not restart it. If that lasts much longer than usual, look at its log and disk.'
      if (isOverload(failure))
        return 'The server is there, but full or still loading its model: do not restart it before you have looked.'
      return canary
        ? 'Users may get the same error: try a request by hand, then look at the server log.'
        : 'Inference may still work: try a request by hand, then look at the server log.'
    },
  },
  redirected: {
    headline: (_, canary) => `${canary ? 'API has' : 'Metrics have'} moved`,
    words: () => 'the server redirects to another address, which we do not follow',
    todo: () => 'Put the new address into the endpoint setting.',
  },
  'redirect-loop': same(
    'Redirect loop',
    'the server sends us from one address to another without an end',
    'Open the address by hand: a rule of the server or of a proxy in front leads back to itself.',
  ),
  'not-prometheus': {
    headline: () => 'Address does not serve metrics',
    words: (failure) =>
      `${failure.detail === undefined ? 'an empty page' : 'a web page, JSON or other text'} came where metrics were expected`,
    todo: () => 'A proxy or a login page may stand in front: open the address by hand.',
  },
  compressed: {
    headline: (_, canary) => (canary ? 'Answer is garbled' : 'Metrics are garbled'),
    words: (failure) =>
      isDeclared(failure)
        ? `the answer is not compressed in the way its header says${code(failure)}`
        : 'compressed bytes came without being declared',
    todo: (failure) =>
      isDeclared(failure)
        ? 'The server or a proxy sets a wrong Content-Encoding header: fix it, or switch compression off.'
        : 'A proxy drops the Content-Encoding header: let it pass, or switch compression off.',
  },
  'headers-too-large': same(
    'Response headers are too large',
    'the headers of the answer are larger than 16 KB',
    'A proxy or a login page adds cookies or headers: ask the server without it in between.',
  ),
  'too-large': {
    headline: (_, canary) => `${canary ? 'Answer' : 'Metrics page'} is too large`,
    words: (_, canary) =>
      canary ? 'the answer is far longer than that of one token' : 'the metrics page is larger than 16 MiB',
    todo: (failure, canary) =>
      canary
        ? 'Is this really that kind of server? Try a request by hand.'
        : failure.detail !== undefined
          ? 'One line takes most of the page, most likely by a label with a whole file in it: take that label away at the server.'
          : 'Something multiplies series (labels per user or key): reduce them at the server.',
  },
  'stream-error': same(
    'Server breaks off with an error',
    'the answer began and then said “error”',
    'Look at the server log; often the model ran out of memory.',
  ),
  'bad-answer': same(
    'Answer is not understood',
    'the answer could not be understood',
    'Is this really that kind of server? Try a request by hand.',
  ),
  other: same('Server does not answer', 'the request failed', 'Try the address by hand from where the watcher runs.'),
}

const TLS_WORDS: Record<TlsTrouble, string> = {
  'plain-port': 'https was spoken to a port that speaks http',
  'tls-port': 'http was spoken to a port that speaks https',
  expired: 'the certificate has expired',
  'not-yet': 'the certificate is not valid yet',
  issuer: 'the certificate comes from an issuer that the watcher does not know',
  name: 'the certificate is for another host name',
  client: 'the server wants a client certificate that it trusts',
  other: 'the TLS handshake failed',
}

const TLS_TODO: Record<TlsTrouble, string> = {
  'plain-port': 'Write http:// in the address, or the port that speaks https.',
  'tls-port': 'Write https:// in the address.',
  expired: 'Renew the certificate; if it was renewed, restart what serves it.',
  'not-yet': 'Check the clocks of both machines.',
  issuer: 'Name the CA that signed it in TLS_CA, the path of a PEM file.',
  name: 'Ask by a name that stands in the certificate, or add this one to it.',
  client: 'Set TLS_CERT and TLS_KEY to a certificate that the server trusts.',
  other: 'Check the certificate, and whether http and https are mixed up.',
}
