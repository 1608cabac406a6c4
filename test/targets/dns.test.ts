import { expect, test, vi } from 'vitest'
import { load } from '../../src/targets/load.ts'

/** A resolver as the system's: one address unless all are asked for, and of one family where that is said. */
vi.mock('node:dns/promises', () => ({
  async lookup(host: string, { all = false, family = 0 } = {}) {
    if (host !== 'vllm-headless') throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    const found = [
      { address: '10.0.0.6', family: 4 },
      { address: 'fd00::5', family: 6 },
      { address: '10.0.0.5', family: 4 },
      { address: '10.0.0.6', family: 4 },
    ].filter((one) => family === 0 || one.family === family)
    return all ? found : found[0]
  },
}))

test.each([
  [
    'a name has those of both families, each once',
    'vllm-headless',
    { ok: true, addresses: ['10.0.0.5', '10.0.0.6', 'fd00::5'] },
  ],
  ['an address stands for itself', '10.0.0.7', { ok: true, addresses: ['10.0.0.7'] }],
  ['an address in brackets too', '[fd00::7]', { ok: true, addresses: ['fd00::7'] }],
  ['a name that is not there has the system’s own word', 'gone', { ok: false, why: 'ENOTFOUND' }],
])('%s', async (_, host, loaded) => {
  expect(await load({ kind: 'dns', id: 'x', group: 'chat', url: `http://${host}:8000/metrics` })).toEqual(loaded)
})
