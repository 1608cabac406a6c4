import { describe, expect, test } from 'vitest'
import { nameOf, parseTargets } from '../../src/targets/parse.ts'

const options = { backend: 'vllm', variable: 'VLLM_TARGETS', taken: [{ name: 'chat/a', group: 'chat' }] } as const
const read = (entries: unknown) => parseTargets(JSON.stringify(entries), options)

describe('a list in the form of http_sd', () => {
  test.each([
    ['without a name, by host and port', { targets: ['10.0.0.5:8000'] }, '10-0-0-5-8000', 'http://10.0.0.5:8000'],
    ['with a name', { targets: ['h:1234'], labels: { name: 'b' } }, 'b', 'http://h:1234'],
    ['in a group', { targets: ['h:1234'], labels: { name: 'b', group: 'chat' } }, 'chat/b', 'http://h:1234'],
    [
      'in a group without a name',
      { targets: ['gpu1.ml:8000'], labels: { group: 'chat' } },
      'chat/gpu1-ml-8000',
      'http://gpu1.ml:8000',
    ],
    [
      'over https with a path of its own',
      { targets: ['h:8443'], labels: { name: 'b', __scheme__: 'https', __metrics_path__: '/m' } },
      'b',
      'https://h:8443/m',
    ],
    ['an IPv6 address', { targets: ['[fd00::1]:8000'] }, 'fd00--1-8000', 'http://[fd00::1]:8000'],
    ['other labels are let be', { targets: ['h:1234'], labels: { name: 'b', zone: 'x' } }, 'b', 'http://h:1234'],
    [
      'a name to be resolved',
      { targets: ['dns+http://vllm-headless:8000/metrics'], labels: { group: 'embed' } },
      'embed',
      'dns+http://vllm-headless:8000/metrics',
    ],
  ])('%s', (_, entry, name, url) => {
    expect(read([entry])).toEqual({ ok: true, targets: [{ name, url }] })
  })

  test('all problems are told together, each with its place', () => {
    const found = read([
      { targets: ['10.0.0.5:8000/metrics', 7, 'h:6000'], labels: {} },
      { labels: { name: 'x' } },
      { targets: ['h:1234'], labels: { name: 'No_Name' } },
      { targets: ['h:1234'], labels: { name: 'b' } },
      { targets: ['h:1235'], labels: { name: 'b' } },
      { targets: ['h:1'], labels: { name: 'c', __scheme__: 'ftp' } },
      { targets: ['h:1234'], labels: { name: 'waiting' } },
      { targets: ['h:1234'], labels: { name: 'chat-a' } },
      { targets: ['h:1234'], labels: { name: 'a', group: 'chat' } },
    ])
    expect(found).toEqual({
      ok: false,
      problems: [
        'VLLM_TARGETS: target 1 of entry 1 is no host:port such as 10.0.0.5:8000',
        'VLLM_TARGETS: target 2 of entry 1 is no text such as 10.0.0.5:8000',
        'VLLM_TARGETS: entry 2 has no list "targets"',
        'VLLM_TARGETS: entry 3 has no proper name: a name has a-z, 0-9 and - inside',
        'VLLM_TARGETS: entry 6: __scheme__ may be http or https',
        'VLLM_TARGETS: b is there twice; each needs a name of its own',
        'VLLM_TARGETS: chat/a is configured already; each needs a name of its own',
        expect.stringContaining('port 6000 is blocked'),
        expect.stringContaining('would share the variables VLLM_CHAT_A_'),
        expect.stringContaining('waiting reads like the beginning of the setting VLLM_WAITING_'),
      ],
    })
  })

  test.each(['', '{}', '<html>', '[{]', 'null'])('%j is no list, and says how one looks', (text) => {
    expect(parseTargets(text, options)).toEqual({
      ok: false,
      problems: [expect.stringContaining('is no JSON of the form [{')],
    })
  })

  test('an empty list is a list: all targets are gone', () => {
    expect(read([])).toEqual({ ok: true, targets: [] })
  })
})

test.each([
  ['10.0.0.5', '10-0-0-5'],
  ['::1', '0--1'],
  ['fe80::', 'fe80--0'],
  ['GPU_1.Example', 'gpu-1-example'],
])('%s is called %s', (host, name) => expect(nameOf(host)).toBe(name))
